/** What `npm run mutate` chooses, counts and leaves alone. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { aroundChange, describeNotes, describeSurvivors, readNotes, readReport } from "./report.ts";
import { relatedTests, unusedWords } from "./related.ts";
import { boundsOf } from "./figures.ts";
import { chooseSample, forgetLeftOut, onlySample } from "./sample.ts";
import { runTestFile } from "./test-file.ts";
import { reasonToSkip } from "./words.ts";

const ROOT = dirname(dirname(import.meta.dirname));

function newFolder(test: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-mutation-"));
  test.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

describe("the related tests", () => {
  it("of a file are its own, and those of the running program that are named for its part", () => {
    const tests = relatedTests(ROOT, "src/outbound/response.ts");
    equal(tests[0]?.startsWith("src/"), true);
    ok(tests.includes("src/outbound/response.test.ts"));
    ok(tests.includes("test/hostile-receivers.test.ts"));
    ok(!tests.includes("test/portal-app.test.ts"));
  });

  it("of a folder are also those beside its files that start them as programs", () => {
    ok(relatedTests(ROOT, "src/telemetry").includes("src/telemetry/log.test.ts"));
    ok(relatedTests(ROOT, "src/service").includes("src/service/start-memory.test.ts"));
  });

  it("of a part are also those of the composition that import it themselves", () => {
    ok(relatedTests(ROOT, "src/tenants").includes("src/service/erase-elsewhere.test.ts"));
  });

  it("are named by words that each fit a file", () => {
    deepEqual(unusedWords(ROOT), []);
  });
});

const mutant = (line: number, status: string) => ({
  id: String(line),
  mutatorName: "ConditionalExpression",
  replacement: "false",
  status,
  location: { start: { line, column: 5 }, end: { line, column: 10 } },
});

describe("a change in a statement", () => {
  const all =
    "SELECT a, b, c FROM postern.some_table WHERE tenant_id = $1 AND some_column < $2 ORDER BY some_column LIMIT 1";

  it("is told with the words around it", () => {
    deepEqual(aroundChange(all, all.replace("<", "<=")), {
      code: "tenant_id = $1 AND some_column < $2 ORDER BY some_column LIMIT",
      replacement: "tenant_id = $1 AND some_column <= $2 ORDER BY some_column LIMIT",
    });
  });

  it("at either end is told whole", () => {
    deepEqual(aroundChange("SELECT 1", "SELECT 1 + 1"), { code: "SELECT 1", replacement: "SELECT 1 + 1" });
    deepEqual(aroundChange("a b", "c b"), { code: "a b", replacement: "c b" });
  });
});

describe("a report", () => {
  const statuses = ["Killed", "Timeout", "RuntimeError", "Survived", "NoCoverage", "CompileError", "Ignored"];
  const report = {
    files: {
      "src/a.ts": {
        source: statuses.map((_, n) => `if (a < ${n}) b();`).join("\n"),
        mutants: statuses.map((status, n) => mutant(n + 1, status)),
      },
    },
  };

  it("lists what no test noticed, each with its line and change, and counts the rest", (test) => {
    const folder = newFolder(test, { "report.json": JSON.stringify(report) });
    const { lines, figures } = describeSurvivors(readReport(join(folder, "report.json")), [], {
      isSample: false,
    });
    deepEqual(figures, { noticed: 3, accepted: 0, open: 2 });
    deepEqual(lines, [
      "src/a.ts:4:5 ConditionalExpression",
      "    - a < 3",
      "    + false",
      "src/a.ts:5:5 ConditionalExpression (no test reaches it)",
      "    - a < 4",
      "    + false",
    ]);
  });

  it("leaves out what is explained, and names explanations that explain nothing", () => {
    const why = "nobody can see it";
    const accepted = ["a < 3", "a < 4", "a < 0"].map((code) => ({
      file: "src/a.ts",
      changes: "usual" as const,
      code,
      replacement: "false",
      why,
    }));
    const { lines, figures } = describeSurvivors(report, accepted, { isSample: false });
    deepEqual(figures, { noticed: 3, accepted: 2, open: 0 });
    deepEqual(lines, ["tools/mutation/accepted.json: a test notices this, or it is gone: src/a.ts a < 0"]);
  });
});

describe("a sample", () => {
  const numbering = new Map([
    ["src/a.ts", ["1", "2", "3"]],
    ["src/b.ts", ["4", "5", "6"]],
  ]);

  it("is the same for the same seed, however the mutants are numbered", () => {
    const chosen = chooseSample(numbering, { size: 3, seed: "1" });
    equal(new Set(chosen).size, 3);
    const numberedAnew = new Map([...numbering].map(([file, ids]) => [file, ids.map((id) => `1${id}`)]));
    deepEqual(
      chooseSample(numberedAnew, { size: 3, seed: "1" }),
      chosen.map((id) => `1${id}`),
    );
    const seeds = ["1", "2", "3", "4", "5", "6"];
    ok(new Set(seeds.map((seed) => chooseSample(numbering, { size: 3, seed }).join())).size > 1);
    deepEqual(chooseSample(numbering, { size: 9, seed: "1" }).toSorted(), ["1", "2", "3", "4", "5", "6"]);
  });

  it("leaves others out of the report, and a later run tries them", (test) => {
    const all = {
      files: { "src/a.ts": { source: "a;\nb;", mutants: [mutant(1, "Killed"), mutant(2, "Survived")] } },
    };
    deepEqual(onlySample(all, new Set(["1"])).files["src/a.ts"]?.mutants, [mutant(1, "Killed")]);
    const known = join(newFolder(test, { known: JSON.stringify(all) }), "known");
    forgetLeftOut(known, new Set(["2"]));
    deepEqual(readReport(known).files["src/a.ts"]?.mutants, [mutant(1, "Killed")]);
  });

  it("says between which bounds the share of the whole lies", () => {
    // As tables of Wilson's interval have it for 95 %.
    const { low, high } = boundsOf(90, 100);
    deepEqual([low.toFixed(3), high.toFixed(3)], ["0.826", "0.945"]);
    equal(boundsOf(20, 20).low.toFixed(3), "0.839");
  });
});

it("notes of a run are counted in words", (test) => {
  const notes = ["within-block", "within-block", "start-up-only"].map((kind) => ({ kind, mutant: "1" }));
  const unrepeated = { kind: "unrepeated", mutant: "2", file: "src/a.test.ts" };
  const text = [...notes, unrepeated].map((note) => `${JSON.stringify(note)}\n`).join("");
  const folder = newFolder(test, { notes: text });
  deepEqual(describeNotes(readNotes(join(folder, "notes"))), [
    "2 open without a trial, because nothing noticed that the block around them was gone",
    "1 open that only the start of the service reaches, tried on two files",
    "1 failures not counted, because they did not repeat: src/a.test.ts",
  ]);
  deepEqual(describeNotes(readNotes(join(folder, "none"))), []);
});

const literal = { type: "StringLiteral" };
const call = (object: string, name: string, type = "CallExpression") => {
  const callee = {
    type: "MemberExpression",
    object: { type: "Identifier", name: object },
    property: { name },
  };
  return { node: literal, parent: { type, callee }, parentPath: null };
};

const thrown = (name: string) => ({
  node: literal,
  parent: { type: "NewExpression", callee: { type: "Identifier", name } },
  parentPath: { node: literal, parent: { type: "ThrowStatement" }, parentPath: null },
});

describe("a text", () => {
  it("of a log line is left alone, another argument is not", () => {
    equal(reasonToSkip(call("log", "warn")), "the text of a log line");
    equal(reasonToSkip(call("log", "warn", "OptionalCallExpression")), "the text of a log line");
    equal(reasonToSkip(call("log", "warn", "NewExpression")), undefined);
    equal(reasonToSkip(call("log", "child")), undefined);
    equal(reasonToSkip(call("catalog", "find")), undefined);
  });

  it("of a thrown Error is left alone, that of an error for people is not", () => {
    equal(reasonToSkip(thrown("Error")), "the text of a broken invariant");
    equal(reasonToSkip(thrown("ConfigError")), undefined);
  });
});

const property = (name: string, ...siblings: string[]) => {
  const object = {
    type: "ObjectExpression",
    properties: [name, ...siblings].map((key) => ({ type: "ObjectProperty", key: { name: key } })),
  };
  const parent = { type: "ObjectProperty", key: { name } };
  return { node: literal, parent, parentPath: { node: parent, parent: object, parentPath: null } };
};

describe("a property", () => {
  it("that names a statement or explains a metric is left alone, another is not", () => {
    equal(reasonToSkip(property("name", "text", "values")), "the name of a prepared statement");
    equal(reasonToSkip(property("help", "name")), "the text of a metric");
    equal(reasonToSkip(property("name", "help")), undefined);
    equal(reasonToSkip(property("text", "name")), undefined);
  });
});

const run = (test: TestContext, body: string, limitMs = 20_000) => {
  const text = `import { it } from "node:test"; it("does", async () => { ${body} }); it("goes on", () => {});`;
  return runTestFile(join(newFolder(test, { "one.test.mjs": text }), "one.test.mjs"), limitMs, {});
};

describe("a test file", () => {
  it("that passes, fails, ends its process or hangs is told apart", async (test) => {
    const passed = await run(test, "await new Promise((end) => setTimeout(end, 200))");
    ok(passed.kind === "passed" && passed.longestTestMs >= 190 && passed.longestTestMs < passed.tookMs);
    const failed = await run(test, "throw new Error('no')");
    deepEqual([failed.kind, "why" in failed && failed.why], ["failed", "does"]);
    equal("isLate" in failed && failed.isLate, false);
    const late = await run(test, "throw new Error('waited 4 s in vain for: x')");
    equal("isLate" in late && late.isLate, true);
    equal((await run(test, "process.exit(3)")).kind, "failed");
    const hanging = await run(test, "await new Promise(() => setInterval(() => 0, 1000))", 1500);
    equal(hanging.kind, "overdue");
  });
});
