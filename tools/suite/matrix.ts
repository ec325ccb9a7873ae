/**
 * The negative matrix on this side: each mutant must be refused by the rule that
 * is named for it. A mutant that changes nothing, or that another rule alone
 * refuses, is a failure too: it proves nothing about its rule.
 */
import { judgeCase } from "./judge.ts";
import { canonical, digest, isObject, sha256, textOf, type Json, type JsonObject } from "./json.ts";
import { expandMutants, type Mutant } from "./mutants.ts";
import { isSealed, type SuiteFiles } from "./suite-files.ts";
import { casesOf, judgeCoverage, judgeManifest, judgeSuite } from "./suite-rules.ts";
import { parseStrictText, StrictJsonError } from "./strict-json.ts";

export interface MatrixResult {
  checks: CheckResult[];
  /** Whether the run in reverse order came to the same result. */
  identical: boolean;
}

export interface CheckResult {
  id: string;
  mutants: number;
  /** Digest of all mutants, so that two implementations can tell whether they judged the same ones. */
  mutantsSha256: string;
  rejected: number;
  rules: string[];
  failures: string[];
}

/** Hundreds of mutants are compared with the same case. */
const digestsOfOriginals = new WeakMap<JsonObject, string>();

/** Runs all checks twice, forward and in reverse. `onCheck` is told after each check of the first run. */
export async function runMatrix(
  suite: SuiteFiles,
  onCheck: (done: number, total: number) => void,
): Promise<MatrixResult> {
  const forward: CheckResult[] = [];
  for (const check of suite.checks) {
    forward.push(await runCheck(suite, check, false));
    onCheck(forward.length, suite.checks.length);
  }
  const reverse: CheckResult[] = [];
  for (const check of suite.checks.toReversed()) reverse.push(await runCheck(suite, check, true));
  return { checks: forward, identical: fingerprint(forward) === fingerprint(reverse.toReversed()) };
}

function fingerprint(results: readonly CheckResult[]): string {
  return sha256(canonical(results.map((result): JsonObject => ({ ...result }))));
}

async function runCheck(suite: SuiteFiles, check: JsonObject, isReverse: boolean): Promise<CheckResult> {
  const entries = Array.isArray(check["mutants"]) ? check["mutants"].filter(isObject) : [];
  const seen = new Set<string>();
  const failures: string[] = [];
  const digests: string[] = [];
  let rejected = 0;
  for (const entry of entries) {
    const mutants = expandMutants(entry, suite);
    for (const mutant of isReverse ? mutants.toReversed() : mutants) {
      const mutantSha256 = mutantDigest(mutant);
      digests.push(mutantSha256);
      const isSame = mutantSha256 === originalDigest(suite, mutant);
      const rules = isSame ? null : await rulesAgainst(suite, mutant);
      for (const rule of rules ?? []) seen.add(rule);
      const state = stateOf(textOf(entry["rule"]), rules);
      if (state === "rejected") rejected += 1;
      else failures.push(`${textOf(entry["title"])} ${state}`);
    }
  }
  if (digests.length === 0) failures.push("has no mutant");
  return {
    id: textOf(check["id"]),
    mutants: digests.length,
    mutantsSha256: digest(digests.toSorted()),
    rejected,
    rules: [...seen].toSorted(),
    failures: failures.toSorted(),
  };
}

function stateOf(rule: string, rules: readonly string[] | null): string {
  if (rules === null) return "changes nothing";
  if (rules.includes(rule)) return "rejected";
  return rules.length === 0 ? "survived" : `was refused by ${rules.join(", ")} instead of ${rule}`;
}

function mutantDigest(mutant: Mutant): string {
  if (mutant.target === "files") {
    return digest(Object.fromEntries([...mutant.files].map(([name, bytes]) => [name, sha256(bytes)])));
  }
  // Spaces between the tokens of a text are no part of it.
  return mutant.target === "text" ? sha256(mutant.text.replaceAll(/[ \n]/g, "")) : digest(mutant.value);
}

/** What a mutant that changes nothing would be; null where every one changes something. */
function originalDigest(suite: SuiteFiles, mutant: Mutant): string | null {
  if (mutant.target === "text") return null;
  if (mutant.target === "files") return mutantDigest({ target: "files", files: suite.files });
  const original = mutant.target === "case" ? (suite.cases.get(mutant.caseId) ?? null) : suite[mutant.target];
  if (!isObject(original)) return digest(original);
  const known = digestsOfOriginals.get(original) ?? digest(original);
  digestsOfOriginals.set(original, known);
  return known;
}

function isEqual(left: Json, right: Json): boolean {
  return canonical(left) === canonical(right);
}

async function rulesAgainst(suite: SuiteFiles, mutant: Mutant): Promise<string[]> {
  if (mutant.target === "files") return isSealed(mutant.files) ? [] : ["L-2"];
  if (mutant.target === "manifest") return judgeManifest(mutant.value);
  if (mutant.target === "text") return rulesAgainstText(suite, mutant.caseId, mutant.text);
  if (mutant.target === "case") return rulesAgainstCase(suite, mutant.caseId, mutant.value);
  const cases = casesOf(mutant.value);
  const changed: string[] = [];
  for (const one of cases) {
    const known = suite.cases.get(textOf(one["id"]));
    if (known === undefined || !isEqual(known, one)) changed.push(...(await judgeCase(one)).rules);
  }
  return [...judgeSuite(mutant.value), ...judgeCoverage(cases), ...changed];
}

async function rulesAgainstText(suite: SuiteFiles, caseId: string, text: string): Promise<string[]> {
  try {
    return await rulesAgainstCase(suite, caseId, parseStrictText(text));
  } catch (error) {
    if (error instanceof StrictJsonError) return ["L-1"];
    throw error;
  }
}

async function rulesAgainstCase(suite: SuiteFiles, caseId: string, value: Json): Promise<string[]> {
  const { rules } = await judgeCase(value);
  if (rules.length > 0 || !isObject(value)) return rules;
  return judgeCoverage([...suite.cases].map(([id, original]) => (id === caseId ? value : original)));
}
