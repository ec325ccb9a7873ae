/**
 * StrykerJS's test runner for this project: a test file is a test.
 *
 * The kept alternative, @stryker-mutator/tap-runner, knows no order and no time
 * limit of a file. Here the fastest file that passes a mutant comes first, a
 * file that hangs ends by a limit near its need, and a mutant that ends the
 * process counts as noticed. It imports nothing of Stryker, whose packages are
 * installed for `npm run mutate` alone: the types below are its contract.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPool } from "../../src/database/pool.ts";
import { SERVER } from "../../test/support/postgres.ts";
import { runTestFile, type FileResult } from "./test-file.ts";

type Coverage = Record<string, number>;
type TestResult = { id: string; name: string; fileName: string; timeSpentMs: number; status: 0 | 1 };
type DryRun = {
  status: "complete";
  tests: (TestResult & { failureMessage?: string })[];
  mutantCoverage: { static: Coverage; perTest: Record<string, Coverage> };
};
type MutantRun =
  | { status: "killed"; killedBy: string[]; failureMessage: string; nrOfTests: number }
  | { status: "survived"; nrOfTests: number }
  | { status: "timeout"; reason: string };
type MutantRunOptions = { activeMutant: { id: string }; testFilter?: string[]; hitLimit?: number };

const DRY_LIMIT_MS = 180_000;
// Beside a second mutant and on a busy machine.
const SLOWER = 3;
const SLACK_MS = 8000;
/** The sum of a mutant's test files, by the times of the dry run. What takes longer is not tried. */
const MUTANT_LIMIT_MS = 30_000;
/** In the sandbox, where all processes of the runner work. */
const TIMES = ".mutation-times.json";

/** Made by Stryker, one a process; `nodeTest.testFiles` of its options are the files in the order in which they are tried. */
class NodeTestRunner {
  static inject = ["options"] as const;
  readonly #files: readonly string[];
  readonly #prefix = `mutation_${process.pid}_`;
  readonly #server = process.env[SERVER.url] ?? "";
  #times: Promise<Record<string, number>> | undefined;

  constructor(options: { nodeTest: { testFiles: readonly string[] } }) {
    this.#files = options.nodeTest.testFiles;
  }

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<DryRun> {
    const result: DryRun = { status: "complete", tests: [], mutantCoverage: { static: {}, perTest: {} } };
    const times: Record<string, number> = {};
    for (const file of this.#files) {
      const folder = join(process.cwd(), ".mutation-coverage");
      await mkdir(folder, { recursive: true });
      const ran = await this.#run(file, DRY_LIMIT_MS, { MUTATION_COVERAGE: folder });
      times[file] = ran.tookMs;
      const test = { id: file, name: file, fileName: file, timeSpentMs: ran.tookMs };
      result.tests.push(
        ran.kind === "passed"
          ? { ...test, status: 0 }
          : { ...test, status: 1, failureMessage: ran.kind === "failed" ? ran.why : "it did not end" },
      );
      result.mutantCoverage.perTest[file] = await readCoverage(folder);
      await rm(folder, { recursive: true });
    }
    await writeFile(TIMES, JSON.stringify(times));
    return result;
  }

  async mutantRun({ activeMutant, testFilter, hitLimit }: MutantRunOptions): Promise<MutantRun> {
    this.#times ??= readFile(TIMES, "utf8").then((text) => JSON.parse(text));
    const times = await this.#times;
    const timeOf = (file: string): number => times[file] ?? DRY_LIMIT_MS;
    const files = (testFilter ?? this.#files).toSorted((one, other) => timeOf(one) - timeOf(other));
    let sumMs = 0;
    let nrOfTests = 0;
    for (const file of files) {
      sumMs += timeOf(file);
      if (nrOfTests > 0 && sumMs > MUTANT_LIMIT_MS) break;
      nrOfTests += 1;
      const ran = await this.#run(file, SLACK_MS + SLOWER * timeOf(file), {
        // The name that instrumented files look for.
        __STRYKER_ACTIVE_MUTANT__: activeMutant.id,
        ...(hitLimit === undefined ? {} : { MUTATION_HIT_LIMIT: String(hitLimit) }),
      });
      if (ran.kind === "overdue") return { status: "timeout", reason: file };
      if (ran.kind === "failed")
        return { status: "killed", killedBy: [file], failureMessage: ran.why, nrOfTests };
    }
    return { status: "survived", nrOfTests };
  }

  async #run(file: string, limitMs: number, env: Record<string, string>): Promise<FileResult> {
    const result = await runTestFile(file, limitMs, { ...env, [SERVER.prefix]: this.#prefix });
    if (result.kind !== "passed") await this.#dropDatabases();
    return result;
  }

  /** A file that is stopped in the middle leaves its databases. */
  async #dropDatabases(): Promise<void> {
    const admin = createPool({
      url: this.#server,
      poolSize: 1,
      applicationName: "postern mutation",
      connectionTimeoutMs: 20_000,
    });
    try {
      const { rows } = await admin.query<{ datname: string }>(
        "SELECT datname FROM pg_database WHERE starts_with(datname, $1)",
        [this.#prefix],
      );
      for (const { datname } of rows) await admin.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    } finally {
      await admin.end();
    }
  }
}

/** Of all processes that a test file ran. */
async function readCoverage(folder: string): Promise<Coverage> {
  const sum: Coverage = {};
  for (const name of await readdir(folder)) {
    const passed: Coverage = JSON.parse(await readFile(join(folder, name), "utf8"));
    for (const [mutant, count] of Object.entries(passed)) sum[mutant] = (sum[mutant] ?? 0) + count;
  }
  return sum;
}

export const strykerPlugins = [{ kind: "TestRunner", name: "node-test", injectableClass: NodeTestRunner }];
