/**
 * The queue's contract beside transactions that hold a lock: `lockWaitMs`, and
 * "skip" or "wait" of `complete` and `hold`. In memory these have no meaning:
 * each verb is one step of one process, so there is never a lock to wait for or
 * a row to skip. So it has none of these cases.
 */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { DispatchQueue, LeasedDispatch } from "../../src/queue/queue.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { eventually } from "./eventually.ts";
import { keyed } from "./queue-contract-keys.ts";
import {
  eventFor,
  eventIds,
  newEndpointKey,
  outcomeOf,
  PLENTY,
  UNLEASED,
  type HeldLock,
  type QueueLocks,
  type QueueUnderTest,
} from "./queue-under-test.ts";
import type { EndpointKey } from "../../src/shared/id.ts";

/** Another transaction holds the lock meanwhile. */
async function whileHeld(held: Promise<HeldLock>, work: (lock: HeldLock) => Promise<void>): Promise<void> {
  const lock = await held;
  try {
    await work(lock);
  } finally {
    await lock.release();
  }
}

export function describeLocks(open: () => Promise<QueueUnderTest>, locks: QueueLocks): void {
  describe("beside transactions that hold locks", () => {
    let queue: DispatchQueue;
    let one: EndpointKey;
    let other: EndpointKey;

    beforeEach(async () => {
      const test = await open();
      queue = test.queue;
      [one, other] = [newEndpointKey(), newEndpointKey()];
      for (const endpoint of [one, other]) await test.addEndpoint(endpoint);
    });

    /** One of each endpoint. */
    async function leaseBoth(): Promise<[LeasedDispatch, LeasedDispatch]> {
      const { leased } = await queue.accept([eventFor(one), eventFor(other)], {
        lease: ALL_SLOTS,
        parked: [],
      });
      const [first, second] = leased;
      assert.ok(first !== undefined && second !== undefined && leased.length === 2);
      return [first, second];
    }

    // By the connections' own limit, six waits would take thirty seconds.
    const limit = { timeout: 29_000 };
    it(
      "waits only as long as it is told for a key that an open transaction holds, and accepts nothing then",
      limit,
      async () => {
        const [event, unkeyed] = [keyed(one, {}), eventFor(one)];
        await whileHeld(locks.claimKey(event), async () => {
          const options = { parked: [], lockWaitMs: 20 };
          for (let n = 0; n < 3; n++) {
            await assert.rejects(
              queue.accept([unkeyed, event], { lease: null, ...options }),
              locks.isLockWaitOver,
            );
            await assert.rejects(queue.acceptParts([[unkeyed], [event]], options), locks.isLockWaitOver);
          }
        });
        assert.deepEqual(await queue.findKnown([unkeyed, event]), new Set());
        const { accepted } = await queue.accept([unkeyed, event], UNLEASED);
        assert.deepEqual(
          accepted.map(({ id }) => id),
          [unkeyed.id, event.id],
        );
      },
    );

    it("accepts an event once the transaction that held its key is rolled back", async () => {
      const event = keyed(one, {});
      await whileHeld(locks.claimKey(event), async ({ isWaitedFor, release }) => {
        const accepting = queue.accept([event], { ...UNLEASED, lockWaitMs: 60_000 });
        await eventually(isWaitedFor);
        await release();
        assert.deepEqual((await accepting).accepted, [{ id: event.id, dispatchCount: 1 }]);
      });
    });

    it("waits for no key that another event has", async () => {
      await whileHeld(locks.claimKey(keyed(one, {}, "held")), async () => {
        const free = keyed(one, {}, "free");
        const { accepted } = await queue.accept([free], { ...UNLEASED, lockWaitMs: 20 });
        assert.deepEqual(accepted, [{ id: free.id, dispatchCount: 1 }]);
      });
    });

    for (const what of ["endpoint", "dispatch"] as const) {
      const lockOf = (dispatch: LeasedDispatch) =>
        what === "endpoint" ? locks.lockEndpoint(dispatch) : locks.lockDispatch(dispatch);

      it(`skips outcomes of a locked ${what}, and records those of others`, async () => {
        const both = await leaseBoth();
        const outcomes = both.map((dispatch) => outcomeOf(dispatch, 0));
        await whileHeld(lockOf(both[0]), async () => {
          assert.deepEqual(await queue.complete(outcomes, "skip"), new Set([both[1].id]));
        });
        assert.deepEqual(await queue.complete(outcomes, "skip"), new Set([both[0].id]));
        const next = (await queue.claim(PLENTY, [])).claimed;
        assert.deepEqual(new Set(eventIds(next)), new Set(eventIds(both)));
      });

      it(`holds no dispatch of a locked ${what} when it is to skip, but those of others`, async () => {
        const both = await leaseBoth();
        await whileHeld(lockOf(both[0]), async () => {
          assert.deepEqual(await queue.hold(both, "skip"), new Set([both[1].id]));
        });
        assert.deepEqual(await queue.hold(both, "skip"), new Set([both[0].id]));
      });

      it(`waits for a locked ${what} when it is not to skip`, async () => {
        for (const act of [
          ([first]: readonly LeasedDispatch[]) =>
            queue.complete(first === undefined ? [] : [outcomeOf(first, 0)], "wait"),
          (both: readonly LeasedDispatch[]) => queue.hold(both.slice(0, 1), "wait"),
        ]) {
          const both = await leaseBoth();
          await whileHeld(lockOf(both[0]), async ({ isWaitedFor, release }) => {
            const acting = act(both);
            await eventually(isWaitedFor);
            await release();
            assert.deepEqual(await acting, new Set([both[0].id]));
          });
        }
      });
    }

    it("records a last outcome without a look at its endpoint, however long that is locked", async () => {
      const [first] = await leaseBoth();
      await whileHeld(locks.lockEndpoint(first), async () => {
        assert.deepEqual(await queue.complete([outcomeOf(first, null)], "skip"), new Set([first.id]));
      });
    });

    it("claims, parks and pulls past a dispatch that is locked", async () => {
      const both = await leaseBoth();
      await queue.release(both, "claimable");
      await whileHeld(locks.lockDispatch(both[0]), async () => {
        await queue.park([one.endpointId]);
        await queue.parkOldest([one]);
        assert.deepEqual(await queue.findBacklogs(), []);
        const { claimed } = await queue.claim(PLENTY, []);
        assert.deepEqual(eventIds(claimed), [both[1].eventId]);
        await queue.release(claimed, "parked");
        const pulled = await queue.pull(
          [one, other].map((key) => Object.assign({ dispatches: 9, bodyBytes: 1e6 }, key)),
        );
        assert.deepEqual(
          [one, other].map(({ endpointId }) => eventIds(pulled.get(endpointId)?.claimed ?? [])),
          [[], [both[1].eventId]],
        );
      });
      assert.deepEqual(eventIds((await queue.claim(PLENTY, [])).claimed), [both[0].eventId]);
    });
  });
}
