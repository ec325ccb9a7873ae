/** A worker step by step: what it takes, and when it is sent. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isForgotten } from "../../test/support/forgotten.ts";
import {
  DELIVERED,
  dispatches,
  foreign,
  idsOf,
  NOTHING,
  own,
  targetOf,
  tenantId,
  WorkerAtHand,
} from "../../test/support/worker-at-hand.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { Lanes } from "./lanes.ts";

describe("a worker", () => {
  let at: WorkerAtHand;
  beforeEach(() => {
    at = new WorkerAtHand();
  });
  afterEach(() => at.stop());

  it("leases what its process accepts to itself once it has slots, and sends it at once, a width at a time", async () => {
    assert.equal((await at.accept({})).lease, null);
    await at.takeSlots();
    assert.notEqual((await at.accept({})).lease, null);
    const accepted = dispatches(10);
    await at.accept({ leased: accepted });
    assert.deepEqual(idsOf(at.sending), idsOf(accepted.slice(0, 8)));
    at.sending[0]?.end();
    await at.passTime(0);
    assert.deepEqual(idsOf(at.sending), idsOf(accepted.slice(0, 9)));
    assert.equal(at.watched.length, 2);
  });

  it("claims when it is told, where it has slots of the group, or no group is named", async () => {
    at.worker.start();
    await at.passTime(10);
    at.worker.wake(0);
    await at.passTime(10);
    assert.equal(at.worker.lastLookAt(), 0);
    at.worker.wake();
    await at.passTime(10);
    assert.equal(at.worker.lastLookAt(), 20);
    await at.takeSlots({ isAlone: false });
    const nowMs = at.clock.nowMs();
    at.worker.wake(15);
    await at.passTime(10);
    assert.ok(at.worker.lastLookAt() < nowMs);
    at.worker.wake(7);
    await at.passTime(1);
    assert.equal(at.worker.lastLookAt(), nowMs + 10);
  });

  it("claims at once with the slots that it took, and looks at them when they change", async () => {
    at.worker.start();
    await at.takeSlots({ isAlone: false });
    assert.equal(at.looks, 1);
    for (const row of at.slots.rows.slice(128)) row.owner = null;
    at.slots.workers.delete("other");
    at.worker.slotsChanged();
    await at.passTime(20);
    assert.equal(at.slots.rows[200]?.owner, "me");
  });

  it("parks what its process accepts for endpoints that have parked dispatches, in its slots", async () => {
    await at.takeSlots({ isAlone: false });
    const parked = [own, foreign].map((endpointId) => ({ tenantId, endpointId }));
    await at.accept({ parked });
    assert.deepEqual((await at.accept({})).parked, [own]);
    assert.deepEqual(
      (await at.accept({}, [tenant("other")])).parked,
      [],
      "none of a tenant without an event",
    );
    const [lanes] = at.watched;
    assert.ok(lanes instanceof Lanes);
    assert.equal(lanes.backlogs, 1);
    const given = await at.worker.acceptUnleased(async (endpoints) => ({
      unleased: [],
      parked: [],
      endpoints,
    }));
    assert.deepEqual(given.endpoints, [own]);
    const [dispatch] = dispatches(1);
    assert.ok(dispatch !== undefined);
    at.worker.start();
    await at.passTime(150);
    let pulledAt = NaN;
    at.pull = async () => {
      pulledAt = at.clock.nowMs();
      return new Map([[own, { ...NOTHING, claimed: [dispatch] }]]);
    };
    await at.accept({ parked: parked.slice(0, 1) });
    await at.passTime(250);
    assert.deepEqual(
      at.sending.map(({ id, atMs }) => [id, atMs]),
      [[dispatch.id, pulledAt]],
    );
  });

  it("lines up behind what an array's commit has parked, though its lane was opened meanwhile", async () => {
    await at.takeSlots({ isAlone: false });
    const parked = [own, foreign].map((endpointId) => ({ tenantId, endpointId }));
    await at.worker.acceptUnleased(async (endpoints) => {
      assert.deepEqual(endpoints, []);
      return { unleased: [], parked };
    });
    assert.deepEqual((await at.accept({})).parked, [own]);
  });

  it("sends what it accepts behind what came into the table unleased, once a look has found that", async () => {
    await at.takeSlots();
    for (const note of [
      () => at.accept({ unleased: [own] }),
      () => at.worker.acceptUnleased(async () => ({ unleased: [own], parked: [] })),
    ]) {
      const before = at.sending.length;
      await note();
      const [older, younger] = dispatches(2);
      assert.ok(older && younger);
      at.claims = [{ ...NOTHING, claimed: [older] }];
      await at.accept({ leased: [younger] });
      if (before === 0) assert.deepEqual(at.sending, []);
      if (before === 0) at.worker.start();
      at.worker.wake();
      await at.passTime(20);
      assert.deepEqual(idsOf(at.sending.slice(before)), idsOf([older, younger]));
    }
  });

  it("looks at once when something that it accepted waits for older ones", async () => {
    await at.takeSlots();
    at.worker.start();
    await at.passTime(10);
    const before = at.looks;
    await at.accept({ leased: dispatches(1) });
    await at.passTime(1);
    assert.equal(at.looks, before);
    await at.accept({ unleased: [own] });
    await at.accept({ leased: dispatches(1) });
    await at.passTime(1);
    assert.equal(at.looks, before + 1);
  });

  it("ends deliveries whose event is gone", async () => {
    const ended: string[] = [];
    at.complete = async (attempts) => {
      const ids = attempts.map(({ dispatch }) => dispatch.id);
      ended.push(...ids);
      return new Set(ids);
    };
    await at.takeSlots();
    const gone = dispatches(1);
    at.claims = [{ ...NOTHING, withoutEvent: gone }];
    at.worker.start();
    await at.passTime(100);
    assert.deepEqual([ended, at.sending], [idsOf(gone), []]);
  });

  it("claims an attempt in time that is due before the next poll", async (test) => {
    test.mock.method(Math, "random", () => 0);
    await at.takeSlots();
    at.worker.start();
    await at.accept({ leased: dispatches(1) });
    at.sending[0]?.end({ ...DELIVERED, status: 500 });
    await at.passTime(10);
    const before = at.looks;
    // The next poll would come 30 ms later.
    await at.passTime(161);
    assert.deepEqual([at.looks, at.worker.lastLookAt()], [before + 1, 170]);
  });

  it("starts nothing while it is not confirmed, and goes on soon after it is again", async () => {
    await at.takeSlots();
    at.worker.start();
    const accepted = dispatches(9);
    await at.accept({ leased: accepted });
    at.isConfirmed = false;
    at.sending[0]?.end();
    await at.passTime(1000);
    assert.equal(at.sending.length, 8);
    at.isConfirmed = true;
    await at.passTime(200);
    assert.deepEqual(idsOf(at.sending), idsOf(accepted));
  });

  it("starts what waited for the attempts of another worker as soon as it hears that they are over", async () => {
    const inFlight = dispatches(8).map(({ id, endpointId, leaseId }) => ({
      tenantId,
      id,
      endpointId,
      leaseId,
    }));
    for (const row of at.slots.rows.slice(1, 2)) row.inFlight = inFlight;
    await at.takeSlots();
    await at.accept({ leased: dispatches(1) });
    await at.passTime(400);
    assert.deepEqual(at.sending, []);
    await at.passTime(200);
    assert.equal(at.sending.length, 1);
  });

  it("starts the next attempt of an endpoint while the outcome of the one before is recorded", async () => {
    await at.takeSlots();
    const recording = Promise.withResolvers<void>();
    at.complete = async (attempts) => {
      await recording.promise;
      return new Set(attempts.map(({ dispatch }) => dispatch.id));
    };
    await at.accept({ leased: dispatches(9) });
    at.sending[0]?.end();
    await at.passTime(1);
    assert.equal(at.sending.length, 9);
    recording.resolve();
  });

  it("keeps an endpoint's rate limit by itself", async () => {
    at.target = (endpointId) => ({ ...targetOf(endpointId), rateLimit: 2 });
    await at.takeSlots();
    await at.passTime(2000);
    const fromMs = at.clock.nowMs();
    await at.accept({ leased: dispatches(12) });
    await at.passTime(2000);
    assert.deepEqual(
      at.sending.map(({ atMs }) => atMs - fromMs),
      [0, 500, 1000, 1500, 2000],
    );
    assert.deepEqual(at.kept.lines, []);
  });

  it("forgets what its process accepted once it has taken it", async () => {
    await at.takeSlots();
    const none = { accepted: [], leased: [], parked: [], unleased: [] };
    const forgotten = await isForgotten((object) =>
      at.worker.accept(async () => ({ ...none, object }), [tenantId]),
    );
    assert.equal(forgotten, true);
  });

  it("goes on with its lanes also while a look takes long", async () => {
    await at.takeSlots();
    await at.accept({ leased: dispatches(9) });
    const claiming = Promise.withResolvers<void>();
    at.claimable = claiming.promise;
    at.worker.start();
    await at.passTime(10);
    at.isConfirmed = false;
    at.sending[0]?.end();
    await at.passTime(100);
    at.isConfirmed = true;
    await at.passTime(300);
    assert.equal(at.sending.length, 9);
    claiming.resolve();
  });

  it("counts what the database refuses", async () => {
    await at.takeSlots();
    at.complete = () => Promise.reject(Object.assign(new Error("no"), { code: "22021" }));
    await at.accept({ leased: dispatches(1) });
    at.sending[0]?.end();
    await at.passTime(100);
    assert.deepEqual([at.worker.refusedOutcomes(), at.steps], [1, ["defer"]]);
  });
});
