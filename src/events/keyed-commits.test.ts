/** Groups of events with keys, and the lane beside them for keys that are held; on a database it is in test/held-keys.test.ts. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { isLockTimeout } from "../database/passing-errors.ts";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import { checkEvents } from "./checked-events.ts";
import { makeKeyedCommits, untilUnlocked, type KeyedCommits } from "./keyed-commits.ts";
import { openCatalog } from "./live-catalog.ts";

const catalog = (await openCatalog(undefined)).current();

function eventOf(id: string, tenantId = tenant("acme")): NewEvent {
  const [event] = checkEvents({ type: "invoice.paid", data: {}, id }, tenantId, catalog);
  assert.ok(event !== undefined);
  return event;
}

class LockTimeout extends Error {
  readonly code = "55P03";
}

const acceptedOf = ({ id }: NewEvent): AcceptedEvent => ({ id, dispatchCount: 1 });

/** Keys that a transaction holds. */
let held: Set<string>;
/** What was asked of the database: the keys, and how long they are waited for. */
let calls: [keys: string, lockWaitMs: number][];
let clock: VirtualClock;
let commits: KeyedCommits;
beforeEach(() => {
  clock = new VirtualClock();
  held = new Set();
  calls = [];
  commits = makeKeyedCommits(
    async (events, lockWaitMs) => {
      const keys = events.map(({ tenantId, idempotencyKey }) => `${tenantId}/${idempotencyKey}`);
      calls.push([keys.join(" "), lockWaitMs]);
      if (keys.some((key) => held.has(key))) throw new LockTimeout();
      return events.map(acceptedOf);
    },
    10,
    clock,
  );
});

/** Lets so much time pass, and all be done that is due. */
const pass = (ms = 0) => clock.runUntil(clock.nowMs() + ms);

/** What it answers without any time. */
async function atOnce<T>(work: Promise<T>): Promise<T> {
  await pass();
  return work;
}

describe("events whose keys are free", () => {
  it("are accepted together, in their order", async () => {
    const events = ["a", "b", "c"].map((key) => eventOf(key));
    const accepted = await atOnce(Promise.all(events.map((event) => commits.add(event))));
    assert.deepEqual(accepted, events.map(acceptedOf));
    assert.deepEqual(calls, [["acme/a acme/b acme/c", 100]]);
  });

  it("fail with their group when it fails by something else than a lock", async () => {
    const failing = makeKeyedCommits(() => Promise.reject(new Error("away")), 10, clock);
    const outcomes = await atOnce(Promise.allSettled([failing.add(eventOf("a")), failing.add(eventOf("b"))]));
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason)),
      ["Error: away", "Error: away"],
    );
  });

  it("are undefined where they were used before", async () => {
    const used = makeKeyedCommits(async (events) => events.map(() => undefined), 10, clock);
    assert.equal(await atOnce(used.add(eventOf("a"))), undefined);
  });
});

describe("a key that is held", () => {
  it("keeps its group a moment only: then each is accepted by itself, and it alone waits", async () => {
    held.add("acme/held");
    const free = Promise.all([commits.add(eventOf("a")), commits.add(eventOf("b"))]);
    const waiting = commits.add(eventOf("held"));
    await pass();
    assert.equal((await free).length, 2);
    assert.deepEqual(calls, [
      ["acme/a acme/b acme/held", 100],
      ["acme/a", 20],
      ["acme/b", 20],
      ["acme/held", 20],
    ]);
    held.clear();
    await pass(49);
    assert.equal(calls.length, 4);
    await pass(1);
    assert.deepEqual(calls.slice(4), [["acme/held", 20]]);
    assert.equal((await waiting)?.dispatchCount, 1);
  });

  it("goes straight to its own lane while it waits, and to the groups again when it is free", async () => {
    held.add("acme/held");
    const first = commits.add(eventOf("held"));
    await pass();
    const second = commits.add(eventOf("held"));
    await pass();
    const group = ["acme/held", 100];
    const single = ["acme/held", 20];
    assert.deepEqual(calls, [group, single, single]);
    // The same key of another tenant, and another key of the same, are not held.
    await atOnce(commits.add(eventOf("held", tenant("globex"))));
    assert.deepEqual(calls.at(-1), ["globex/held", 100]);
    calls.length = 0;
    held.clear();
    await pass(50);
    await Promise.all([first, second]);
    assert.deepEqual(calls, [single, single]);
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [group]);
  });

  it("stays held for the groups until the last of those that wait for it is done", async () => {
    held.add("acme/held");
    const first = commits.add(eventOf("held"));
    await pass(30);
    const second = commits.add(eventOf("held"));
    await pass();
    held.clear();
    await pass(20);
    await first;
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [["acme/held", 20]]);
    await pass(30);
    await second;
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [["acme/held", 100]]);
  });

  it("is its caller's to try again after five seconds, and is forgotten then", async () => {
    held.add("acme/held");
    const outcome = commits.add(eventOf("held")).then(
      () => "accepted",
      (error: unknown) => isLockTimeout(error),
    );
    for (let n = 0; n < 12; n++) await pass(500);
    assert.equal(await outcome, true);
    held.clear();
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [["acme/held", 100]]);
  });
});

describe("work that meets a lock", () => {
  it("is done again after 50, 100, 200, 400 and then 500 milliseconds each, until five seconds are over", async () => {
    const tries: number[] = [];
    let met = 0;
    const outcome = untilUnlocked(
      (lockWaitMs) => {
        assert.equal(lockWaitMs, 20);
        tries.push(clock.nowMs());
        return Promise.reject(new LockTimeout());
      },
      { met: () => met++, clock },
    ).catch((error: unknown) => error);
    await pass(10_000);
    assert.ok((await outcome) instanceof LockTimeout);
    assert.deepEqual(tries.slice(0, 7), [0, 50, 150, 350, 750, 1250, 1750]);
    assert.deepEqual(tries.slice(-2), [4750, 5250]);
    assert.equal(met, tries.length - 1);
  });

  it("may meet it for five seconds to the millisecond", async () => {
    let tries = 0;
    const outcome = untilUnlocked(
      async () => {
        if (tries++ > 0) return "done";
        await clock.wait(5000);
        throw new LockTimeout();
      },
      { clock },
    );
    await pass(6000);
    assert.deepEqual([await outcome, tries], ["done", 2]);
  });

  it("fails at once by anything else", async () => {
    let tries = 0;
    const work = () => {
      tries++;
      return Promise.reject(new Error("away"));
    };
    await assert.rejects(untilUnlocked(work), /^Error: away$/);
    assert.equal(tries, 1);
  });
});
