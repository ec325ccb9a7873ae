import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isForgotten } from "../../test/support/forgotten.ts";
import { makeGate } from "./gate.ts";

const KEYS = ["one", "two"] as const;

describe("a gate", () => {
  it("starts at once what a key has room for, and the rest in its order as others leave", () => {
    const started: string[] = [];
    const gate = makeGate<string, string>(2, (item) => void started.push(item));
    for (const item of ["a", "b", "c", "d"]) gate.enter("one", item);
    gate.enter("two", "x");
    assert.deepEqual(started, ["a", "b", "x"]);
    gate.leave("one", "b");
    assert.deepEqual(started, ["a", "b", "x", "c"]);
  });

  it("releases each place, in any order and however often: none is lost, none is given twice", () => {
    const step = fc.record({ key: fc.constantFrom(...KEYS), leaves: fc.boolean(), which: fc.nat(20) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 60, size: "max" }),
        (limit, steps) => {
          const started = new Set<string>();
          const inside = new Map<string, string[]>(KEYS.map((key) => [key, []]));
          const gate = makeGate<string, string>(limit, (item) => void started.add(item));
          for (const [n, { key, leaves, which }] of steps.entries()) {
            const items = inside.get(key) ?? [];
            const leaving = leaves ? items[which % Math.max(1, items.length)] : undefined;
            if (leaving === undefined) {
              items.push(`${key}-${n}`);
              gate.enter(key, `${key}-${n}`);
            } else {
              items.splice(items.indexOf(leaving), 1);
              gate.leave(key, leaving);
              // A second time, as by a late caller, and in an empty key.
              gate.leave("nobody", leaving);
            }
            for (const here of inside.values()) {
              const running = here.filter((item) => started.has(item));
              assert.equal(running.length, Math.min(limit, here.length));
              assert.deepEqual(running, here.slice(0, running.length));
            }
          }
        },
      ),
    );
  });

  it("forgets a key that nothing is under way for", async () => {
    const gate = makeGate<object, string>(1, () => undefined);
    assert.equal(
      await isForgotten((key) => {
        for (const item of ["a", "b"]) gate.enter(key, item);
        for (const item of ["a", "b"]) gate.leave(key, item);
      }),
      true,
    );
    assert.equal(await isForgotten((key) => gate.enter(key, "a")), false);
    // Used once more, so that it is there until then.
    gate.enter({}, "a");
  });
});
