import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Mutation } from "../rules/mutations.ts";
import { gatherRowUpdates } from "./row-updates.ts";

const NOW = "2026-03-01T12:00:00.000Z";
const state = (id: string, revision: number): Mutation => ({
  op: "update",
  target: "row",
  id,
  field: "state",
  from: "pending",
  to: "available",
  revision,
});
const opening = (id: string, revision: number): Mutation => ({
  op: "update",
  target: "row",
  id,
  field: "available_at",
  from: null,
  to: NOW,
  revision,
});

describe("gatherRowUpdates", () => {
  it("makes one update of all that an operation asks of one row", () => {
    const both = gatherRowUpdates([state("a", 3), opening("a", 3), state("b", 1)]);
    assert.deepEqual(both, [
      {
        id: "a",
        revision: 3,
        state: { from: "pending", to: "available" },
        availableAt: { from: null, to: NOW },
        deadline: null,
      },
      {
        id: "b",
        revision: 1,
        state: { from: "pending", to: "available" },
        availableAt: null,
        deadline: null,
      },
    ]);
  });

  it("refuses two revisions of one row, and a field twice", () => {
    assert.throws(() => gatherRowUpdates([state("a", 3), opening("a", 4)]), /two revisions of object a/);
    assert.throws(() => gatherRowUpdates([state("a", 3), state("a", 3)]), /state of object a twice/);
  });
});
