/** An idempotency key that is forgotten between a publish's two looks at it is free again. */
import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { makePostgresQueue } from "../src/queue/postgres/postgres-queue.ts";
import { newEventId } from "../src/shared/id.ts";
import { eventually } from "./support/eventually.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { tenant } from "./support/two-tenants.ts";

const ACME = tenant("acme");
const KEYS = "SELECT event_id AS id FROM postern.idempotency_keys WHERE key = 'k'";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  // Whoever claims keys waits, once it has found which are taken, while another session has this lock.
  await database.pool.query(`
    INSERT INTO postern.event_types (type, newest, needed, others) VALUES ('a', 1, '{}', '{}');
    CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END';
    CREATE TRIGGER wait AFTER INSERT ON postern.idempotency_keys FOR EACH STATEMENT EXECUTE FUNCTION public.wait()`);
});
beforeEach(() =>
  database.pool.query(`DELETE FROM postern.idempotency_keys;
    INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint, created_at)
    VALUES ('acme', 'k', gen_random_uuid(), '', now() - interval '2 days')`),
);
after(() => database.drop());

/** Forgets the key while it is being claimed. */
async function meanwhileForgotten<T>(publish: () => Promise<T>): Promise<T> {
  const { pool } = database;
  const holder = await pool.connect();
  try {
    await holder.query("BEGIN; SELECT pg_advisory_xact_lock(42)");
    const published = publish();
    const pid = await pidOf(holder);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    await holder.query("DELETE FROM postern.idempotency_keys; COMMIT");
    return await published;
  } finally {
    holder.release(true);
  }
}

it("for who publishes in SQL", async () => {
  const publish = () => database.pool.query("SELECT postern.publish('acme', 'a', '{}', 'k') AS id");
  const { rows } = await meanwhileForgotten(publish);
  assert.deepEqual((await database.pool.query(KEYS)).rows, rows);
  const waiting = await database.pool.query("SELECT id FROM postern.outbox");
  assert.deepEqual(waiting.rows, rows);
});

it("for who publishes several events at once", async () => {
  const { pool } = database;
  const queue = makePostgresQueue({ publisher: pool, worker: pool, tenants: { of: () => assert.fail() } }, 0);
  const event = {
    id: newEventId(),
    tenantId: ACME,
    type: "a",
    version: 1,
    body: `{"data":{}}`,
    others: null,
    patterns: ["a"],
    idempotencyKey: "k",
  };
  const other = { ...event, id: newEventId(), idempotencyKey: null };
  const { accepted, earlier } = await meanwhileForgotten(() =>
    queue.acceptParts([[other, event]], { parked: [] }),
  );
  assert.deepEqual(new Set(accepted.map(({ id }) => id)), new Set([other.id, event.id]));
  assert.equal(earlier.size, 0);
  assert.deepEqual((await pool.query(KEYS)).rows, [{ id: event.id }]);
});
