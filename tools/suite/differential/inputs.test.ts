import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { join } from "node:path";
import { familyName } from "../families.ts";
import { produce } from "../judge.ts";
import { textOf, type Json } from "../json.ts";
import { walk } from "../patch.ts";
import { readSuite } from "../suite-files.ts";
import { GENERATORS } from "./inputs.ts";
import { Random } from "./random.ts";

const INPUTS = 4000;
const suite = readSuite(join(import.meta.dirname, "..", "..", "..", "suites", "storage-lifecycle"));

/** The words by which an output says what was decided. */
function wordsOf(output: Json): string[] {
  const names = new Set<string | number>([
    "code",
    "decision",
    "class",
    "status",
    "source",
    "limit",
    "rule",
    "type",
  ]);
  return [...walk(output)]
    .filter(({ path }) => names.has(path.at(-1) ?? ""))
    .map(({ value }) => textOf(value));
}

function somePages(seed: number) {
  const random = new Random(seed);
  return Array.from({ length: 50 }, () => GENERATORS.reconcile_objects(random));
}

describe("random inputs of the differential test", () => {
  for (const family of familyName.options) {
    it(`reach everything that the cases of ${family} show`, async () => {
      const wanted = new Set<string>();
      for (const one of suite.cases.values()) {
        const outputs = [...walk(one["expected"] ?? null)].filter(
          ({ path }) => path[0] === "output" && path.length === 1,
        );
        if (one["family"] === family)
          for (const { value } of outputs) for (const word of wordsOf(value)) wanted.add(word);
      }
      const random = new Random(1);
      for (let left = INPUTS; left > 0 && wanted.size > 0; left -= 1) {
        const { input, calls } = GENERATORS[family](random);
        const { result } = await produce(family, input, calls);
        for (const word of result === null ? [] : wordsOf(result.output)) wanted.delete(word);
      }
      assert.deepEqual([...wanted], []);
    });
  }

  it("are the same for the same seed", () => {
    assert.deepEqual(somePages(7), somePages(7));
  });
});
