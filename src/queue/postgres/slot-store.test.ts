import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { noticesOf } from "../../../test/support/notices.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { leased } from "../../../test/support/store-inputs.ts";
import { seedTwoTenants, type Rows } from "../../../test/support/two-tenants.ts";
import { SLOTS_CHANGED, WAKE_CHANNEL } from "../channels.ts";
import { slotOf } from "../slots.ts";
import { makeLeaseIds } from "./lease-ids.ts";
import { confirmWorker, holdWorkerLock } from "./presence-store.ts";
import { makeSlotStore } from "./slots.ts";

let database: TestDatabase;
let rows: Rows;

before(async () => {
  database = await createTestDatabase();
  ({ acme: rows } = await seedTwoTenants(database.pool));
});
after(() => database.drop());

const storeOf = (workerId: string) => makeSlotStore(database.pool, workerId);

function inFlight() {
  const { tenantId, endpointId, id, leaseId } = leased(rows);
  return { tenantId, endpointId, id, leaseId };
}

it("names a slot's attempts in flight to the next owner, and to no other after it", async () => {
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  const slot = slotOf(rows.endpointId);
  const { slots } = await storeOf("").read();
  const term = slots[slot]?.term ?? 0;
  assert.deepEqual(await storeOf(first).take([{ slot, term }]), [{ slot, term: term + 1, inFlight: [] }]);
  await storeOf(first).leave([{ slot, term: term + 1 }], new Map([[slot, [inFlight()]]]));
  const left = { slot, owner: null, term: term + 2 };
  assert.deepEqual((await storeOf("").read()).slots, slots.with(slot, left));
  assert.deepEqual(await storeOf(second).take([{ slot, term: term + 2 }]), [
    { slot, term: term + 3, inFlight: [inFlight()] },
  ]);
  assert.deepEqual(await storeOf(third).take([{ slot, term: term + 3 }]), [
    { slot, term: term + 4, inFlight: [] },
  ]);
  await storeOf(third).leave([{ slot, term: term + 4 }], new Map());
  assert.deepEqual(await storeOf(first).take([{ slot, term: term + 5 }]), [
    { slot, term: term + 6, inFlight: [] },
  ]);
});

it("takes no slot that another worker is taking", async () => {
  const { slots } = await storeOf("").read();
  const other = await database.pool.connect();
  try {
    await other.query("BEGIN");
    await other.query("SELECT FROM postern.slots WHERE slot = 9 FOR UPDATE");
    const taken = await storeOf(randomUUID()).take(slots.slice(8, 11));
    assert.deepEqual(
      taken.map(({ slot }) => slot).toSorted((one, next) => one - next),
      [8, 10],
    );
  } finally {
    other.release(true);
  }
});

it("passes a slot neither to nor from a worker that knows an earlier term", async () => {
  const [early, late] = [randomUUID(), randomUUID()];
  const { slots } = await storeOf("").read();
  const term = slots[7]?.term ?? 0;
  await storeOf(early).take([{ slot: 7, term }]);
  assert.deepEqual(await storeOf(late).take([{ slot: 7, term }]), []);
  for (const [id, known] of [
    [early, term],
    [late, term + 1],
  ] as const) {
    await storeOf(id).leave([{ slot: 7, term: known }], new Map());
    const now = (await storeOf("").read()).slots[7];
    assert.deepEqual(now, { slot: 7, owner: early, term: term + 1 });
  }
});

it("counts an attempt as in flight under its own lease, not under the next one", async () => {
  await database.pool.query(
    "UPDATE postern.dispatches SET claimable_at = now() + interval '1 minute' WHERE id = $1",
    [rows.leasedId],
  );
  assert.deepEqual(await storeOf("").stillInFlight([inFlight()]), [inFlight()]);
  assert.deepEqual(await storeOf("").stillInFlight([{ ...inFlight(), leaseId: randomUUID() }]), []);
  await database.pool.query("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", [
    rows.leasedId,
  ]);
  assert.deepEqual(await storeOf("").stillInFlight([inFlight()]), [], "its lease has ended");
});

it("says which workers hold their lock", async () => {
  const [held, unheld] = [makeLeaseIds().first, makeLeaseIds().first].toSorted();
  assert.ok(held !== undefined && unheld !== undefined);
  const session = await database.pool.connect();
  try {
    assert.ok(await holdWorkerLock(session, held));
    for (const id of [held, unheld]) await confirmWorker(database.pool, id, "session");
    const { workers } = await storeOf("").read();
    assert.deepEqual(
      workers.map(({ id, isHeld, isGone }) => ({ id, isHeld, isGone })),
      [
        { id: held, isHeld: true, isGone: false },
        { id: unheld, isHeld: false, isGone: false },
      ],
    );
    await database.pool.query("UPDATE postern.workers SET is_dead = true WHERE first_lease_id = $1", [held]);
    assert.deepEqual(
      (await storeOf("").read()).workers.map(({ id }) => id),
      [unheld],
    );
  } finally {
    session.release(true);
  }
});

it("tells others once of all slots that a worker leaves, and not of those that it does not have", async () => {
  const worker = storeOf(randomUUID());
  const taken = await worker.take((await worker.read()).slots.slice(20, 22));
  const heard = await noticesOf(database.pool, async () => {
    await worker.leave(taken, new Map());
    await worker.leave(taken, new Map());
  });
  assert.deepEqual([taken.length, heard], [2, [[WAKE_CHANNEL, SLOTS_CHANGED]]]);
});

it("tells others when a worker has retired, which takes no slots any more, and when one asks", async () => {
  const id = makeLeaseIds().first;
  await confirmWorker(database.pool, id, "session");
  const takesSlots = async () => (await storeOf("").read()).workers.some((worker) => worker.id === id);
  assert.ok(await takesSlots());
  const heard = await noticesOf(database.pool, async () => {
    await storeOf(id).ask();
    await storeOf(id).retire();
    // Once.
    await storeOf(id).retire();
    await storeOf(id).ask();
  });
  const changed = [WAKE_CHANNEL, SLOTS_CHANGED];
  assert.deepEqual([heard, await takesSlots()], [[changed, changed, changed], false]);
});
