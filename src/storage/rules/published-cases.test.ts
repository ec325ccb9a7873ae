/** The published suite, without its validator: what a change of a rule breaks shows here in a second. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { FAMILIES, familyName } from "../../../tools/suite/families.ts";
import { isObject, textOf, type Json } from "../../../tools/suite/json.ts";
import { judgeCase } from "../../../tools/suite/judge.ts";
import { expandMutants } from "../../../tools/suite/mutants.ts";
import { readSuite } from "../../../tools/suite/suite-files.ts";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "suites", "storage-lifecycle");
const suite = readSuite(FOLDER);
/** Of what generators make: the suite's own run judges all of it. */
const EVERY = 50;

const SCHEMAS = join(FOLDER, "schemas");
const schemaOf = (name: string) =>
  Object(JSON.parse(readFileSync(join(SCHEMAS, `${name}.schema.json`), "utf8")));
const { $defs: shared } = schemaOf("common");

/** Each whole number of an input, by where it is, with its least and its greatest value. */
function boundsIn(
  schema: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; least: number; most: number }[] {
  const { $ref, anyOf, properties = {}, minimum, maximum } = Object(schema);
  if (typeof $ref === "string") return boundsIn(shared[$ref.split("/").at(-1) ?? ""], path);
  if (Array.isArray(anyOf)) return anyOf.flatMap((one) => boundsIn(one, path));
  if (minimum !== undefined && maximum !== undefined) return [{ path, least: minimum, most: maximum }];
  return Object.entries(properties).flatMap(([name, member]) => boundsIn(member, [...path, name]));
}

function withNumber(input: unknown, [name = "", ...rest]: readonly string[], value: number): Json {
  return {
    ...Object(input),
    [name]: rest.length === 0 ? value : withNumber(Object(input)[name], rest, value),
  };
}

describe("the rules of storage", () => {
  it("take the numbers that their published schemas take, and no others", () => {
    let bounds = 0;
    for (const family of familyName.options) {
      const { input } = [...suite.cases.values()].find((one) => one["family"] === family) ?? assert.fail();
      for (const { path, least, most } of boundsIn(schemaOf(`families/${family}`).properties.input)) {
        const admitted = [least - 1, least, most, most + 1].map((value) =>
          FAMILIES[family].admits(withNumber(input, path, value)),
        );
        assert.deepEqual(admitted, [false, true, true, false], `${family} ${path.join(".")}`);
        bounds++;
      }
    }
    assert.ok(bounds > 10, String(bounds));
  });

  for (const family of familyName.options) {
    it(`answer the published cases of ${family}`, async () => {
      const cases = [...suite.cases.values()].filter((one) => one["family"] === family);
      assert.ok(cases.length > 0);
      for (const one of cases) assert.equal((await judgeCase(one)).message, null, textOf(one["id"]));
    });
  }

  it("answer otherwise, or refuse, where a case is altered", async () => {
    const entries = suite.checks.flatMap(({ mutants }) =>
      Array.isArray(mutants) ? mutants.filter(isObject) : [],
    );
    let judged = 0;
    for (const entry of entries.filter(({ rule }) => textOf(rule).startsWith("C-"))) {
      const every = entry["generator"] === undefined ? 1 : EVERY;
      for (const [index, mutant] of expandMutants(entry, suite).entries()) {
        if (mutant.target !== "case" || index % every !== 0) continue;
        const { rules } = await judgeCase(mutant.value);
        assert.ok(
          rules.some((rule) => rule === entry["rule"]),
          `${textOf(entry["title"])} ${index}`,
        );
        judged++;
      }
    }
    assert.ok(judged > 400, String(judged));
  });
});
