/**
 * The negative matrix on this side: each mutant must be refused by the rule that
 * is named for it. A mutant that changes nothing, or that another rule alone
 * refuses, is a failure too: it proves nothing about its rule.
 */
import { judgeCase } from "./judge.ts";
import { canonical, isObject, sha256, textOf, type Json, type JsonObject } from "./json.ts";
import { expandMutants, type Mutant } from "./mutants.ts";
import { isSealed, type SuiteFiles } from "./suite-files.ts";
import { casesOf, judgeCoverage, judgeManifest, judgeSuite } from "./suite-rules.ts";
import { parseStrictText, StrictJsonError } from "./strict-json.ts";

export interface MatrixResult {
  total: number;
  rejected: number;
  mutants: number;
  /** Whether the run in reverse order came to the same result. */
  identical: boolean;
  failures: string[];
}

interface CheckResult {
  id: string;
  mutants: number;
  rules: string[];
  failures: string[];
}

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
  return {
    total: forward.length,
    rejected: forward.filter(({ failures }) => failures.length === 0).length,
    mutants: forward.reduce((sum, { mutants }) => sum + mutants, 0),
    identical: fingerprint(forward) === fingerprint(reverse.toReversed()),
    failures: forward.flatMap(({ id, failures }) => failures.map((failure) => `${id}: ${failure}`)),
  };
}

function fingerprint(results: readonly CheckResult[]): string {
  return sha256(canonical(results.map((result): JsonObject => ({ ...result }))));
}

async function runCheck(suite: SuiteFiles, check: JsonObject, isReverse: boolean): Promise<CheckResult> {
  const entries = Array.isArray(check["mutants"]) ? check["mutants"].filter(isObject) : [];
  const seen = new Set<string>();
  const failures: string[] = [];
  let count = 0;
  for (const entry of entries) {
    const mutants = expandMutants(entry, suite);
    for (const mutant of isReverse ? mutants.toReversed() : mutants) {
      count += 1;
      const rules = isEquivalent(suite, mutant) ? null : await rulesAgainst(suite, mutant);
      for (const rule of rules ?? []) seen.add(rule);
      const state = stateOf(textOf(entry["rule"]), rules);
      if (state !== "rejected") failures.push(`${textOf(entry["title"])} ${state}`);
    }
  }
  if (count === 0) failures.push("has no mutant");
  return {
    id: textOf(check["id"]),
    mutants: count,
    rules: [...seen].toSorted(),
    failures: failures.toSorted(),
  };
}

function stateOf(rule: string, rules: readonly string[] | null): string {
  if (rules === null) return "changes nothing";
  if (rules.includes(rule)) return "rejected";
  return rules.length === 0 ? "survived" : `was refused by ${rules.join(", ")} instead of ${rule}`;
}

function isEquivalent(suite: SuiteFiles, mutant: Mutant): boolean {
  if (mutant.target === "text") return false;
  if (mutant.target === "files") return isSealed(mutant.files);
  const original = mutant.target === "case" ? (suite.cases.get(mutant.caseId) ?? null) : suite[mutant.target];
  return isEqual(mutant.value, original);
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
