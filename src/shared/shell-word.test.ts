import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { it } from "node:test";
import * as fc from "fast-check";
import { shellWord } from "./shell-word.ts";

it("a word of a shell's line is the text again, and as it is where nothing in it is special", () => {
  assert.equal(shellWord("/var/lib/postern-2/demo.env"), "/var/lib/postern-2/demo.env");
  assert.equal(shellWord("a b"), "'a b'");
  const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("\0") && one.isWellFormed());
  const texts = fc.sample(text, 200).concat("", "it's", "$(id)", "~", "a\\b", "é\n", '"', "#", "!");
  const line = `printf '%s\\0' ${texts.map(shellWord).join(" ")}`;
  assert.deepEqual(execFileSync("sh", ["-c", line], { encoding: "utf8" }).split("\0").slice(0, -1), texts);
});
