/** Clients of pull endpoints that wait for events: when they look, what ends their wait, and how many may. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, type TestContext } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { idsOf, openFetchesAtHand, type FetchesAtHand } from "../../test/support/fetches-at-hand.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { DeliveryId } from "../shared/id.ts";

const NEVER = new AbortController().signal;

let opened: Awaited<ReturnType<typeof openFetchesAtHand>>;
let hand: FetchesAtHand;
before(async () => {
  opened = await openFetchesAtHand();
});
after(() => opened.close());
beforeEach(async () => {
  hand = await opened.begin();
});

const clock = (test: TestContext) => test.mock.method(performance, "now", () => hand.waits.nowMs);

describe("a client that waits", () => {
  it("watches before it looks, looks again when it is woken, and gets what came", async (test) => {
    clock(test);
    let id: DeliveryId | undefined;
    hand.waits.during = async () => {
      hand.waits.nowMs += 10;
      id = await hand.offer();
    };
    assert.deepEqual(idsOf(await hand.lease({ waitMs: 5000 })), [id]);
    assert.deepEqual(hand.waits.steps, ["watch", "look", 5000, "look", "end"]);
  });

  it("gets nothing when its time is over, after one last look", async (test) => {
    clock(test);
    assert.equal(await hand.lease({ waitMs: 5000 }), null);
    assert.deepEqual(hand.waits.steps, ["watch", "look", 5000, "look", "end"]);
  });

  it("waits no longer than until the next one is due", async (test) => {
    clock(test);
    const id = await hand.offer();
    await hand.sql("UPDATE postern.dispatches SET claimable_at = now() + interval '20 s'");
    hand.waits.during = () => hand.sql("UPDATE postern.dispatches SET claimable_at = now()");
    assert.deepEqual(idsOf(await hand.lease({ waitMs: 60_000 })), [id]);
    const ms = Number(hand.waits.steps[2]);
    assert.ok(ms > 5000 && ms <= 20_000, `${ms}`);
  });

  it("looks a few times a second, and no more often, while another has a due one locked", async (test) => {
    clock(test);
    await hand.offer();
    const release = await hand.lockDispatches();
    try {
      assert.equal(await hand.lease({ waitMs: 1000 }), null);
      const { steps } = hand.waits;
      assert.equal(steps.filter((step) => step === "look").length, 11, steps.join());
    } finally {
      await release();
    }
  });

  it("is leased nothing when it is gone, or the process closes", async () => {
    await hand.offer();
    for (const waitMs of [0, 5000])
      assert.equal(await hand.lease({ waitMs, signal: AbortSignal.abort() }), null);
    hand.fetches.close();
    assert.equal(await hand.lease({ waitMs: 5000 }), null);
    assert.deepEqual(hand.waits.steps, ["watch", "end", "watch", "end"]);
  });

  it("is leased nothing when it goes while its look waits for a connection", async () => {
    const id = await hand.offer();
    for (const waitMs of [0, 5000]) {
      const gone = new AbortController();
      hand.fetches = hand.make({
        ...hand.tenants,
        of: (tenantId) => {
          const db = hand.tenants.of(tenantId);
          const transaction: typeof db.transaction = (work) => {
            gone.abort();
            return db.transaction(work);
          };
          return { ...db, transaction };
        },
      });
      assert.equal(await hand.lease({ waitMs, signal: gone.signal }), null);
    }
    hand.fetches = hand.make(hand.tenants);
    assert.deepEqual(idsOf(await hand.lease({ waitMs: 0 })), [id]);
  });

  it("is answered at once when it is gone, or the process closes, while it waits", async (test) => {
    clock(test);
    const gone = new AbortController();
    hand.waits.during = async () => gone.abort();
    assert.equal(await hand.lease({ waitMs: 5000, signal: gone.signal }), null);
    hand.waits.during = async () => hand.fetches.close();
    assert.equal(await hand.lease({ waitMs: 5000 }), null);
    assert.deepEqual(hand.waits.steps, ["watch", "look", 5000, "end", "watch", "look", 5000, "end"]);
  });

  it("stops watching when its lease is refused, and gives its place back", async () => {
    hand.endpointId = await hand.makeEndpoint("push");
    await assert.rejects(hand.lease({ waitMs: 5000 }), { code: "endpoint_not_pull" });
    assert.deepEqual(hand.waits.steps, ["watch", "end"]);
    assert.deepEqual(await hand.counted("pullWaiting"), []);
  });
});

/** Clients whose looks, where they are held, never end until {@link free}. */
function holdLooks(isHeld: (name: string) => boolean = () => true) {
  const looks = Promise.withResolvers<never>();
  const db = { query: () => looks.promise, transaction: () => looks.promise };
  hand.fetches = hand.make({ ...hand.tenants, of: (id) => (isHeld(id) ? db : hand.tenants.of(id)) });
  const waiting: Promise<unknown>[] = [];
  return {
    wait(name: string): void {
      const wanted = { limit: 1, waitMs: 1000, signal: NEVER };
      waiting.push(
        hand.fetches.lease(tenant(name), hand.endpointId, wanted).catch((error: unknown) => error),
      );
    },
    last: () => waiting.at(-1),
    async free(): Promise<void> {
      looks.reject(new Error("freed"));
      await Promise.all(waiting);
    },
  };
}

describe("places of waiting clients", () => {
  const full = { code: "too_many_requests", retryAfterS: 5 };

  it("are given back one by one", async () => {
    const clients = holdLooks();
    for (let n = 0; n < 19; n++) clients.wait("acme");
    // One that is gone ends without a look.
    assert.equal(await hand.lease({ waitMs: 1000, signal: AbortSignal.abort() }), null);
    clients.wait("acme");
    clients.wait("acme");
    const beyond = clients.last();
    await clients.free();
    await assert.rejects(Promise.reject(await beyond), full);
  });

  it("are 20 of a tenant, and a lease without a wait needs none", async () => {
    const clients = holdLooks();
    for (let n = 0; n < 20; n++) clients.wait("acme");
    assert.deepEqual(await hand.counted("pullWaiting"), [[20]]);
    await assert.rejects(hand.lease({ waitMs: 1 }), full);
    assert.deepEqual(await hand.counted("pullWaiting"), [[20]]);
    const now = hand.lease({ waitMs: 0 });
    clients.wait("globex");
    assert.deepEqual(await hand.counted("pullWaiting"), [[21]]);
    await clients.free();
    await assert.rejects(now, /freed/);
    assert.deepEqual(await hand.counted("pullWaiting"), []);
    await assert.rejects(hand.lease({ waitMs: 1 }), /freed/);
  });

  it("are 500 of all tenants, and each is given back", async () => {
    const clients = holdLooks();
    for (let n = 0; n < 500; n++) clients.wait(`tenant-${n % 100}`);
    assert.deepEqual(await hand.counted("pullWaiting"), [[500]]);
    clients.wait("tenant-0");
    const beyond = clients.last();
    assert.deepEqual(await hand.counted("pullWaiting"), [[500]]);
    await clients.free();
    await assert.rejects(Promise.reject(await beyond), full);
    assert.deepEqual(await hand.counted("pullWaiting"), []);
    await assert.rejects(hand.lease({ waitMs: 1 }), /freed/);
  });

  it("are left by the tenant that has most, with an empty answer, to one that has none", async (test) => {
    clock(test);
    const over = Promise.withResolvers<void>();
    hand.waits.during = async (ms) => {
      await over.promise;
      hand.waits.nowMs += ms;
    };
    const clients = holdLooks((name) => name !== "acme");
    for (let n = 0; n < 20; n++) clients.wait("acme");
    const looks = () => hand.waits.steps.filter((step) => step === "look").length;
    await eventually(async () => looks() === 20 && hand.waits.steps.filter(Number).length === 20);
    for (let n = 0; n < 480; n++) clients.wait(`tenant-${n % 48}`);
    clients.wait("globex");
    over.resolve();
    await eventually(async () => (await hand.counted("pullWaiting"))[0]?.[0] === 481);
    // The one that had to leave has looked no more.
    assert.equal(looks(), 39);
    await clients.free();
  });
});
