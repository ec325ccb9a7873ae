import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { openTenantPool } from "../../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { event } from "../../../test/support/store-inputs.ts";
import { EVENT_TYPE, seedTwoTenants, type Rows } from "../../../test/support/two-tenants.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { newEventId } from "../../shared/id.ts";
import type { NewEvent, OutboxEvent } from "../queue.ts";
import { ALL_SLOTS } from "../slots.ts";
import { makePostgresQueue } from "./postgres-queue.ts";

let database: TestDatabase;
let tenants: TenantPool;
let rows: Rows;

before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 1);
});
after(async () => {
  await tenants.end();
  await database.drop();
});
beforeEach(async () => {
  ({ acme: rows } = await seedTwoTenants(database.pool));
});

const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows;

const queueOf = (firstDelayMs: number, options: Parameters<typeof makePostgresQueue>[2] = {}) =>
  makePostgresQueue({ publisher: database.pool, worker: database.pool, tenants }, firstDelayMs, options);

it("leases no first attempt that is due later, since the process could not make it now", async () => {
  const given = event(rows, null);
  const { leased, unleased } = await queueOf(3_600_000).accept([given], { lease: ALL_SLOTS, parked: [] });
  assert.deepEqual({ leased, unleased }, { leased: [], unleased: [rows.endpointId] });
  assert.deepEqual(await sql("SELECT lease_owner FROM postern.dispatches WHERE event_id = $1", given.id), [
    { lease_owner: null },
  ]);
});

const LIMITS = { events: 10, bodyBytes: 10_000 };
const asNew = ({ key: _claimed, unclaimedKey, ...taken }: OutboxEvent): NewEvent => ({
  ...taken,
  patterns: ["*"],
  idempotencyKey: unclaimedKey ?? null,
});
const relay = () =>
  queueOf(0, { residence: { versionOf: () => 1 } }).relay({
    types: [EVENT_TYPE],
    limits: LIMITS,
    judge: (taken) => [asNew(taken)],
  });

async function publish(given: { key?: string; versions?: string }): Promise<string> {
  const id = newEventId();
  await sql(
    "INSERT INTO postern.outbox (id, tenant_id, type, body, key, claimed, versions) VALUES ($1, 'acme', $2, '{}', $3, false, $4)",
    id,
    EVENT_TYPE,
    given.key ?? null,
    given.versions ?? null,
  );
  return id;
}

it("lays an event of the outbox aside whose key is yet to be claimed, though its tenant lives here", async () => {
  await sql("DELETE FROM postern.outbox; DELETE FROM postern.handovers");
  const plain = await publish({});
  const keyed = await publish({ key: "invoice 7" });
  await relay();
  assert.deepEqual(await sql("SELECT id, key, claimed FROM postern.handovers"), [
    { id: keyed, key: "invoice 7", claimed: false },
  ]);
  assert.deepEqual(
    await sql("SELECT id FROM postern.events WHERE id = ANY ($1) ORDER BY id", [plain, keyed]),
    [{ id: plain }],
  );
});

it("counts an event's other versions where it takes no more of the outbox than it may hold", async () => {
  await sql("DELETE FROM postern.outbox");
  const versions = JSON.stringify({ 2: "x".repeat(LIMITS.bodyBytes) });
  await publish({ versions });
  await publish({ versions });
  assert.deepEqual(await relay(), { relayed: 1, mayHaveMore: true });
});
