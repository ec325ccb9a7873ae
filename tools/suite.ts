/**
 * Validates the storage-lifecycle suite against this code: `npm run suite`.
 *
 *     --suite DIR         another copy of the suite (default suites/storage-lifecycle)
 *     --differential N    N random inputs for each family (default 600; 0 leaves it out)
 *     --seed S            the seed of the random inputs (default 1)
 *     --family F          only this family's random inputs
 *     --seal              accept a change of the suite: layout, SHA256SUMS, pinned digest
 *
 * Production judges all cases and negative checks first, and random inputs go through
 * both implementations. Then the suite's own validator recomputes the cases, asks
 * production again with new inputs, runs the negative matrix twice, compares, and at
 * its very end writes the evidence: nothing that fails can come after it.
 * Exit codes: 0 PASSED, 1 BLOCKED, 2 usage, 3 a dependency is missing, 4 an error.
 */
import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { shellWord } from "../src/shared/shell-word.ts";
import { discardEvidence, EVIDENCE_FILE, writeBlockedEvidence } from "./suite/blocked-evidence.ts";
import { compareImplementations } from "./suite/differential/differential.ts";
import { ReferenceProcess } from "./suite/differential/reference.ts";
import { familyName, type FamilyName } from "./suite/families.ts";
import {
  discardProductionResult,
  runProduction,
  writeProductionResult,
  type Production,
} from "./suite/production-result.ts";
import { preparePython } from "./suite/python.ts";
import { sealSuite } from "./suite/seal.ts";

const NO_PYTHON = "Python 3 was not found: install Python 3.9 or newer and run the same command again";
const EXIT = { passed: 0, blocked: 1, usage: 2, dependency: 3, error: 4 };
const checkout = dirname(dirname(fileURLToPath(import.meta.url)));

interface Options {
  suite: string;
  count: number;
  seed: number;
  families: readonly FamilyName[];
  isSealing: boolean;
}

function readOptions(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        suite: { type: "string", default: join(checkout, "suites", "storage-lifecycle") },
        differential: { type: "string", default: "600" },
        seed: { type: "string", default: "1" },
        family: { type: "string" },
        seal: { type: "boolean", default: false },
      },
    });
    const [count, seed] = [values.differential, values.seed].map((text) =>
      /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined,
    );
    if (count === undefined || seed === undefined)
      throw new Error("--differential and --seed take a whole number");
    const families = values.family === undefined ? familyName.options : [familyName.parse(values.family)];
    return { suite: resolve(values.suite), count, seed, families, isSealing: values.seal };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return null;
  }
}

async function judgeByProduction(suite: string): Promise<Production | null> {
  console.log("Production (TypeScript): 105 cases, 85 negative checks, twice");
  try {
    const production = await runProduction(suite, (done, total) => {
      if (process.stdout.isTTY)
        process.stdout.write(`\r  check ${done}/${total}${done === total ? "\n" : ""}`);
      else if (done % 20 === 0 || done === total) console.log(`  check ${done}/${total}`);
    });
    const { passed, cases, matrix } = production;
    const mutants = matrix.checks.reduce((sum, check) => sum + check.mutants, 0);
    const rejected = matrix.checks.filter(({ failures }) => failures.length === 0).length;
    console.log(`  ${passed}/${cases} cases, ${rejected}/${matrix.checks.length} checks, ${mutants} mutants`);
    for (const problem of production.problems.slice(0, 12)) console.log(`  ${problem}`);
    return production;
  } catch (error) {
    // The validator says more about a suite that cannot be read, and writes the evidence.
    console.log(`  not run: ${error instanceof Error ? error.message : "unknown error"}`);
    return null;
  }
}

async function runDifferential(python: string, { suite, count, seed, families }: Options): Promise<number> {
  console.log(
    `\nDifferential: ${count} random inputs for each family through both implementations, seed ${seed}`,
  );
  const reference = new ReferenceProcess(python, suite);
  const differences = await compareImplementations({
    reference,
    seed,
    count,
    families,
    onFamily: (family, done) => console.log(`  ${family} ${done}`),
  }).finally(() => reference.close());
  for (const { question, reference, production } of differences) {
    console.log(`\nDIFFERENCE in ${question.family}; fix the rule, or make it a case:`);
    console.log(JSON.stringify(question, null, 2));
    console.log(`reference:  ${reference}\nproduction: ${production}`);
  }
  return differences.length;
}

/** Runs the suite's validator, which asks production again and writes the evidence; gives its status. */
function validate(python: string, suite: string): number {
  console.log("\nValidator (Python)");
  const runner = [process.execPath, join(checkout, "tools", "suite", "runner.ts")].map(shellWord).join(" ");
  const args = [join(suite, "validate.py"), "--runner", runner, "--with-result"];
  const { status } = spawnSync(python, args, { stdio: "inherit" });
  // Ended by a signal: it removed the older evidence at its start, and wrote none.
  return status ?? EXIT.error;
}

async function main(): Promise<number> {
  const started = performance.now();
  const options = readOptions();
  if (options === null) return EXIT.usage;
  const { suite, count, seed } = options;
  // Nothing stale: whatever goes wrong from here on, no older pass is left.
  discardProductionResult(suite);
  discardEvidence(suite);

  const python = preparePython(checkout, (line) => console.log(line));
  if (python === null) {
    writeBlockedEvidence(suite, "DEPENDENCY_MISSING", NO_PYTHON);
    console.error(`storage-lifecycle: BLOCKED\n  ${NO_PYTHON}\n  evidence ${join(suite, EVIDENCE_FILE)}`);
    return EXIT.dependency;
  }
  if (python.problem !== null) console.error(python.problem);
  if (options.isSealing) {
    const root = sealSuite(python.command, suite, checkout);
    return root === null ? EXIT.blocked : EXIT.passed;
  }
  const production = await judgeByProduction(suite);
  if (production !== null) {
    const differences =
      count === 0 || python.problem !== null ? 0 : await runDifferential(python.command, options);
    writeProductionResult(suite, production, { seed, inputs: count, differences });
  }
  const status = validate(python.command, suite);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`\nstorage-lifecycle: ${status === EXIT.passed ? "PASSED" : "BLOCKED"}, ${seconds} s`);
  return status;
}

// A reader that goes away must not turn a status of 0, of which the evidence speaks, into another.
process.stdout.on("error", () => {});
process.exitCode = await main();
