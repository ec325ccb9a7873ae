/** Groups of events with keys, and the lane beside them for keys that are held; on a database it is in test/held-keys.test.ts. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { tenant } from "../../test/support/two-tenants.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { isLockTimeout } from "../database/passing-errors.ts";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import { checkEvents } from "./checked-events.ts";
import type { AcceptKeyed } from "./held-keys.ts";
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
    { maxItems: 10 },
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
    const failing = makeKeyedCommits(() => Promise.reject(new Error("away")), { maxItems: 10 }, clock);
    const outcomes = await atOnce(Promise.allSettled([failing.add(eventOf("a")), failing.add(eventOf("b"))]));
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason)),
      ["Error: away", "Error: away"],
    );
  });

  it("are undefined where they were used before", async () => {
    const used = makeKeyedCommits(async (events) => events.map(() => undefined), { maxItems: 10 }, clock);
    assert.equal(await atOnce(used.add(eventOf("a"))), undefined);
  });
});

it("groups weigh what they may, beside them too while a key is held", async () => {
  const tried: string[] = [];
  const heavy = makeKeyedCommits(
    async (events) => {
      const keys = events.map(({ idempotencyKey }) => idempotencyKey);
      tried.push(keys.join(" "));
      if (keys.includes("held")) throw new LockTimeout();
      return events.map(acceptedOf);
    },
    { maxItems: 10, weigh: { of: () => 4, most: 10 } },
    clock,
  );
  const addAll = () => Promise.all(["a", "b", "c", "d", "e"].map((key) => heavy.add(eventOf(key))));
  void addAll();
  await pass(10);
  const ofGroups = tried.splice(0);
  void heavy.add(eventOf("held")).catch(() => undefined);
  await pass(10);
  tried.length = 0;
  void addAll();
  await pass(10);
  assert.deepEqual(
    [ofGroups, tried],
    [
      ["a b", "c d", "e"],
      ["a b", "c d", "e"],
    ],
  );
});

describe("a key that is held", () => {
  const group = ["acme/held", 100];
  const again = ["acme/held", 2];

  it("keeps its group a moment only: then the others are accepted, and it alone waits", async () => {
    held.add("acme/held");
    const free = Promise.all([commits.add(eventOf("a")), commits.add(eventOf("b"))]);
    const waiting = commits.add(eventOf("held"));
    await pass();
    assert.equal((await free).length, 2);
    assert.deepEqual(calls, [
      ["acme/a acme/b acme/held", 100],
      ["acme/a acme/b acme/held", 2],
      ["acme/a", 2],
      ["acme/b", 2],
      again,
    ]);
    held.clear();
    await pass(49);
    assert.equal(calls.length, 5);
    await pass(1);
    assert.deepEqual(calls.slice(5), [again]);
    assert.equal((await waiting)?.dispatchCount, 1);
  });

  it("is tried with all that came for it, and lets its tenant into the groups again when it is free", async () => {
    held.add("acme/held");
    const first = commits.add(eventOf("held"));
    await pass();
    const second = commits.add(eventOf("held"));
    await pass();
    assert.deepEqual(calls, [group, again]);
    // The same key of another tenant, and another key of the same, are not held.
    await atOnce(commits.add(eventOf("held", tenant("globex"))));
    assert.deepEqual(calls.at(-1), ["globex/held", 100]);
    await atOnce(commits.add(eventOf("other")));
    assert.deepEqual(calls.at(-1), ["acme/other", 20]);
    calls.length = 0;
    held.clear();
    await pass(50);
    await Promise.all([first, second]);
    assert.deepEqual(calls, [["acme/held acme/held", 2]]);
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [group]);
  });

  it("is tried again after 50, 100, 200, 400 and then 500 milliseconds each", async () => {
    held.add("acme/held");
    const tries: number[] = [];
    const outcome = commits.add(eventOf("held")).catch(() => undefined);
    for (let n = 0; n < 1800; n++) {
      const before = calls.length;
      await pass(1);
      if (calls.length > before) tries.push(clock.nowMs());
    }
    assert.deepEqual(
      tries.slice(1),
      [50, 150, 350, 750, 1250, 1750].map((ms) => ms),
    );
    held.clear();
    await pass(500);
    assert.equal((await outcome)?.dispatchCount, 1);
  });

  it("is its caller's to try again after five seconds, and is forgotten then", async () => {
    held.add("acme/held");
    const outcome = commits.add(eventOf("held")).then(
      () => "accepted",
      (error: unknown) => isLockTimeout(error),
    );
    await pass(4800);
    const late = commits.add(eventOf("held"));
    for (let n = 0; n < 2; n++) await pass(500);
    assert.equal(await outcome, true);
    held.clear();
    await pass(500);
    assert.equal((await late)?.dispatchCount, 1);
    calls.length = 0;
    await atOnce(commits.add(eventOf("held")));
    assert.deepEqual(calls, [group]);
  });

  it("is forgotten with all that waited for it: then the tenant has no lane of its own, and the key is free", async () => {
    held.add("acme/held");
    const outcomes = [1, 2].map(() => commits.add(eventOf("held")).catch(isLockTimeout));
    for (let n = 0; n < 12; n++) await pass(500);
    assert.deepEqual(await Promise.all(outcomes), [true, true]);
    held.clear();
    calls.length = 0;
    const globex = eventOf("a", tenant("globex"));
    await atOnce(Promise.all([eventOf("held"), globex].map((event) => commits.add(event))));
    assert.deepEqual(calls, [["acme/held globex/a", 100]]);
  });

  it("fails by itself when it fails by something else, and with it all that came for it", async () => {
    held.add("acme/held");
    let isAway = false;
    const failing = makeKeyedCommits(
      async (events) => {
        if (isAway) throw new Error("away");
        if (events.some(({ idempotencyKey }) => idempotencyKey === "held")) throw new LockTimeout();
        return events.map(acceptedOf);
      },
      { maxItems: 10 },
      clock,
    );
    const outcome = failing.add(eventOf("held")).catch(String);
    await pass();
    isAway = true;
    await pass(50);
    assert.equal(await outcome, "Error: away");
    isAway = false;
    assert.deepEqual(await atOnce(failing.add(eventOf("a"))).then((one) => one?.dispatchCount), 1);
  });

  describe("while it is tried", () => {
    const WAKES_MS = 152;
    let result: "held" | "away" | "free";
    let tried: number[];
    /** Of the event that had the key, and of the one that comes for it meanwhile. */
    let ends: string[];
    let slow: KeyedCommits;
    beforeEach(async () => {
      [result, tried, ends] = ["held", [], []];
      slow = makeKeyedCommits(
        async (events, lockWaitMs) => {
          tried.push(events.length);
          await clock.wait(lockWaitMs);
          if (result === "held") throw new LockTimeout();
          if (result === "away") throw new Error("away");
          return events.map(acceptedOf);
        },
        { maxItems: 10 },
        clock,
      );
      add("first");
      await pass(WAKES_MS + 1);
      assert.deepEqual(tried, [1, 1, 1]);
      add("second");
    });

    function add(name: string): void {
      const accepted = slow.add(eventOf("held")).then(() => "accepted", String);
      void accepted.then((end) => ends.push(`${name}: ${end}`));
    }

    it("does not forget what comes for it, where it is still held", async () => {
      await pass(1);
      result = "free";
      await pass(100 + 2);
      assert.deepEqual(
        [tried, ends],
        [
          [1, 1, 1, 2],
          ["first: accepted", "second: accepted"],
        ],
      );
    });

    it("does not fail what comes for it with what it fails by, nor keep its tenant from the groups", async () => {
      result = "away";
      await pass(1);
      result = "free";
      await pass(20);
      assert.deepEqual(ends, ["first: Error: away", "second: accepted"]);
      for (const key of ["a", "b"]) void slow.add(eventOf(key));
      await pass();
      assert.deepEqual(tried, [1, 1, 1, 1, 2]);
    });
  });
});

describe("beside tenants that hold many keys and publish them all at once", () => {
  /** As PostgreSQL does: one try after another, and a key that is held is waited for. */
  const COMMIT_MS = 5;
  const HELD_A_TICK = 15;
  const TICKS_WITH_HELD = 20;
  const TICK_MS = 50;

  /** How long events waited whose keys are free, in milliseconds, and whether those were refused whose keys are held. */
  async function play(tenants: number) {
    const accept: AcceptKeyed = async (events, lockWaitMs) => {
      const meets = events.some(({ idempotencyKey }) => idempotencyKey?.startsWith("held") === true);
      await clock.wait(meets ? lockWaitMs : COMMIT_MS);
      if (meets) throw new LockTimeout();
      return events.map(acceptedOf);
    };
    const crowded = makeKeyedCommits(accept, { maxItems: 1000 }, clock);
    const refused: Promise<boolean>[] = [];
    const waits: number[] = [];
    const own: number[] = [];
    async function add(event: NewEvent): Promise<void> {
      const sinceMs = clock.nowMs();
      await crowded.add(event);
      (event.tenantId.startsWith("sick") ? own : waits).push(clock.nowMs() - sinceMs);
    }
    for (let n = 0; n < 100; n++) {
      for (let sick = 0; sick < tenants; sick++) {
        if (n >= TICKS_WITH_HELD) break;
        for (let key = 0; key < HELD_A_TICK; key++)
          refused.push(
            crowded.add(eventOf(`held ${n} ${key}`, tenant(`sick${sick}`))).then(() => false, isLockTimeout),
          );
        void add(eventOf(`free ${n}`, tenant(`sick${sick}`)));
      }
      for (const well of ["globex", "initech"]) void add(eventOf(`free ${n}`, tenant(well)));
      await pass(TICK_MS);
    }
    for (let n = 0; n < 200; n++) await pass(500);
    return { waits, own, refused: await Promise.all(refused) };
  }

  for (const tenants of [1, 2, 10]) {
    it(`${tenants} of them: others wait a moment, their own other events come through, and those with a held key are refused`, async () => {
      const { waits, own, refused } = await play(tenants);
      assert.equal(waits.length, 200);
      assert.deepEqual(
        [refused.length, new Set(refused)],
        [HELD_A_TICK * TICKS_WITH_HELD * tenants, new Set([true])],
      );
      assert.equal(own.length, TICKS_WITH_HELD * tenants);
      // The group that met the first key, and the tries that set its others free.
      assert.ok(Math.max(...waits) < 250, `${Math.max(...waits)} ms`);
    });
  }
});

describe("work that meets a lock", () => {
  it("is done again after 50, 100, 200, 400 and then 500 milliseconds each, until five seconds are over", async () => {
    const tries: number[] = [];
    const outcome = untilUnlocked((lockWaitMs) => {
      assert.equal(lockWaitMs, 20);
      tries.push(clock.nowMs());
      return Promise.reject(new LockTimeout());
    }, clock).catch((error: unknown) => error);
    await pass(10_000);
    assert.ok((await outcome) instanceof LockTimeout);
    assert.deepEqual(tries.slice(0, 7), [0, 50, 150, 350, 750, 1250, 1750]);
    assert.deepEqual(tries.slice(-2), [4750, 5250]);
  });

  it("may meet it for five seconds to the millisecond", async () => {
    let tries = 0;
    const outcome = untilUnlocked(async () => {
      if (tries++ > 0) return "done";
      await clock.wait(5000);
      throw new LockTimeout();
    }, clock);
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
