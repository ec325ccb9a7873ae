import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

/** What V8 tells of collections that give memory back, in a process that only releases it. */
function collections(options: readonly string[]): string[] {
  const script = `(await import(${JSON.stringify(import.meta.resolve("./start-memory.ts"))})).releaseStartMemory()`;
  const { stdout } = spawnSync(
    process.execPath,
    [...options, "--trace-gc", "--input-type=module", "--eval", script],
    { encoding: "utf8" },
  );
  return stdout.split("\n").filter((line) => line.includes("Mark-Compact (reduce)"));
}

describe("the memory of a start", () => {
  it("is given back with the options of the program's first line", () => {
    const [firstLine = ""] = readFileSync(join(import.meta.dirname, "../main.ts"), "utf8").split("\n");
    const options = firstLine.split(" ").filter((word) => word.startsWith("--"));
    assert.ok(collections(options).length > 0);
  });

  it("stays where Node has no such option", () => {
    assert.deepEqual(collections([]), []);
  });
});
