/** What changes or moves a tenant's rows while they are erased: none of them is left, since nobody would look again. */
import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { sumExhausted } from "../src/endpoints/notice-store.ts";
import { newEndpointId } from "../src/shared/id.ts";
import { eventually } from "./support/eventually.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { tenant } from "./support/two-tenants.ts";

const ERASE = "SELECT postern.erase_tenant_rows('acme', 10, true)::int AS erased";
const DAY = "to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')";
const EVENT = `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
  VALUES ('acme', postern.uuid_v7(), 'a', '{}', 0)`;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query(
    "INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('acme') ON CONFLICT DO NOTHING",
  );
});
after(() => database.drop());

const sql = async (text: string) => (await database.pool.query(text)).rows;

/** The tables that have rows of the tenant behind an erasure that begins while another transaction has done this, and does the rest then. */
async function leftBehind(change: string, rest?: (db: Db) => Promise<unknown>): Promise<unknown[]> {
  const { pool } = database;
  const changing = await pool.connect();
  try {
    await changing.query(`BEGIN; ${change}`);
    let isErased = false;
    const erased = pool.query(ERASE).then(() => (isErased = true));
    const pid = await pidOf(changing);
    await eventually(async () => isErased || (await waitersFor(pool, pid)) === 1);
    await Promise.all([erased, (rest?.(changing) ?? Promise.resolve()).then(() => changing.query("COMMIT"))]);
  } finally {
    changing.release(true);
  }
  return (await sql("SELECT name FROM postern.count_tenant_rows('acme', 10)")).map(({ name }) => name);
}

async function loseToday(): Promise<void> {
  const [{ day }] = await sql(`SELECT ${DAY} AS day`);
  for (const parent of ["events", "deliveries"]) await sql(`DROP TABLE IF EXISTS postern.${parent}_${day}`);
}

it("a row that is changed meanwhile", async () => {
  await sql(`INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, code_hash, minutes, until)
    VALUES ('acme', gen_random_uuid(), 'jo', 'owner', true, '', 1, now())`);
  assert.deepEqual(await leftBehind("UPDATE postern.portal_sessions SET code_hash = NULL"), []);
});

it("a row that goes to a partition of its day", async () => {
  await loseToday();
  await sql(EVENT);
  const today = "(now() AT TIME ZONE 'UTC')::date";
  assert.deepEqual(await leftBehind(`SELECT postern.ensure_partitions(${today}, ${today})`), []);
});

it("a row of which a copy is made for a partition of its day", async () => {
  await loseToday();
  await sql(EVENT);
  const today = "(now() AT TIME ZONE 'UTC')::date";
  await sql(`SELECT postern.stage_partitions('events', ${today}, ${today})`);
  assert.deepEqual(await leftBehind("SELECT postern.copy_staged_rows('events', 0, 1000)"), []);
});

it("exhausted events of a deleted endpoint that are counted, and neither waits for the other in a circle", async () => {
  const endpoint = { tenantId: tenant("acme"), endpointId: newEndpointId() };
  await sql(`INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, deleted_at)
    VALUES ('acme', '${endpoint.endpointId}', '', '{}', '', now(), now(), now())`);
  await sql(`INSERT INTO postern.exhausted_events (tenant_id, endpoint_id, count, delivery_id, event_id, event_type)
    VALUES ('acme', '${endpoint.endpointId}', 1, postern.uuid_v7(), postern.uuid_v7(), 'a.b')`);
  const lock = `UPDATE postern.endpoints SET exhausted_told_at = now() WHERE id = '${endpoint.endpointId}'`;
  const told = { ...endpoint, url: "", isDeleted: true };
  assert.deepEqual(await leftBehind(lock, (db) => sumExhausted(db, [told])), []);
});
