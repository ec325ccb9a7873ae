import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as z from "zod";
import { canonical, digest, textOf, type Json } from "./json.ts";
import { expandMutants } from "./mutants.ts";
import { applyPatch } from "./patch.ts";
import { parseStrictText, StrictJsonError } from "./strict-json.ts";
import { readSuite } from "./suite-files.ts";

const folder = join(import.meta.dirname, "..", "..", "suites", "storage-lifecycle");

const vectors = z
  .object({
    canonical: z.array(
      z.object({ title: z.string(), text: z.string(), canonical: z.string(), sha256: z.string() }),
    ),
    refused: z.array(z.object({ title: z.string(), text: z.string() })),
  })
  .parse(JSON.parse(readFileSync(join(folder, "vectors", "canonical-json.json"), "utf8")));

const json = z.custom<Json>((value) => value !== undefined);
const group = z.object({
  check: z.string(),
  rule: z.string(),
  target: z.string(),
  patches: z.array(z.array(z.record(z.string(), json))),
});

describe("the suite's vectors of canonical JSON hold here too", () => {
  for (const { title, text, canonical: wanted, sha256 } of vectors.canonical) {
    it(title, () => {
      const value = parseStrictText(text);
      assert.deepEqual([canonical(value), digest(value)], [wanted, sha256]);
    });
  }
  for (const { title, text } of vectors.refused) {
    it(`refused: ${title}`, () => assert.throws(() => parseStrictText(text), StrictJsonError));
  }
});

describe("the suite's mutants, written out,", () => {
  it("are those that the generators make here, in every check", () => {
    const suite = readSuite(folder);
    const lines = readFileSync(join(folder, "negative", "mutants.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const written = Map.groupBy(
      lines.map((line) => group.parse(JSON.parse(line))),
      ({ check }) => check,
    );
    let compared = 0;
    for (const check of suite.checks) {
      const entries = z.array(z.record(z.string(), json)).parse(check["mutants"]);
      const made = entries
        .flatMap((entry) => expandMutants(entry, suite))
        .flatMap((mutant) => (mutant.target === "case" ? [`${mutant.caseId} ${digest(mutant.value)}`] : []));
      const given = (written.get(textOf(check["id"])) ?? []).flatMap(({ target, patches }) => {
        const original = suite.cases.get(target);
        if (original === undefined) return [];
        const steps = patches.filter((patch) => patch.every(({ op }) => op !== "lexeme"));
        return steps.map((patch) => `${target} ${digest(applyPatch(original, patch))}`);
      });
      assert.deepEqual(given.toSorted(), made.toSorted(), textOf(check["id"]));
      compared += made.length;
    }
    assert.ok(compared > 20_000);
  });
});
