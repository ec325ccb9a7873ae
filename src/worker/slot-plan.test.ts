import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SLOT_COUNT, type Slot, type SlotTable } from "../queue/slots.ts";
import { SilentWorkers } from "./silent-workers.ts";
import { planSlots } from "./slot-plan.ts";

const NOBODY = new Set<string>();

/** A table in which these workers have these numbers of slots, the first ones, and the rest are free. */
function tableOf(...workers: [id: string, slots: number][]): SlotTable {
  const owners = workers.flatMap(([id, slots]) => Array.from({ length: slots }, () => id));
  return {
    slots: Array.from({ length: SLOT_COUNT }, (_, slot) => ({ slot, owner: owners[slot] ?? null, term: 0 })),
    workers: workers.map(([id]) => ({ id, seenAt: "now", isHeld: true, isGone: false })),
  };
}

/** Slots after one another, round the end. */
function from(first: number, length: number): Slot[] {
  return Array.from({ length }, (_, n) => (first + n) % SLOT_COUNT);
}

function heldBy(id: string, { slots }: SlotTable): Set<Slot> {
  return new Set(slots.filter(({ owner }) => owner === id).map(({ slot }) => slot));
}

function planOf(id: string, table: SlotTable, silent = NOBODY) {
  return planSlots(table, id, { held: heldBy(id, table), silent });
}

describe("the plan of a worker's slots", () => {
  it("is all of them for a worker that is alone", () => {
    assert.equal(planOf("a", tableOf(["a", 0])).take.length, 256);
    assert.deepEqual(planOf("a", tableOf(["a", 256])), { take: [], leave: [], isShort: false });
  });

  it("is nothing for a worker that the others do not see", () => {
    assert.deepEqual(planOf("a", tableOf(["b", 3])), { take: [], leave: [], isShort: false });
  });

  it("is its part: the surplus is given back, and what is missing is taken from what is free", () => {
    const table = tableOf(["a", 256], ["b", 0]);
    assert.equal(planOf("a", table).leave.length, 128);
    assert.deepEqual(planOf("b", table), { take: [], leave: [], isShort: true });
    assert.equal(planOf("b", tableOf(["a", 128], ["b", 0])).take.length, 128);
  });

  it("begins elsewhere for each worker, and goes round, so that those that look at once take others", () => {
    const table = tableOf(["a", 0], ["b", 0], ["c", 0]);
    const takenBy = (id: string) => planOf(id, table).take.map(({ slot }) => slot);
    assert.deepEqual(takenBy("a"), from(0, 86));
    assert.deepEqual(takenBy("b"), from(85, 85));
    assert.deepEqual(takenBy("c"), from(170, 85));
    // With the others' slots gone, the last one finds its own behind the end.
    const rest = { ...table, slots: table.slots.filter(({ slot }) => slot < 20 || slot >= 250) };
    assert.deepEqual(
      planOf("c", rest).take.map(({ slot }) => slot),
      from(250, 26),
    );
  });

  it("gives back the lowest of what it has too many of, in whatever order it took them", () => {
    const table = tableOf(["a", 256], ["b", 0]);
    const held = new Set([...heldBy("a", table)].toReversed());
    const { leave } = planSlots(table, "a", { held, silent: NOBODY });
    assert.deepEqual(
      leave,
      Array.from({ length: 128 }, (_, slot) => slot),
    );
  });

  it("is short by one slot, and is not with all of its part", () => {
    assert.ok(planOf("a", tableOf(["a", 127], ["b", 129])).isShort);
    assert.deepEqual(planOf("a", tableOf(["a", 128], ["b", 128])), { take: [], leave: [], isShort: false });
  });

  it("adds to what it has only what is missing of its part", () => {
    const plan = planOf("a", tableOf(["a", 100], ["b", 0]));
    assert.deepEqual([plan.take.length, plan.leave, plan.isShort], [28, [], false]);
  });

  it("counts this worker itself, whatever others may think of it", () => {
    const table = tableOf(["a", 0], ["b", 0]);
    const workers = table.workers.map((worker) => ({ ...worker, isHeld: worker.id !== "a" }));
    assert.equal(planOf("a", { ...table, workers }).take.length, 128);
    assert.equal(planOf("a", table, new Set(["a"])).take.length, 128);
  });

  it("ranks by id, in whatever order the workers are read", () => {
    const table = tableOf(["a", 0], ["b", 0]);
    const turned = { ...table, workers: table.workers.toReversed() };
    assert.deepEqual(planOf("b", turned), planOf("b", table));
  });

  it("adds up to all slots, whatever the number of workers", () => {
    for (let count = 1; count <= 300; count++) {
      const ids = Array.from({ length: count }, (_, n) => `worker-${n}`);
      const table = tableOf(...ids.map((id): [string, number] => [id, 0]));
      const sizes = ids.map((id) => planOf(id, table).take.length);
      assert.equal(
        sizes.reduce((sum, size) => sum + size, 0),
        256,
      );
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }
  });

  it("takes what silent workers and workers without a row have", () => {
    const table = tableOf(["a", 100], ["b", 156]);
    assert.equal(planOf("a", table, new Set(["b"])).take.length, 156);
    const without = { ...table, workers: table.workers.filter(({ id }) => id === "a") };
    assert.equal(planOf("a", without).take.length, 156);
  });

  it("counts no worker without its lock, but leaves it what it has until it is silent", () => {
    const table = tableOf(["a", 100], ["b", 56]);
    const workers = table.workers.map((worker) => ({ ...worker, isHeld: worker.id !== "b" }));
    const { take, isShort } = planOf("a", { ...table, workers });
    assert.deepEqual([take.filter(({ owner }) => owner !== null), take.length, isShort], [[], 100, true]);
    assert.equal(planOf("a", { ...table, workers }, new Set(["b"])).take.length, 156);
  });

  it("first takes its own again, of which it knows nothing any more", () => {
    const table = tableOf(["a", 128], ["b", 128]);
    const { take, leave } = planSlots(table, "b", { held: new Set(), silent: NOBODY });
    assert.deepEqual([take.map(({ owner }) => owner), leave], [Array.from({ length: 128 }, () => "b"), []]);
    // Each once, and then what is free.
    const some = planSlots(tableOf(["a", 128], ["b", 100]), "b", { held: new Set(), silent: NOBODY });
    assert.deepEqual(
      some.take.map(({ slot }) => slot),
      from(128, 128),
    );
    // All of them, also where it has its part by then: it gives back the rest.
    const held = new Set(from(0, 64));
    const more = planSlots(tableOf(["a", 200], ["b", 56]), "a", { held, silent: NOBODY });
    assert.deepEqual([more.take.length, more.leave], [136, from(0, 64)]);
  });
});

const seen = (seenAt: string, isGone = false) => [{ id: "a", seenAt, isHeld: !isGone, isGone }];

describe("a worker", () => {
  it("is silent when one observer has read the same sign of life for four seconds", () => {
    const workers = new SilentWorkers();
    assert.deepEqual(workers.note(seen("1"), { askedAtMs: 0, answeredAtMs: 100 }), NOBODY);
    assert.deepEqual(workers.note(seen("1"), { askedAtMs: 4099, answeredAtMs: 4099 }), NOBODY);
    assert.deepEqual(workers.note(seen("1"), { askedAtMs: 4100, answeredAtMs: 4100 }), new Set(["a"]));
    assert.deepEqual(workers.note(seen("2"), { askedAtMs: 4200, answeredAtMs: 4200 }), NOBODY);
  });

  it("is not silent because an answer took long", () => {
    const workers = new SilentWorkers();
    workers.note(seen("1"), { askedAtMs: 0, answeredAtMs: 0 });
    assert.deepEqual(workers.note(seen("1"), { askedAtMs: 1000, answeredAtMs: 9000 }), NOBODY);
  });

  it("is not silent by what was seen before a break", () => {
    const workers = new SilentWorkers();
    workers.note(seen("1"), { askedAtMs: 0, answeredAtMs: 0 });
    workers.forget();
    assert.deepEqual(workers.note(seen("1"), { askedAtMs: 9000, answeredAtMs: 9000 }), NOBODY);
  });

  it("is silent at once when its lock and its last sign of life are long gone", () => {
    const workers = new SilentWorkers();
    assert.deepEqual(workers.note(seen("1", true), { askedAtMs: 0, answeredAtMs: 0 }), new Set(["a"]));
  });
});
