/** A worker's slots step by step: what it asks of the table, and what it tells its worker. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { MemorySlots } from "../../test/support/memory-slots.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { dispatches, endpointIn, tenantId } from "../../test/support/worker-at-hand.ts";
import type { InFlight, Slot, SlotStore } from "../queue/slots.ts";
import { SlotKeeper } from "./slot-keeper.ts";

const from = (first: Slot, length: number): Slot[] => Array.from({ length }, (_, n) => first + n);

describe("the slots of a worker", () => {
  let clock: VirtualClock;
  let table: MemorySlots;
  let store: SlotStore;
  let keeper: SlotKeeper;
  let kept: ReturnType<typeof makeKeptLog>;
  let isConfirmed: boolean;
  let unbrokenSince: number;
  let confirm: () => void;
  let steps: string[];
  let inFlight: InFlight[];
  let arriving: () => Promise<void>;

  beforeEach(() => {
    [clock, kept, isConfirmed, unbrokenSince, steps, inFlight] = [
      new VirtualClock(),
      makeKeptLog(),
      true,
      0,
      [],
      [],
    ];
    arriving = async () => undefined;
    table = new MemorySlots(clock);
    table.confirm("me", true);
    const stored = table.storeOf("me", { clock });
    store = {
      ...stored,
      read: () => noted("read", stored.read()),
      take: (slots) => noted(`take ${slots.length}`, stored.take(slots)),
      leave: (slots, flying) =>
        noted(`leave ${slots.length}, ${flying.size} in flight`, stored.leave(slots, flying)),
      retire: () => noted("retire", stored.retire()),
      ask: () => noted("ask", stored.ask()),
    };
    const listeners: (() => void)[] = [];
    keeper = new SlotKeeper(
      {
        store,
        clock,
        log: kept.log,
        presence: {
          isConfirmed: () => isConfirmed,
          unbrokenSince: () => unbrokenSince,
          whenConfirmed: (listener) => void listeners.push(listener),
          covers: () => true,
        },
      },
      {
        arrive: (slots) => noted(`arrive ${slots.length}`, arriving()),
        ready: () => void steps.push("ready"),
        leave: async (isLeaving) => {
          const leaving = from(0, 256).filter((slot) => isLeaving(slot));
          steps.push(`empty ${leaving[0]} to ${leaving.at(-1)}`);
          return inFlight;
        },
      },
    );
    confirm = () => listeners.forEach((listener) => listener());
  });

  function noted<T>(step: string, work: Promise<T>): Promise<T> {
    steps.push(step);
    return work;
  }

  /** What it does in a look, or in several. */
  async function look(): Promise<string[]> {
    steps = [];
    confirm();
    await clock.runUntil(clock.nowMs() + 100);
    return steps;
  }

  const owned = (): Slot[] => from(0, 256).filter((slot) => keeper.owned().has(slot));

  function addWorker(): void {
    table.confirm("other", true);
  }

  it("arrive once they are taken, and are its own when they have", async () => {
    const arrived = Promise.withResolvers<void>();
    arriving = () => arrived.promise;
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256"]);
    assert.deepEqual([owned(), keeper.count], [[], 0]);
    arrived.resolve();
    await clock.runUntil(200);
    assert.deepEqual(steps, ["read", "take 256", "arrive 256", "ready"]);
    assert.deepEqual([owned(), keeper.count], [from(0, 256), 256]);
    assert.ok(keeper.owns(endpointIn(5)));
    assert.deepEqual(await look(), ["read"]);
  });

  it("are given back to a worker that comes, empty, with what is still in flight", async () => {
    await look();
    addWorker();
    const [one, two] = dispatches(2);
    assert.ok(one && two);
    inFlight = [one, two, { ...one, endpointId: endpointIn(3) }].map(({ endpointId, id, leaseId }) => ({
      tenantId,
      endpointId,
      id,
      leaseId,
    }));
    assert.deepEqual(await look(), ["read", "empty 0 to 127", "leave 128, 2 in flight"]);
    assert.deepEqual(owned(), from(128, 128));
    assert.deepEqual(
      [table.rows[1]?.inFlight, table.rows[3]?.inFlight],
      [inFlight.slice(0, 2), inFlight.slice(2)],
    );
  });

  it("that others took are emptied, which is told", async () => {
    await look();
    addWorker();
    for (const row of table.rows.slice(0, 128)) [row.owner, row.term] = ["other", row.term + 1];
    assert.deepEqual(await look(), ["read", "empty 0 to 127"]);
    assert.deepEqual([owned(), kept.lines], [from(128, 128), [{ level: 40, slots: 128 }]]);
    assert.deepEqual(await look(), ["read"]);
  });

  it("are asked for once while others have too many of them", async () => {
    addWorker();
    for (const row of table.rows) row.owner = "other";
    assert.deepEqual(await look(), ["read", "ask"]);
    assert.deepEqual(await look(), ["read"]);
    for (const row of table.rows.slice(0, 128)) row.owner = null;
    assert.deepEqual(await look(), ["read", "take 128", "arrive 128", "ready"]);
    for (const row of table.rows.slice(0, 128)) [row.owner, row.term] = ["other", row.term + 1];
    assert.deepEqual(await look(), ["read", "empty 0 to 127", "ask"]);
  });

  it("are looked at again after a look during which they changed, and not while the worker is unconfirmed", async () => {
    keeper.look();
    keeper.look();
    keeper.look();
    await clock.runUntil(100);
    assert.deepEqual(steps, ["read", "take 256", "arrive 256", "ready", "read"]);
    isConfirmed = false;
    assert.deepEqual([await look(), owned()], [[], []]);
    isConfirmed = true;
    assert.deepEqual([await look(), owned()], [["read"], from(0, 256)]);
  });

  it("are void after a break of its presence, until it has taken them again", async () => {
    await look();
    unbrokenSince = 50;
    assert.deepEqual(owned(), []);
    confirm();
    await clock.runUntil(clock.nowMs() + 1);
    assert.deepEqual(owned(), [], "before it has read what became of them");
    await clock.runUntil(clock.nowMs() + 100);
    assert.deepEqual([owned().length, table.rows[0]?.term], [256, 2]);
  });

  it("that others took during a break of its presence are theirs, and may come again", async () => {
    await look();
    unbrokenSince = 50;
    addWorker();
    for (const row of table.rows.slice(0, 128)) [row.owner, row.term] = ["other", row.term + 1];
    assert.deepEqual(await look(), ["read", "empty 0 to 127", "take 128", "arrive 128", "ready"]);
    assert.deepEqual([await look(), kept.lines], [["read"], [{ level: 40, slots: 128 }]]);
    table.workers.delete("other");
    assert.deepEqual(await look(), ["read", "take 128", "arrive 128", "ready"]);
  });

  it("come again after breaks during which the table can't be read", async () => {
    await look();
    const well = { ...store };
    store.read = () => noted("read", Promise.reject(new Error("away")));
    for (unbrokenSince of [50, 60]) assert.deepEqual(await look(), ["read"]);
    Object.assign(store, well);
    unbrokenSince = 70;
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256", "ready"]);
    assert.deepEqual(kept.lines, [{ level: 40, err: "away", times: 1 }]);
  });

  it("that are taken as its presence breaks are found by the next look", async () => {
    steps = [];
    confirm();
    await clock.runUntil(3);
    unbrokenSince = 3;
    await clock.runUntil(100);
    assert.deepEqual([steps, owned()], [["read", "take 256"], []]);
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256", "ready"]);
    assert.equal(owned().length, 256);
  });

  it("are taken again after an error as they arrived, which is told", async () => {
    arriving = () => Promise.reject(new Error("away"));
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256"]);
    assert.deepEqual([owned(), kept.lines], [[], [{ level: 40, err: "away", times: 1 }]]);
    arriving = async () => undefined;
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256", "ready"]);
    assert.equal(owned().length, 256);
  });

  it("are taken again after an error as they were given back, if others should not have them", async () => {
    await look();
    addWorker();
    store.leave = () => Promise.reject(new Error("away"));
    await look();
    assert.deepEqual([owned(), kept.lines], [from(128, 128), [{ level: 40, err: "away", times: 1 }]]);
    table.workers.delete("other");
    assert.deepEqual(await look(), ["read", "take 128", "arrive 128", "ready"]);
    assert.equal(owned().length, 256);
  });

  it("that it takes again are no reason to give back the others later", async () => {
    await look();
    addWorker();
    const well = { ...store };
    store.leave = () => Promise.reject(new Error("away"));
    await look();
    Object.assign(store, well);
    table.confirm("third", true);
    const [taken, left] = [
      ["take 128", "arrive 128", "ready"],
      ["empty 128 to 255", "leave 128, 0 in flight"],
    ];
    assert.deepEqual(await look(), ["read", ...taken, ...left]);
    assert.deepEqual(owned(), from(0, 128));
  });

  it("are all given back as it stops, and only then it takes part no more", async () => {
    await look();
    steps = [];
    const stopped = keeper.stop();
    await clock.runUntil(clock.nowMs() + 100);
    await stopped;
    assert.deepEqual(steps, ["read", "empty 0 to 255", "leave 256, 0 in flight", "retire"]);
    assert.deepEqual([owned(), keeper.count], [[], 0]);
    assert.deepEqual(await look(), []);
  });

  it("are looked at no more by one that stopped before it was confirmed: its database may be closed", async () => {
    isConfirmed = false;
    await keeper.stop();
    isConfirmed = true;
    assert.deepEqual(await look(), []);
  });

  it("are left to others that stand silent for less than four seconds", async () => {
    addWorker();
    for (const row of table.rows) row.owner = "other";
    assert.deepEqual(await look(), ["read", "ask"]);
    // What it saw before a break of its own does not count, whether it looked meanwhile or not.
    isConfirmed = false;
    await look();
    isConfirmed = true;
    await clock.runUntil(5000);
    assert.deepEqual(await look(), ["read"]);
    unbrokenSince = 8000;
    await clock.runUntil(9100);
    assert.deepEqual(await look(), ["read"]);
    await clock.runUntil(13_200);
    assert.deepEqual(await look(), ["read", "take 256", "arrive 256", "ready"]);
  });
});
