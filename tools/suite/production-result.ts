/** Judges cases and negative checks by production, for the validator to compare: production-result.json. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { judgeCase } from "./judge.ts";
import { layout, type JsonObject } from "./json.ts";
import { runMatrix, type MatrixResult } from "./matrix.ts";
import { isSealed, readSuite } from "./suite-files.ts";
import { SUITE_ROOT } from "./suite-root.ts";

const FILE = "production-result.json";
export const RUNNER = "typescript";

export interface Production {
  /** What is written into the file. */
  result: JsonObject;
  cases: number;
  passed: number;
  matrix: MatrixResult;
  problems: string[];
}

/** What random inputs through both implementations came to. */
export interface DifferentialResult {
  seed: number;
  /** Inputs of each family. */
  inputs: number;
  differences: number;
}

/** Removes an older result, so that a run that fails leaves none behind. */
export function discardProductionResult(root: string): void {
  rmSync(join(root, FILE), { force: true });
}

/**
 * Runs production over a suite.
 *
 * @throws Error where the suite cannot be read.
 */
export async function runProduction(
  root: string,
  onCheck: (done: number, total: number) => void,
): Promise<Production> {
  const suite = readSuite(root);
  const problems: string[] = [];
  if (!isSealed(suite.files)) problems.push("SHA256SUMS does not match the files");
  const cases: JsonObject[] = [];
  for (const [id, value] of suite.cases) {
    const { rules, message, sha256 } = await judgeCase(value);
    if (rules.length > 0) problems.push(`${id} ${rules.join(" ")}: ${message}`);
    cases.push({ id, sha256, message });
  }
  // Mutants of a suite that does not itself pass would be refused for any reason.
  const matrix: MatrixResult =
    problems.length === 0 ? await runMatrix(suite, onCheck) : { checks: [], identical: false };
  const checks = matrix.checks.map(({ id, mutants, mutantsSha256, rejected, failures }): JsonObject => {
    return { id, mutants, mutantsSha256, rejected, failures: failures.slice(0, 5) };
  });
  const result: JsonObject = {
    schemaVersion: "1",
    suite: "storage-lifecycle",
    runner: RUNNER,
    suiteRoot: suite.suiteRoot,
    pinnedSuiteRoot: SUITE_ROOT,
    cases,
    negativeChecks: { identical: matrix.identical, checks },
  };
  const passed = cases.filter(({ message }) => message === null).length;
  const failures = matrix.checks.flatMap(({ id, failures }) => failures.map((one) => `${id}: ${one}`));
  return { result, cases: cases.length, passed, matrix, problems: [...problems, ...failures] };
}

/** Leaves the result where the validator looks for it, in one step. */
export function writeProductionResult(
  root: string,
  { result }: Production,
  { seed, inputs, differences }: DifferentialResult,
): void {
  const file = join(root, FILE);
  writeFileSync(`${file}.tmp`, layout({ ...result, differential: { seed, inputs, differences } }));
  renameSync(`${file}.tmp`, file);
}
