/**
 * StrykerJS's test runner for this project: a test file is a test.
 *
 * The kept alternative, @stryker-mutator/tap-runner, knows no order and no time
 * limit of a file. Here the file that says most about a mutant comes first, a
 * file that hangs ends by a limit near its need, and a mutant that ends the
 * process counts as noticed. It imports nothing of Stryker, whose packages are
 * installed for `npm run mutate` alone: the types below are its contract.
 */
import { appendFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createPool } from "../../src/database/pool.ts";
import { MUTATION } from "../../test/support/mutation.ts";
import { SERVER } from "../../test/support/postgres.ts";
import { UnnoticedBlocks, type ActiveMutant } from "./blocks.ts";
import { chooseFiles, type DryRuns } from "./choice.ts";
import { recordCoverage, type Coverage } from "./coverage.ts";
import { KnownRuns, readNumbering } from "./known-runs.ts";
import type { Note } from "./report.ts";
import { chooseSample, readChosen, type SampleSize } from "./sample.ts";
import { runTestFile, type FileResult } from "./test-file.ts";
import { tryMutant } from "./trial.ts";
import { Turns } from "./turns.ts";

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
type MutantRunOptions = { activeMutant: ActiveMutant; testFilter?: string[] };
export type NodeTestOptions = {
  /** In the order in which the dry run takes them. */
  testFiles: readonly string[];
  /** Every file that reaches a mutant is tried on it. */
  isThorough: boolean;
  /** Null where all are tried. */
  sample: SampleSize | null;
  /** Keeps the dry runs. */
  knownRuns: string;
  /** The mutants that are tried are written there, where not all are. */
  chosen: string;
  /** A line for each note. */
  notes: string;
};

const ROOT = dirname(dirname(import.meta.dirname));
const START_UP = "tools/mutation/start-and-stop.ts";
const DRY_LIMIT_MS = 180_000;
const DRY_RUNS_AT_ONCE = 2;
/** In the sandbox, where all processes of the runner work. */
const DRY_RUNS = ".mutation-dry-runs.json";

/** Made by Stryker, one a process. */
class NodeTestRunner {
  static inject = ["options"] as const;
  readonly #options: NodeTestOptions;
  readonly #server = process.env[SERVER.url] ?? "";
  readonly #turns = new Turns(process.cwd());
  readonly #blocks = new UnnoticedBlocks(process.cwd(), ROOT);
  #runs = 0;
  #dryRuns: Promise<DryRuns> | undefined;
  #chosen: ReadonlySet<string> | undefined;

  constructor(options: { nodeTest: NodeTestOptions }) {
    this.#options = options.nodeTest;
  }

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<DryRun> {
    const { testFiles, knownRuns, sample, chosen } = this.#options;
    const numbering = readNumbering(process.cwd());
    const known = new KnownRuns(ROOT, knownRuns, numbering);
    const result: DryRun = { status: "complete", tests: [], mutantCoverage: { static: {}, perTest: {} } };
    const sources = Object.fromEntries(numbering);
    const dryRuns: DryRuns = { times: {}, longestTests: {}, reached: {}, startUp: {}, sources };
    const waiting = [START_UP, ...testFiles];
    const work = async (): Promise<void> => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        const { tookMs, longestTestMs, reached, fault } = await this.#dryRunFile(file, known);
        const test = { id: file, name: file, fileName: file, timeSpentMs: tookMs };
        if (fault !== null) result.tests.push({ ...test, status: 1, failureMessage: fault });
        else if (file === START_UP) dryRuns.startUp = reached;
        else result.tests.push({ ...test, status: 0 });
        if (file === START_UP) continue;
        dryRuns.times[file] = tookMs;
        dryRuns.longestTests[file] = longestTestMs;
        dryRuns.reached[file] = reached;
      }
    };
    await Promise.all(Array.from({ length: DRY_RUNS_AT_ONCE }, work));
    result.mutantCoverage.perTest = dryRuns.reached;
    if (sample !== null) await writeFile(chosen, JSON.stringify(chooseSample(numbering, sample)));
    await writeFile(DRY_RUNS, JSON.stringify(dryRuns));
    return result;
  }

  async mutantRun({ activeMutant, testFilter }: MutantRunOptions): Promise<MutantRun> {
    const { isThorough, testFiles } = this.#options;
    const mutant = activeMutant.id;
    if (!this.#isChosen(mutant)) {
      this.#note({ kind: "left-out", mutant });
      return { status: "survived", nrOfTests: 0 };
    }
    if (!isThorough && this.#blocks.surround(activeMutant)) {
      this.#note({ kind: "within-block", mutant });
      return { status: "survived", nrOfTests: 0 };
    }
    this.#dryRuns ??= readFile(DRY_RUNS, "utf8").then((text) => JSON.parse(text));
    const dryRuns = await this.#dryRuns;
    const choice = chooseFiles(mutant, testFilter ?? testFiles, { dryRuns, isThorough });
    const result = await tryMutant({
      mutant,
      files: choice.files,
      timeOf: (file) => dryRuns.times[file] ?? DRY_LIMIT_MS,
      longestTestOf: (file) => dryRuns.longestTests[file] ?? DRY_LIMIT_MS,
      isThorough,
      run: (file, limitMs, env) => this.#run(file, limitMs, env),
      turns: this.#turns,
      unrepeated: (file) => this.#note({ kind: "unrepeated", mutant, file }),
    });
    if (result.kind === "unnoticed") {
      this.#blocks.add(activeMutant);
      if (choice.isStartUpOnly) this.#note({ kind: "start-up-only", mutant });
      return { status: "survived", nrOfTests: result.tried };
    }
    if (result.result.kind === "overdue") return { status: "timeout", reason: result.file };
    const { why } = result.result;
    return { status: "killed", killedBy: [result.file], failureMessage: why, nrOfTests: result.tried };
  }

  #isChosen(mutant: string): boolean {
    const { sample, chosen } = this.#options;
    if (sample === null) return true;
    this.#chosen ??= readChosen(chosen);
    return this.#chosen.has(mutant);
  }

  /** `fault` null: it passed. */
  async #dryRunFile(file: string, known: KnownRuns) {
    const found = known.find(file);
    if (found !== null) return { ...found, fault: null };
    const run = () =>
      recordCoverage((folder) => this.#run(file, DRY_LIMIT_MS, { [MUTATION.coverage]: folder }));
    let ran = await run();
    // A failure by chance would end the whole run.
    if (ran.result.kind !== "passed") ran = await run();
    const { result, reached } = ran;
    if (result.kind !== "passed") {
      const fault = result.kind === "failed" ? result.why : "it did not end";
      return { tookMs: result.tookMs, longestTestMs: 0, reached, fault };
    }
    const passed = { tookMs: result.tookMs, longestTestMs: result.longestTestMs, reached };
    known.keep(file, passed);
    return { ...passed, fault: null };
  }

  #note(note: Note): void {
    appendFileSync(this.#options.notes, `${JSON.stringify(note)}\n`);
  }

  async #run(file: string, limitMs: number, env: Record<string, string>): Promise<FileResult> {
    this.#runs += 1;
    const prefix = `mutation_${process.pid}_${this.#runs}_`;
    const result = await runTestFile(file, limitMs, { ...env, [SERVER.prefix]: prefix });
    if (result.kind !== "passed") await this.#dropDatabases(prefix);
    return result;
  }

  /** A file that is stopped in the middle leaves its databases. */
  async #dropDatabases(prefix: string): Promise<void> {
    const admin = createPool({
      url: this.#server,
      poolSize: 1,
      applicationName: "postern mutation",
      connectionTimeoutMs: 20_000,
    });
    try {
      const { rows } = await admin.query<{ datname: string }>(
        "SELECT datname FROM pg_database WHERE starts_with(datname, $1)",
        [prefix],
      );
      for (const { datname } of rows) await admin.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
    } finally {
      await admin.end();
    }
  }
}

export const strykerPlugins = [{ kind: "TestRunner", name: "node-test", injectableClass: NodeTestRunner }];
