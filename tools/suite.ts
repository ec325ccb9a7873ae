/**
 * Validates the storage-lifecycle suite against this code: `npm run suite`.
 *
 *     --suite DIR         another copy of the suite (default suites/storage-lifecycle)
 *     --differential N    N random inputs for each family (default 300; 0 leaves it out)
 *     --seed S            the seed of the random inputs (default 1)
 *     --family F          only this family's random inputs
 *     --seal              accept a change of the suite: layout, SHA256SUMS, pinned digest
 *
 * Production judges all cases first; then the suite's own validator recomputes
 * them, runs the negative matrix twice, compares both and writes the evidence.
 * Exit codes: 0 PASSED, 1 BLOCKED, 2 usage, 3 a dependency is missing, 4 an error.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { EVIDENCE_FILE, writeBlockedEvidence } from "./suite/blocked-evidence.ts";
import { compareImplementations } from "./suite/differential/differential.ts";
import { familyName, type FamilyName } from "./suite/families.ts";
import { discardProductionResult, writeProductionResult } from "./suite/production-result.ts";
import { preparePython } from "./suite/python.ts";
import { sealSuite } from "./suite/seal.ts";

const NO_PYTHON = "Python 3 was not found: install Python 3.9 or newer and run the same command again";
const EXIT = { passed: 0, blocked: 1, usage: 2, dependency: 3 };
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
        differential: { type: "string", default: "300" },
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

async function runProduction(suite: string): Promise<void> {
  console.log("Production (TypeScript): 105 cases, 85 negative checks, twice");
  try {
    const result = await writeProductionResult(suite, (done, total) => {
      if (process.stdout.isTTY)
        process.stdout.write(`\r  check ${done}/${total}${done === total ? "\n" : ""}`);
      else if (done % 20 === 0 || done === total) console.log(`  check ${done}/${total}`);
    });
    const { passed, cases, matrix } = result;
    console.log(
      `  ${passed}/${cases} cases, ${matrix.rejected}/${matrix.total} checks, ${matrix.mutants} mutants`,
    );
    for (const problem of result.problems.slice(0, 12)) console.log(`  ${problem}`);
  } catch (error) {
    // The validator says more about a suite that cannot be read, and writes the evidence.
    console.log(`  not run: ${error instanceof Error ? error.message : "unknown error"}`);
  }
}

async function runDifferential(python: string, { suite, count, seed, families }: Options): Promise<number> {
  console.log(
    `\nDifferential: ${count} random inputs for each family through both implementations, seed ${seed}`,
  );
  const differences = await compareImplementations({
    python,
    suiteRoot: suite,
    seed,
    count,
    families,
    onFamily: (family, done) => console.log(`  ${family} ${done}`),
  });
  for (const { question, reference, production } of differences) {
    console.log(`\nDIFFERENCE in ${question.family}; mend the rule, or make it a case:`);
    console.log(JSON.stringify(question, null, 2));
    console.log(`reference:  ${reference}\nproduction: ${production}`);
  }
  return differences.length;
}

async function main(): Promise<number> {
  const started = performance.now();
  const options = readOptions();
  if (options === null) return EXIT.usage;
  // Nothing stale: whatever goes wrong from here on, no older pass is left.
  discardProductionResult(options.suite);
  rmSync(join(options.suite, EVIDENCE_FILE), { force: true });

  const python = preparePython(checkout, (line) => console.log(line));
  if (python === null) {
    writeBlockedEvidence(options.suite, "DEPENDENCY_MISSING", NO_PYTHON);
    console.error(
      `storage-lifecycle: BLOCKED\n  ${NO_PYTHON}\n  evidence ${join(options.suite, EVIDENCE_FILE)}`,
    );
    return EXIT.dependency;
  }
  if (python.problem !== null) console.error(python.problem);
  if (options.isSealing) {
    const root = sealSuite(python.command, options.suite, checkout);
    return root === null ? EXIT.blocked : EXIT.passed;
  }
  await runProduction(options.suite);
  console.log("\nValidator (Python)");
  const { status } = spawnSync(python.command, [join(options.suite, "validate.py")], { stdio: "inherit" });
  if (status !== 0) return status ?? EXIT.blocked;
  const differences = options.count === 0 ? 0 : await runDifferential(python.command, options);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const verdict =
    differences === 0 ? "PASSED, no difference" : `PASSED, but ${differences} differences (above)`;
  console.log(
    `\nstorage-lifecycle: ${verdict}, ${seconds} s; evidence in ${join(options.suite, EVIDENCE_FILE)}`,
  );
  return differences === 0 ? EXIT.passed : EXIT.blocked;
}

process.exitCode = await main();
