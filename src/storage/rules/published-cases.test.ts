/** The published suite, without its validator: what a change of a rule breaks shows here in a second. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { familyName } from "../../../tools/suite/families.ts";
import { isObject, textOf } from "../../../tools/suite/json.ts";
import { judgeCase } from "../../../tools/suite/judge.ts";
import { expandMutants } from "../../../tools/suite/mutants.ts";
import { readSuite } from "../../../tools/suite/suite-files.ts";

const suite = readSuite(join(import.meta.dirname, "..", "..", "..", "suites", "storage-lifecycle"));
/** Of what generators make: the suite's own run judges all of it. */
const EVERY = 50;

describe("the rules of storage", () => {
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
