/** Each notice is told once, by however many processes, and whichever of them is killed. */
import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { createPool, type Pool } from "../src/database/pool.ts";
import { makeEndpointNotices } from "../src/endpoints/endpoint-notices.ts";
import { openCatalog } from "../src/events/live-catalog.ts";
import { eventually } from "./support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

const ENDPOINTS = 1200;
const DISABLE_AFTER_MS = 5 * 86_400_000;

let database: TestDatabase;
let tell: (db: Pool) => Promise<boolean>;

before(async () => {
  database = await createTestDatabase();
  tell = makeEndpointNotices({ catalog: await openCatalog(undefined), disableAfterMs: DISABLE_AFTER_MS });
});
after(() => database.drop());

/** Endpoints of two tenants that have failed for two hours, each with two rows of exhausted events, of 1 and 2. */
beforeEach(async () => {
  await database.pool.query(
    `TRUNCATE postern.endpoints, postern.outbox, postern.exhausted_events;
    INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, failing_since)
      SELECT 'tenant' || n % 2, postern.uuid_v7(), 'https://example.com/' || n, '{invoice.*}', '\\x01', now(), now(),
        now() - interval '2 hours'
      FROM generate_series(1, ${ENDPOINTS}) AS n;
    INSERT INTO postern.exhausted_events
      SELECT tenant_id, id, count, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid'
      FROM postern.endpoints CROSS JOIN (VALUES (1), (2)) AS given (count)`,
  );
});

async function tellAll(db: Pool): Promise<void> {
  while (await tell(db));
}

async function assertToldOnce(): Promise<void> {
  const { rows } = await database.pool.query(
    `SELECT o.type, count(*)::int AS told, count(DISTINCT e.id)::int AS endpoints,
        sum((body::json -> 'data' ->> 'count')::int)::int AS events
      FROM postern.outbox o JOIN postern.endpoints e
        ON e.id = (body::json -> 'data' ->> 'endpoint_id')::uuid AND e.tenant_id = o.tenant_id
      GROUP BY o.type ORDER BY 1`,
  );
  assert.deepEqual(rows, [
    { type: "delivery.exhausted", told: ENDPOINTS, endpoints: ENDPOINTS, events: 3 * ENDPOINTS },
    { type: "endpoint.failing", told: ENDPOINTS, endpoints: ENDPOINTS, events: null },
  ]);
}

it("tells each once, though four processes look at the same time", async () => {
  await Promise.all(Array.from({ length: 4 }, () => tellAll(database.pool)));
  // What one of them had locked, another left to it.
  await tellAll(database.pool);
  await assertToldOnce();
});

it("tells each once, though a process is killed before it commits", async () => {
  const pool = createPool({
    url: database.url,
    poolSize: 1,
    applicationName: "killed teller",
    connectionTimeoutMs: 5000,
  });
  const blocker = await database.pool.connect();
  for (const type of ["endpoint.failing", "delivery.exhausted"]) {
    await blocker.query("BEGIN; LOCK TABLE postern.outbox IN SHARE MODE");
    const telling = assert.rejects(tellAll(pool));
    await eventually(async () => {
      const { rowCount } = await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'killed teller' AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await telling;
    await blocker.query("COMMIT");
    const { rows } = await database.pool.query(
      "SELECT count(*)::int AS told FROM postern.outbox WHERE type = $1",
      [type],
    );
    assert.deepEqual(rows, [{ told: 0 }]);
    // The second is killed as it tells of what was given up, when all that fail are told.
    if (type === "endpoint.failing") {
      await database.pool.query("UPDATE postern.endpoints SET exhausted_told_at = now()");
      await tellAll(pool);
      await database.pool.query("UPDATE postern.endpoints SET exhausted_told_at = NULL");
    }
  }
  blocker.release();
  await tellAll(pool);
  await assertToldOnce();
  await pool.end();
});
