import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { newEndpointId, parseEndpointId } from "../shared/id.ts";
import { ALL_SLOTS, NEIGHBOURS, NO_SLOTS, SLOT_COUNT, slotOf, SlotSet } from "./slots.ts";

const SLOTS = Array.from({ length: SLOT_COUNT }, (_, slot) => slot);
const GROUPS = Array.from({ length: SLOT_COUNT / NEIGHBOURS }, (_, group) => group);

describe("slotOf", () => {
  it("is the last byte of an endpoint's id", () => {
    const id = newEndpointId();
    for (const slot of SLOTS) {
      const ofSlot = parseEndpointId(id.slice(0, -2) + slot.toString(16).padStart(2, "0"));
      assert.ok(ofSlot !== null);
      assert.equal(slotOf(ofSlot), slot);
    }
  });
});

describe("a set of slots", () => {
  const slots = fc.uniqueArray(fc.integer({ min: 0, max: SLOT_COUNT - 1 }));

  it("has the slots that it was made of, whatever their order and number, and no others", () => {
    fc.assert(
      fc.property(slots, (given) => {
        const set = new SlotSet([...given, ...given]);
        assert.deepEqual(
          SLOTS.filter((slot) => set.has(slot)),
          given.toSorted((one, other) => one - other),
        );
        assert.equal(set.isEmpty, given.length === 0);
      }),
      { examples: [[[]], [[0]], [[7]], [[8]], [[255]], [[0, 255]], [SLOTS]] },
    );
  });

  it("has some of a group as soon as one of its neighbours is in it", () => {
    fc.assert(
      fc.property(slots, (given) => {
        const set = new SlotSet(given);
        const found = GROUPS.filter((group) => set.hasSomeOf(group));
        const expected = GROUPS.filter((group) =>
          given.some((slot) => Math.floor(slot / NEIGHBOURS) === group),
        );
        assert.deepEqual(found, expected);
      }),
      { examples: SLOTS.map((slot) => [[slot]]) },
    );
  });

  it("has the lowest bit of its first byte for slot 0, as the statements read it", () => {
    assert.equal(new SlotSet([0, 9, 255]).bits.toString("hex"), `0102${"00".repeat(29)}80`);
  });

  it("may be of none or of all", () => {
    assert.equal(NO_SLOTS.bits.toString("hex"), "00".repeat(32));
    assert.equal(ALL_SLOTS.bits.toString("hex"), "ff".repeat(32));
    assert.deepEqual([NO_SLOTS.isEmpty, ALL_SLOTS.isEmpty], [true, false]);
  });
});
