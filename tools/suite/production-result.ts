/** Judges all cases by production and writes production-result.json for the validator to compare. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { judgeCase } from "./judge.ts";
import { layout, type JsonObject } from "./json.ts";
import { runMatrix, type MatrixResult } from "./matrix.ts";
import { isSealed, readSuite } from "./suite-files.ts";
import { SUITE_ROOT } from "./suite-root.ts";

const FILE = "production-result.json";

export interface ProductionSummary {
  cases: number;
  passed: number;
  matrix: MatrixResult;
  problems: string[];
}

/** Removes an older result, so that a run that fails leaves none behind. */
export function discardProductionResult(root: string): void {
  rmSync(join(root, FILE), { force: true });
}

/**
 * Runs production over a suite.
 *
 * @throws Error where the suite cannot be read; no result is left then.
 */
export async function writeProductionResult(
  root: string,
  onCheck: (done: number, total: number) => void,
): Promise<ProductionSummary> {
  discardProductionResult(root);
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
    problems.length === 0
      ? await runMatrix(suite, onCheck)
      : { total: suite.checks.length, rejected: 0, mutants: 0, identical: false, failures: [] };
  const negativeChecks: JsonObject = { ...matrix, failures: matrix.failures.slice(0, 20) };
  const result: JsonObject = {
    schemaVersion: "1",
    suite: "storage-lifecycle",
    runner: "typescript",
    suiteRoot: suite.suiteRoot,
    pinnedSuiteRoot: SUITE_ROOT,
    cases,
    negativeChecks,
  };
  writeFileSync(join(root, `${FILE}.tmp`), layout(result));
  renameSync(join(root, `${FILE}.tmp`), join(root, FILE));
  const passed = cases.filter(({ message }) => message === null).length;
  return { cases: cases.length, passed, matrix, problems: [...problems, ...matrix.failures] };
}
