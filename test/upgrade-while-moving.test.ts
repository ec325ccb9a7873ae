/** Migrations that change the log while rows of a day move out of its default partition. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { migrate } from "../src/database/schema/migrate.ts";
import { readMigrations } from "../src/database/schema/migration-files.ts";
import { idAt } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

const DAY_MS = 86_400_000;
/** The last release whose tables a move was begun with. */
const BEFORE = "0035";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase({ migrated: false });
});
after(() => database.drop());

it("keep the move going, and lose none of its rows", async () => {
  const { pool } = database;
  const all = await readMigrations(join(import.meta.dirname, "..", "migrations"));
  await migrate(
    pool,
    all.filter(({ file }) => !/^[0-9]/.test(file) || file.slice(0, BEFORE.length) <= BEFORE),
  );
  // A day that has no partition yet.
  const dayMs = Date.now() + 20 * DAY_MS;
  const day = new Date(dayMs).toISOString().slice(0, 10);
  const log = () =>
    pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        VALUES ('acme', gen_random_uuid(), $1, gen_random_uuid(), 'invoice.paid', 'test', 'test', 1, '{}', 1)`,
      [idAt(dayMs)],
    );
  await log();
  const { rows } = await pool.query("SELECT postern.stage_partitions('deliveries', $1, $1) AS pages", [day]);
  assert.equal(rows[0].pages, 1);

  await migrate(pool, all);
  await log();
  await pool.query("SELECT postern.copy_staged_rows('deliveries', 0, 100)");
  await log();
  const attached = await pool.query("SELECT postern.attach_staged('deliveries') AS days");
  assert.equal(attached.rows[0].days, 1);
  const found = await pool.query(
    "SELECT relname AS place, count(*)::int AS count FROM postern.deliveries d JOIN pg_class ON pg_class.oid = d.tableoid GROUP BY 1",
  );
  assert.deepEqual(found.rows, [{ place: `deliveries_${day.replaceAll("-", "")}`, count: 3 }]);
});
