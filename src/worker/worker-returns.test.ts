/** What a worker gives back or has parked, and its way there. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import {
  dispatches,
  endpointIn,
  foreign,
  idsOf,
  NOTHING,
  own,
  WorkerAtHand,
} from "../../test/support/worker-at-hand.ts";
import type { Acceptance } from "../queue/queue.ts";

describe("a worker", () => {
  let at: WorkerAtHand;
  beforeEach(() => {
    at = new WorkerAtHand();
  });
  afterEach(() => at.stop());

  it("gives back what it claimed of slots that are another's by now, and what has no room, which it parks", async () => {
    await at.takeSlots({ isAlone: false });
    const [mine, moved] = [dispatches(1), dispatches(1, foreign)];
    at.claims = [{ ...NOTHING, claimed: [...mine, ...moved] }];
    at.worker.start();
    await at.passTime(10);
    assert.deepEqual(idsOf(at.sending), idsOf(mine));
    assert.deepEqual(at.steps, ["claimable 200"]);
    // So many may wait in a lane.
    await at.accept({ leased: dispatches(2001) });
    await at.passTime(10);
    assert.deepEqual(at.steps.slice(1, 2), ["parked 1"]);
    assert.deepEqual(await at.returned(), { moved: 1, no_room: 1 });
    // Its lane asks for what is parked once it has room again.
    assert.deepEqual((await at.accept({})).parked, [own]);
  });

  it("parks what waits for older ones where a look left some of them", async () => {
    await at.takeSlots();
    await at.accept({ unleased: [own] });
    await at.accept({ leased: dispatches(1) });
    at.claims = [{ ...NOTHING, isAll: false }];
    at.worker.start();
    await at.passTime(20);
    assert.deepEqual(at.sending, []);
    assert.deepEqual(await at.returned(), { no_room: 1 });
    assert.ok(at.steps.includes("parked 1") && at.steps.includes("oldest 1"));
    // What is parked is pulled, and only now.
    const [pulled] = dispatches(1);
    assert.ok(pulled !== undefined);
    at.pull = async () => new Map([[own, { ...NOTHING, claimed: [pulled] }]]);
    await at.passTime(250);
    assert.deepEqual(idsOf(at.sending), [pulled.id]);
  });

  it("gives back what a person delivered, wherever it waits", async () => {
    await at.takeSlots();
    const [started, waiting] = [dispatches(8), dispatches(1)];
    await at.accept({ leased: [...started, ...waiting] });
    const other = endpointIn(2);
    await at.accept({ unleased: [other] });
    const behind = dispatches(1, other);
    await at.accept({ leased: behind });
    for (const dispatch of [...started.slice(0, 1), ...waiting, ...behind]) at.worker.withdraw(dispatch);
    await at.passTime(10);
    assert.deepEqual(at.steps, ["claimable 1,2"]);
    assert.deepEqual(await at.returned(), { withdrawn: 2 });
  });

  it("goes on with its lanes five times a second, and takes out what they can't send soon", async () => {
    await at.takeSlots();
    at.worker.start();
    await at.accept({ leased: dispatches(100) });
    await at.passTime(5500);
    assert.deepEqual([at.sending.length, await at.returned()], [8, { no_room: 88 }]);
    assert.ok(at.steps.some((step) => step.startsWith("parked 1,1")));
  });

  it("leases nothing once it stops, gives back what waits, and waits for what is in flight", async (test) => {
    await at.takeSlots();
    const accepted = dispatches(10);
    await at.accept({ leased: accepted });
    const behind = endpointIn(2);
    await at.accept({ unleased: [behind] });
    await at.accept({ leased: dispatches(1, behind) });
    assert.ok(at.worker.hasRoom());
    let isOver = false;
    at.worker.start();
    void at.worker.stop().then(() => (isOver = true));
    assert.equal(at.worker.hasRoom(), false);
    await at.passTime(1000);
    assert.deepEqual(await at.returned(), { stopping: 3 });
    assert.deepEqual([at.slots.rows.some(({ owner }) => owner === "me"), isOver], [false, false]);
    assert.equal((await at.accept({})).lease, null);
    // What was being accepted as it stopped.
    await at.accept({ leased: dispatches(1) });
    await at.passTime(10);
    assert.deepEqual(await at.returned(), { stopping: 4 });
    assert.equal(at.sending.length, 8);
    for (const { end } of at.sending.slice(1)) end();
    await at.passTime(1000);
    assert.equal(isOver, false);
    at.sending[0]?.end();
    await at.passTime(1000);
    assert.equal(isOver, true);
    const after = test.mock.method(at.clock, "after");
    await at.passTime(1000);
    assert.equal(after.mock.callCount(), 0, "it sets no timer any more");
  });

  it("gives back all that waits as it stops, also while it is not confirmed", async () => {
    await at.takeSlots();
    await at.accept({ leased: dispatches(9) });
    const behind = endpointIn(2);
    await at.accept({ unleased: [behind] });
    await at.accept({ leased: dispatches(1, behind) });
    at.isConfirmed = false;
    void at.worker.stop();
    await at.passTime(1000);
    assert.deepEqual(await at.returned(), { stopping: 2 });
  });

  it("gives slots to a worker that comes, empty: what waits, and what is being accepted meanwhile, goes back first", async () => {
    await at.takeSlots();
    await at.accept({ leased: dispatches(9) });
    for (const { end } of at.sending) end();
    await at.passTime(100);
    for (const { end } of at.sending) end();
    await at.passTime(100);
    const accepting = Promise.withResolvers<Acceptance>();
    void at.worker.accept(() => accepting.promise, []);
    const releasing = Promise.withResolvers<void>();
    at.releasable = releasing.promise;
    at.slots.confirm("other", true);
    at.confirm();
    await at.passTime(100);
    assert.equal(at.slots.rows[1]?.owner, "me");
    accepting.resolve({ accepted: [], leased: dispatches(1), parked: [], unleased: [] });
    await at.passTime(100);
    assert.equal(at.slots.rows[1]?.owner, "me");
    releasing.resolve();
    await at.passTime(100);
    assert.deepEqual([at.slots.rows[1]?.owner, at.slots.rows[200]?.owner], [null, "me"]);
    assert.deepEqual(await at.returned(), { moved: 1 });
  });

  it("gives back what waits in slots that it gives to another worker", async () => {
    await at.takeSlots();
    await at.accept({ leased: [...dispatches(9), ...dispatches(9, foreign)] });
    at.slots.confirm("other", true);
    at.confirm();
    await at.passTime(1000);
    assert.deepEqual([at.steps, await at.returned()], [["claimable 1"], { moved: 1 }]);
  });

  it("parks what its process accepts behind older ones that are too much for its memory", async () => {
    await at.takeSlots();
    await at.accept({ unleased: [own] });
    const body = "x".repeat(3 * 1024 * 1024);
    await at.accept({ leased: [1, 2, 3].map(() => leasedDispatch({ endpointId: own, body })) });
    await at.passTime(10);
    assert.deepEqual(await at.returned(), { no_room: 3 });
  });
});
