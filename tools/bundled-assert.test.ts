/** Assertions of the built program: as Node's, and without a look at the line of their call. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { build } from "esbuild";
import { bundledAssert } from "./bundled-assert.ts";

const SOURCE = `
import strict, { equal, ok } from "node:assert/strict";
import loose from "assert";
export const calls = {
  strict: () => strict(false),
  named: () => ok(0, "no rows"),
  given: () => loose.ok("", new TypeError("given")),
  strictEqual: () => equal(1, "1"),
  looseEqual: () => loose.equal(1, "1"),
};
`;

it("an assertion fails with its message, and is strict where the strict ones were asked for", async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname },
    plugins: [bundledAssert],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
  });
  const url = `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? "").toString("base64")}`;
  const { calls } = await import(url);
  const failed = { name: "AssertionError", code: "ERR_ASSERTION" };
  assert.throws(calls.strict, { ...failed, message: "an assertion does not hold" });
  assert.throws(calls.named, { ...failed, message: "no rows" });
  assert.throws(calls.given, { name: "TypeError", message: "given" });
  assert.throws(calls.strictEqual, failed);
  calls.looseEqual();
});
