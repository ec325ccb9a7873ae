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
});

describe("the rules of direction", () => {
  it("each see the break that is seeded for them, and let pass what is allowed", () => {
    assert.ok(BREAKS.length > 0);
    assert.deepEqual(proveRules(), []);
  });
});
