import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readAnswer, refusalOf } from "./host-answer.ts";

const row = { isStandby: false, isReadOnly: false, walFile: "0000000A0000000100000005", system: "71" };

describe("readAnswer", () => {
  it("reads the timeline of the log that is written, in hexadecimal", () => {
    assert.deepEqual(readAnswer(row), { isReadOnly: false, timeline: 10, system: "71" });
  });

  it("finds none at a standby", () => {
    assert.equal(readAnswer({ ...row, isStandby: true, walFile: null }).timeline, null);
  });
});

describe("refusalOf", () => {
  const answer = readAnswer(row);

  it("lets a primary be written to that is as new as what was seen, or newer, or the first", () => {
    for (const seen of [
      { system: null, timeline: 0 },
      { system: "71", timeline: 9 },
      { system: "71", timeline: 10 },
    ]) {
      assert.equal(refusalOf(answer, seen), null);
    }
  });

  it("refuses an older timeline, another cluster, a standby and a read-only server", () => {
    const seen = { system: "71", timeline: 10 };
    assert.match(
      refusalOf(answer, { ...seen, timeline: 11 }) ?? "",
      /^is on timeline 10, and a newer primary on timeline 11/,
    );
    assert.match(refusalOf({ ...answer, system: "72" }, seen) ?? "", /^belongs to another cluster/);
    assert.equal(refusalOf({ ...answer, isReadOnly: true, timeline: null }, seen), "is a standby");
    assert.equal(refusalOf({ ...answer, isReadOnly: true }, seen), "is read-only");
  });
});
