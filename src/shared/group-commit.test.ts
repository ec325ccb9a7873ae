import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { GroupCommit } from "./group-commit.ts";

/** A flush that the test ends by hand. */
function manualFlush() {
  const flushes: { items: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const flush = (items: number[]): Promise<string[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    flushes.push({ items, end: () => resolve(items.map(String)), fail: reject });
    return promise;
  };
  return { flushes, flush };
}

/** A turn of the event loop in which no time passes. */
function ownTime() {
  const clock = new VirtualClock();
  return { clock, turn: () => clock.runUntil(clock.nowMs()) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("GroupCommit", () => {
  it("answers each item its own result, in whatever groups they go", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer(), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 3 }),
        async (items, maxItems, maxConcurrent) => {
          let running = 0;
          const group = new GroupCommit<number, string>(
            async (given) => {
              running++;
              assert.ok(given.length <= maxItems && running <= maxConcurrent);
              await turn();
              running--;
              return given.map(String);
            },
            { maxItems, maxConcurrent },
          );
          assert.deepEqual(await Promise.all(items.map((item) => group.add(item))), items.map(String));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("makes groups as heavy as allowed, and an item that weighs more a group of its own", async () => {
    const weights = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 40, size: "max" });
    const limits = fc.record({
      maxItems: fc.integer({ min: 1, max: 6 }),
      most: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(weights, limits, async (items, { maxItems, most }) => {
        const groups: number[][] = [];
        const flush = async (given: number[]) => {
          groups.push(given);
          return given;
        };
        const weigh = { of: (item: number) => item, most };
        const group = new GroupCommit<number, number>(flush, { maxItems, maxConcurrent: 1, weigh });
        await Promise.all(items.map((item) => group.add(item)));
        assert.deepEqual(groups.flat(), items);
        for (const [index, one] of groups.entries()) {
          const weight = one.reduce((sum, item) => sum + item, 0);
          assert.ok(one.length <= maxItems && (weight <= most || one.length === 1));
          const next = groups[index + 1]?.[0];
          // It has no room for the next.
          if (next !== undefined) assert.ok(one.length === maxItems || weight + next > most);
        }
      }),
    );
  });

  it("gathers while a flush runs, and flushes that group when it ends", async () => {
    const { flushes, flush } = manualFlush();
    const group = new GroupCommit(flush, { maxItems: 10, maxConcurrent: 1 });
    const first = group.add(1);
    await turn();
    const rest = [group.add(2), group.add(3)];
    await turn();
    assert.deepEqual(
      flushes.map(({ items }) => items),
      [[1]],
    );
    flushes[0]?.end();
    assert.equal(await first, "1");
    await turn();
    assert.deepEqual(
      flushes.map(({ items }) => items),
      [[1], [2, 3]],
    );
    flushes[1]?.end();
    assert.deepEqual(await Promise.all(rest), ["2", "3"]);
  });

  it("fails the items of a failed flush, and no others", async () => {
    const { flushes, flush } = manualFlush();
    const group = new GroupCommit(flush, { maxItems: 1, maxConcurrent: 2 });
    const results = [group.add(1), group.add(2), group.add(3)];
    const settled = Promise.allSettled(results);
    await turn();
    flushes[0]?.fail(new Error("no database"));
    flushes[1]?.end();
    await turn();
    flushes[2]?.end();
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ["rejected", "fulfilled", "fulfilled"],
    );
  });

  it("takes a flush that answers too little for a fault of the whole group", async () => {
    const group = new GroupCommit<number, string>(async () => ["only one"], {
      maxItems: 2,
      maxConcurrent: 1,
    });
    const settled = await Promise.allSettled([group.add(1), group.add(2)]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ["rejected", "rejected"],
    );
  });

  it("rests after a flush, however that ended, and gathers meanwhile", async () => {
    const { clock, turn } = ownTime();
    const { flushes, flush } = manualFlush();
    const group = new GroupCommit(flush, { maxItems: 10, maxConcurrent: 1, rest: { ms: 5, from: 1 } }, clock);
    const first = group.add(1);
    await turn();
    flushes[0]?.fail(new Error("once"));
    await assert.rejects(first, /once/);
    const rest = [group.add(2), group.add(3)];
    await turn();
    assert.equal(flushes.length, 1);
    await clock.runUntil(5);
    assert.deepEqual(flushes[1]?.items, [2, 3]);
    flushes[1]?.end();
    assert.deepEqual(await Promise.all(rest), ["2", "3"]);
  });

  it("rests after a flush of many items alone", async () => {
    const { clock, turn } = ownTime();
    const { flushes, flush } = manualFlush();
    const group = new GroupCommit(flush, { maxItems: 10, maxConcurrent: 1, rest: { ms: 5, from: 2 } }, clock);
    const flushed = () => flushes.map(({ items }) => items.length);
    const endLast = async (): Promise<void> => {
      flushes.at(-1)?.end();
      await turn();
    };
    void group.add(1);
    await turn();
    void group.add(2);
    await endLast();
    assert.deepEqual(flushed(), [1, 1]);
    void group.add(3);
    void group.add(4);
    await endLast();
    assert.deepEqual(flushed(), [1, 1, 2]);
    void group.add(5);
    await endLast();
    assert.deepEqual(flushed(), [1, 1, 2]);
    await clock.runUntil(5);
    assert.deepEqual(flushed(), [1, 1, 2, 1]);
  });

  it("ends a rest early once those who were answered are back", async () => {
    const { clock, turn } = ownTime();
    const { flushes, flush } = manualFlush();
    const rest = { ms: 5, from: 2, endsWhenBack: true } as const;
    const group = new GroupCommit(flush, { maxItems: 10, maxConcurrent: 1, rest }, clock);
    const flushed = () => flushes.map(({ items }) => items.length);
    void group.add(1);
    void group.add(2);
    await turn();
    void group.add(3);
    flushes[0]?.end();
    await turn();
    void group.add(4);
    await turn();
    assert.deepEqual(flushed(), [2]);
    void group.add(5);
    await turn();
    assert.deepEqual(flushed(), [2, 3]);
    flushes[1]?.end();
    await turn();
    void group.add(6);
    // The first rest's end comes late, and is not the second's.
    await turn();
    assert.deepEqual(flushed(), [2, 3]);
    await clock.runUntil(5);
    assert.deepEqual(flushed(), [2, 3, 1]);
  });

  it("ends a rest early also behind the time of an earlier one that had ended early", async () => {
    const { clock, turn } = ownTime();
    const { flushes, flush } = manualFlush();
    const rest = { ms: 5, from: 1, endsWhenBack: true } as const;
    const group = new GroupCommit(flush, { maxItems: 10, maxConcurrent: 1, rest }, clock);
    const flushed = () => flushes.map(({ items }) => items.length);
    void group.add(1);
    await turn();
    flushes[0]?.end();
    await turn();
    void group.add(2);
    await turn();
    assert.deepEqual(flushed(), [1, 1]);
    await clock.runUntil(3);
    flushes[1]?.end();
    await turn();
    // The first rest would have ended.
    await clock.runUntil(5);
    void group.add(3);
    await turn();
    assert.deepEqual(flushed(), [1, 1, 1]);
  });
});
