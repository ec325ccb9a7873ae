import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { event } from "../../../test/support/store-inputs.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { NewEvent } from "../queue.ts";
import {
  claimHandovers,
  deleteHandovers,
  findDestinations,
  findTenantsHere,
  insertHandovers,
  redirectHandovers,
} from "./handover-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
beforeEach(async () => {
  await sql("DELETE FROM postern.handovers");
});

const LIMITS = { events: 10, bodyBytes: 1e6, leaseMs: 60_000 };

async function claim(limits: Partial<typeof LIMITS> = {}, shard: string | null = null) {
  const claimed = await claimHandovers(seeded.pool, shard, { ...LIMITS, ...limits });
  return claimed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const claimedIds = async (...given: Parameters<typeof claim>) => (await claim(...given)).map(({ id }) => id);

/** Of these many bytes each. */
async function insertSized(...sizes: number[]): Promise<NewEvent["id"][]> {
  const events = sizes.map((size) => Object.assign(event(seeded.acme, null), { body: "x".repeat(size) }));
  await insertHandovers(seeded.pool, events);
  return events.map(({ id }) => id);
}

it("keeps all of an event that its destination needs, and whether its key was claimed here", async () => {
  const plain = event(seeded.acme, null);
  const keyed = event(seeded.acme, "to claim there");
  const whole = {
    ...event(seeded.globex, null),
    version: 2,
    others: { 1: "as it was" },
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
  };
  await insertHandovers(seeded.pool, [plain, keyed, whole], ({ id }) => (id === whole.id ? "claimed" : null));
  const expected = [
    { ...plain, traceparent: null, claimed: false },
    { ...keyed, traceparent: null, claimed: false },
    { ...whole, idempotencyKey: "claimed", claimed: true },
  ];
  assert.deepEqual(
    await claim(),
    expected.map(({ patterns: _subscriptions, ...stored }) => stored),
  );
});

it("claims none as claimed here where nobody says so", async () => {
  await insertHandovers(seeded.pool, [event(seeded.acme, "order-1")]);
  assert.deepEqual(
    (await claim()).map(({ idempotencyKey, claimed }) => ({ idempotencyKey, claimed })),
    [{ idempotencyKey: "order-1", claimed: false }],
  );
});

it("claims the oldest, as many and as long as it may, but one however long, and each once", async () => {
  const ids = await insertSized(50, 50, 50, 500, 10);
  assert.deepEqual(await claimedIds({ bodyBytes: 100 }), ids.slice(0, 2));
  assert.deepEqual(await claimedIds({ events: 1 }), ids.slice(2, 3));
  assert.deepEqual(await claimedIds({ bodyBytes: 100 }), ids.slice(3, 4));
  assert.deepEqual(await claimedIds(), ids.slice(4));
  assert.deepEqual(await claimedIds(), []);
  await sql("UPDATE postern.handovers SET lease_until = lease_until - interval '50 s'");
  assert.deepEqual(await claimedIds(), []);
  await sql("UPDATE postern.handovers SET lease_until = lease_until - interval '11 s'");
  assert.deepEqual(await claimedIds(), ids);
});

/** Of acme, globex and initech. */
async function claimedByTenant(limits: Partial<typeof LIMITS>): Promise<number[]> {
  const found = await claim(limits);
  return ["acme", "globex", "initech"].map(
    (name) => found.filter(({ tenantId }) => tenantId === name).length,
  );
}

it("claims as many of each tenant, though one's came before the others'", async () => {
  const events = (rows: typeof seeded.acme, count: number) =>
    Array.from({ length: count }, () => event(rows, null));
  const own = { ...seeded.acme, tenantId: tenant("initech") };
  await insertHandovers(seeded.pool, [
    ...events(seeded.acme, 9),
    ...events(seeded.globex, 3),
    ...events(own, 1),
  ]);
  // A third of five is two: the oldest of the second ones is the fifth.
  assert.deepEqual(await claimedByTenant({ events: 5 }), [2, 2, 1]);
  assert.deepEqual(await claimedByTenant({ events: 2 }), [1, 1, 0]);
  assert.deepEqual(await claimedByTenant({}), [4, 0, 0]);
});

it("claims what goes to one place, once its time has come", async () => {
  const [first, second, third] = await insertSized(1, 1, 1);
  assert.ok(first !== undefined && second !== undefined);
  const [one, other] = [
    { id: first, shard: "eu2" },
    { id: second, shard: "us1" },
  ];
  await redirectHandovers(seeded.pool, [one, other], 60_000);
  assert.deepEqual(await findDestinations(seeded.pool), [null]);
  assert.deepEqual(await claimedIds({}, "eu2"), []);
  await sql("UPDATE postern.handovers SET lease_until = lease_until - interval '61 s'");
  assert.deepEqual(new Set(await findDestinations(seeded.pool)), new Set([null, "eu2", "us1"]));
  assert.deepEqual(await claimedIds({}, "eu2"), [first]);
  assert.deepEqual(await claimedIds(), [third]);
  await redirectHandovers(seeded.pool, [{ ...other, shard: null }], 0);
  assert.deepEqual(await sql("SELECT shard FROM postern.handovers WHERE id = $1", second), [{ shard: null }]);
});

it("deletes what has arrived, and nothing else", async () => {
  const [first, ...rest] = await insertSized(1, 1, 1);
  assert.ok(first !== undefined);
  await deleteHandovers(seeded.pool, [first]);
  assert.deepEqual(await claimedIds(), rest);
});

it("finds the tenants that live here, but none that is on its way to elsewhere", async () => {
  const { acme, globex } = seeded;
  const asked = [acme.tenantId, globex.tenantId, tenant("initech")];
  assert.deepEqual(await findTenantsHere(seeded.pool, asked), new Set([acme.tenantId, globex.tenantId]));
  assert.deepEqual(await findTenantsHere(seeded.pool, [globex.tenantId]), new Set([globex.tenantId]));
  await sql("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'acme'");
  assert.deepEqual(await findTenantsHere(seeded.pool, asked), new Set([globex.tenantId]));
});
