/** How a mutant is tried, and what the dry run knows of a test file. */
import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { MUTATION, mutationSettings } from "../../test/support/mutation.ts";
import { nodeScript } from "../../test/support/node-script.ts";
import { BUNDLED_PROGRAM } from "../../test/support/program.ts";
import { UnnoticedBlocks } from "./blocks.ts";
import { chooseFiles } from "./choice.ts";
import { recordCoverage, type Coverage } from "./coverage.ts";
import { KnownRuns, readNumbering } from "./known-runs.ts";
import { runTestFile, type FileResult } from "./test-file.ts";
import { tryMutant, type Trial } from "./trial.ts";
import { Turns } from "./turns.ts";

const ROOT = dirname(dirname(import.meta.dirname));

function newFolder(test: TestContext, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-mutation-"));
  test.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

/** As StrykerJS counts in what it instruments. */
const REACH = `const reach = (id) => {
  const counters = globalThis.__stryker__.mutantCoverage.static;
  counters[id] = (counters[id] || 0) + 1;
};\n`;

async function reachedBy(
  test: TestContext,
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<Coverage> {
  const folder = newFolder(test, files);
  const { result, reached } = await recordCoverage((coverage) =>
    runTestFile(join(folder, "one.test.mjs"), 30_000, {
      ...Object.fromEntries(Object.entries(env).map(([name, file]) => [name, join(folder, file)])),
      [MUTATION.coverage]: coverage,
    }),
  );
  equal(result.kind, "passed", JSON.stringify(result));
  return reached;
}

describe("what a test file reaches", () => {
  it("is counted to the power of two, and to 256", async (test) => {
    const text = `${REACH} reach(1); for (let n = 0; n < 7; n++) reach(2); for (let n = 0; n < 999; n++) reach(3);`;
    deepEqual(await reachedBy(test, { "one.test.mjs": text }), { 1: 1, 2: 4, 3: 256 });
  });

  it("includes a thread that is terminated", async (test) => {
    const thread = `${REACH} reach(2); const { parentPort } = await import("node:worker_threads");
      parentPort.postMessage(1); setInterval(() => 0, 1000);`;
    const text = `${REACH} import { once } from "node:events"; import { Worker } from "node:worker_threads";
      reach(1); const worker = new Worker(new URL("./thread.mjs", import.meta.url));
      await once(worker, "message"); await worker.terminate();`;
    deepEqual(await reachedBy(test, { "one.test.mjs": text, "thread.mjs": thread }), { 1: 1, 2: 1 });
  });

  it("includes a program that is killed", async (test) => {
    const program = nodeScript(`${REACH} reach(3); process.kill(process.pid, "SIGKILL");`);
    const text = `import { runProgram } from ${JSON.stringify(join(ROOT, "test/support/program.ts"))};
      await runProgram([], {});`;
    const files = { "one.test.mjs": text, "program.mjs": program };
    deepEqual(await reachedBy(test, files, { [BUNDLED_PROGRAM]: "program.mjs" }), { 3: 1 });
  });
});

it("a program that a test starts inherits the mutant, and nothing in other runs", () => {
  const settings = { [MUTATION.active]: "7", [MUTATION.coverage]: undefined, NODE_OPTIONS: "--import=hook" };
  deepEqual(mutationSettings({ ...settings, HOME: "/" }), settings);
  deepEqual(mutationSettings({ NODE_OPTIONS: "--inspect", HOME: "/" }), {});
});

describe("the files for a mutant", () => {
  const dryRuns = {
    longestTests: {},
    times: { unit: 5, idle: 100, slow: 400, busy: 900, program: 300, deep: 1000 },
    reached: {
      unit: { a: 1 },
      idle: { a: 2, b: 1, c: 1 },
      slow: { a: 2, b: 1, c: 1 },
      busy: { a: 64, b: 1, c: 1 },
      deep: { a: 64, b: 1, c: 64, d: 1, e: 1 },
      program: { a: 2, b: 2, c: 1 },
    },
    startUp: { a: 2, b: 1, c: 1 },
    sources: { "src/a.ts": ["a", "b"], "src/c.ts": ["c", "d", "e"] },
  };
  const chosen = (mutant: string, files: string[], isThorough = false) =>
    chooseFiles(mutant, files, { dryRuns, isThorough });

  it("are those that reach it beyond the start of the service, and two of the others", () => {
    const all = ["slow", "deep", "busy", "idle", "program", "unit"];
    const files = ["unit", "idle", "program", "busy", "deep"];
    deepEqual(chosen("a", all), { files, isStartUpOnly: false });
    deepEqual(chosen("a", all, true).files, ["unit", "idle", "program", "slow", "busy", "deep"]);
  });

  it("are two where the start of the service alone reaches it", () => {
    const choice = chosen("b", ["slow", "busy", "idle", "program"]);
    deepEqual(choice, { files: ["idle", "program"], isStartUpOnly: true });
  });

  it("begin with the source's own test, however long it takes", () => {
    const own = "src/a.test.ts";
    const { times, reached } = dryRuns;
    const choice = chooseFiles("a", ["unit", own], {
      dryRuns: { ...dryRuns, times: { ...times, [own]: 40_000 }, reached: { ...reached, [own]: { a: 1 } } },
      isThorough: false,
    });
    deepEqual(choice.files, [own, "unit"]);
  });

  it("go on with those that do most with its source for their time, as a constant needs it", () => {
    const constant = { ...dryRuns, startUp: { ...dryRuns.startUp, d: 1 } };
    const { files } = chooseFiles("d", ["busy", "deep"], {
      dryRuns: { ...constant, reached: { ...dryRuns.reached, busy: { a: 1, b: 1, c: 1, d: 1 } } },
      isThorough: false,
    });
    deepEqual(files, ["deep", "busy"]);
  });
});

const PASSED: FileResult = { kind: "passed", tookMs: 1, longestTestMs: 1 };
const FAILED: FileResult = { kind: "failed", tookMs: 1, why: "does", isLate: false };
const OVERDUE: FileResult = { kind: "overdue", tookMs: 1 };

/** Each file answers its results in turn, and then passes. */
async function startTrial(test: TestContext, results: Record<string, FileResult[]>, timeMs = 3000) {
  const seen: { unrepeated: string[]; limits: number[]; waits: (string | undefined)[] } = {
    unrepeated: [],
    limits: [],
    waits: [],
  };
  const trial: Trial = {
    mutant: "7",
    files: Object.keys(results),
    timeOf: () => timeMs,
    longestTestOf: () => timeMs / 1.5,
    isThorough: false,
    turns: new Turns(newFolder(test)),
    unrepeated: (file) => seen.unrepeated.push(file),
    run: async (file, limitMs, env) => {
      seen.limits.push(limitMs);
      seen.waits.push(env[MUTATION.waitLimit]);
      equal(env[MUTATION.active], "7");
      return results[file]?.shift() ?? PASSED;
    },
  };
  return { result: await tryMutant(trial), ...seen };
}

describe("a trial", () => {
  it("counts a failure that repeats", async (test) => {
    const { result, unrepeated } = await startTrial(test, { one: [], two: [FAILED, FAILED], three: [] });
    deepEqual(result, { kind: "noticed", file: "two", result: FAILED, tried: 2 });
    deepEqual(unrepeated, []);
  });

  it("does not count a failure, or an end by the limit, that does not repeat", async (test) => {
    const { result, unrepeated, limits, waits } = await startTrial(test, { one: [FAILED], two: [OVERDUE] });
    deepEqual(result, { kind: "unnoticed", tried: 2 });
    deepEqual(unrepeated, ["one", "two"]);
    // The second time has twice the patience.
    deepEqual(limits, [17_000, 34_000, 17_000, 34_000]);
    deepEqual(waits, ["4000", "8000", "4000", "8000"]);
  });

  it("ends after 30 seconds of tests, and waits at least 4 s for what a test waits for", async (test) => {
    const { result } = await startTrial(
      test,
      { one: [], two: [], three: [], four: [FAILED, FAILED] },
      10_000,
    );
    deepEqual(result, { kind: "unnoticed", tried: 3 });
    deepEqual((await startTrial(test, { one: [] }, 100)).waits, ["4000"]);
    deepEqual((await startTrial(test, { one: [] }, 9000)).waits, ["12000"]);
  });
});

it("what runs alone waits for what runs beside, and the other way round", async (test) => {
  const folder = newFolder(test);
  // Two processes that live for the whole test.
  const [one, other] = [new Turns(folder, process.pid), new Turns(folder, process.ppid)];
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const beside = one.beside(async () => {
    begun.resolve();
    await mayEnd.promise;
    order.push("beside");
  });
  await begun.promise;
  const alone = other.alone(async () => order.push("alone"));
  mayEnd.resolve();
  await Promise.all([beside, alone]);
  await one.beside(async () => order.push("next"));
  deepEqual(order, ["beside", "alone", "next"]);
});

const instrumented = (...ids: number[]): string => ids.map((id) => `stryMutAct_9fa48("${id}");`).join("\n");

describe("a dry run of earlier", () => {
  const sources = { "src/a.ts": "a", "src/b.ts": "b", "src/a.test.ts": "the test" };

  it("holds for a later numbering of the same sources, also for one file of them", (test) => {
    const root = newFolder(test, sources);
    const numbered = (files: Record<string, string>) =>
      new KnownRuns(root, join(root, "known"), readNumbering(newFolder(test, files)));
    const first = numbered({ "src/a.ts": instrumented(1, 0), "src/b.ts": instrumented(2, 3) });
    equal(first.find("src/a.test.ts"), null);
    first.keep("src/a.test.ts", { tookMs: 5, longestTestMs: 4, reached: { 0: 1, 3: 8 } });
    const later = numbered({ "src/b.ts": instrumented(10, 11) });
    deepEqual(later.find("src/a.test.ts"), { tookMs: 5, longestTestMs: 4, reached: { 11: 8 } });
    // A run with other sources adds to what is known.
    const third = numbered({ "src/a.ts": instrumented(1, 0), "src/c.ts": instrumented(2) });
    equal(third.find("src/a.test.ts"), null);
    third.keep("src/a.test.ts", { tookMs: 6, longestTestMs: 4, reached: { 1: 2, 2: 1 } });
    deepEqual(first.find("src/a.test.ts")?.reached, { 1: 2, 3: 8 });
  });

  it("ends when a source or the test changes, not when another test does", (test) => {
    const root = newFolder(test, sources);
    const numbering = readNumbering(newFolder(test, { "src/a.ts": instrumented(0) }));
    const known = () => new KnownRuns(root, join(root, "known"), numbering);
    const isKnown = () => known().find("src/a.test.ts") !== null;
    const change = (file: string) => writeFileSync(join(root, file), "changed");
    known().keep("src/a.test.ts", { tookMs: 5, longestTestMs: 4, reached: {} });
    change("src/b.test.ts");
    notEqual(isKnown(), false);
    change("src/b.ts");
    equal(isKnown(), false);
    known().keep("src/a.test.ts", { tookMs: 5, longestTestMs: 4, reached: {} });
    change("src/a.test.ts");
    equal(isKnown(), false);
  });
});

it("a block whose emptying went unnoticed surrounds the changes within it", (test) => {
  const file = join(newFolder(test, { "src/a.ts": "if (a) { b(); }\nc();" }), "src/a.ts");
  const mutant = (mutatorName: string, from: number, to: number) => ({
    id: "1",
    fileName: file,
    mutatorName,
    replacement: "{}",
    location: { start: { line: 0, column: from }, end: { line: 0, column: to } },
  });
  const blocks = new UnnoticedBlocks(dirname(file), ROOT);
  blocks.add(mutant("ConditionalExpression", 0, 15));
  equal(blocks.surround(mutant("CallExpression", 9, 12)), false);
  blocks.add(mutant("BlockStatement", 7, 15));
  ok(blocks.surround(mutant("CallExpression", 9, 12)));
  equal(blocks.surround(mutant("BlockStatement", 7, 15)), false);
  equal(blocks.surround(mutant("ConditionalExpression", 4, 5)), false);
});
