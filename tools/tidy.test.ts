import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BREAKS, proveRules } from "./check-directions.ts";
import { checkText } from "./tidy.ts";

describe("checkText", () => {
  it("refuses every way to read the environment outside of src/config.ts", () => {
    const ways = [
      "process.env.HOME",
      "process?.env",
      'process["env"]',
      'import { env } from "node:process";',
      "const { env } = process;",
    ];
    for (const way of ways) assert.equal(checkText("src/events/publish.ts", way).length, 1, way);
    for (const file of ["src/config.ts", "tools/test.ts", "src/events/publish.test.ts"]) {
      assert.deepEqual(checkText(file, "process.env.HOME"), []);
    }
  });

  it("refuses notes for later, tests that run alone and tests switched off, naming the line", () => {
    assert.match(checkText("src/x.ts", "\n// TODO: more")[0] ?? "", /^src\/x\.ts:2 /);
    for (const call of ["it.only(", "describe.skip(", "test.todo("]) {
      assert.equal(checkText("src/x.test.ts", call).length, 1, call);
    }
  });

  it("refuses a file past 400 lines and takes one of 400", () => {
    assert.deepEqual(checkText("src/x.ts", "\n".repeat(400)), []);
    assert.equal(checkText("src/x.ts", "\n".repeat(401)).length, 1);
  });

  it("refuses a function past 60 lines wherever it stands, naming its line, its name and its length", () => {
    const body = `{${"\n".repeat(60)}}`;
    const ways = [
      `function long() ${body}`,
      `export async function* long() ${body}`,
      `const long = async () => ${body};`,
      `const long = function () ${body};`,
      `class X { async long() ${body} }`,
      `class X { #long() ${body} }`,
      `class X { get long() ${body} }`,
      `const x = { long() ${body} };`,
      `const x = { get long() ${body} };`,
      `const x = { long: () => ${body} };`,
    ];
    for (const way of ways) {
      const text = `#!/usr/bin/env node\n// ä → 😀\n${way}\n`;
      assert.deepEqual(
        checkText("src/x.ts", text),
        ["src/x.ts:3 long has 61 lines, at most 60: split it"],
        way,
      );
      assert.deepEqual(checkText("src/x.ts", text.replace("{\n", "{")), [], way);
    }
    assert.match(checkText("src/x.ts", `class X { constructor() ${body} }`)[0] ?? "", /constructor has 61/);
  });

  it("counts functions with what is inside them, and a class by its methods", () => {
    const inner = `  function inner() {${"\n".repeat(30)}  }\n`;
    assert.match(
      checkText("src/x.ts", `function makeX() {\n${inner}${inner}}`)[0] ?? "",
      /:1 makeX has 64 lines/,
    );
    assert.deepEqual(checkText("src/x.ts", `class X {\n${inner}${inner}}`.replaceAll("function ", "")), []);
  });

  it("excepts lists of routes and of metrics by name, and looks only at the service's own sources", () => {
    const body = `() {${"\n".repeat(60)}}`;
    for (const name of ["endpointRoutes", "makeMetrics"])
      assert.deepEqual(checkText("src/x.ts", `export function ${name}${body}`), []);
    for (const name of ["makeRoutesOf", "Routes", "makeMetricsToo"])
      assert.equal(checkText("src/x.ts", `export function ${name}${body}`).length, 1);
    for (const file of ["src/x.test.ts", "test/x.ts", "tools/x.ts"])
      assert.deepEqual(checkText(file, `function long${body}`), []);
  });
});

describe("the rules of direction", () => {
  it("each see the break that is seeded for them, and let pass what is allowed", () => {
    assert.ok(BREAKS.length > 0);
    assert.deepEqual(proveRules(), []);
  });
});
