/** The oldest PostgreSQL, as shipped, and a user of few rights: every migration, and an event's whole way. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { migrate } from "../src/database/schema/migrate.ts";
import { readMigrations } from "../src/database/schema/migration-files.ts";
import { createPool, type Pool } from "../src/database/pool.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { installPostgres15, startPostgres15 } from "./support/postgres-15.ts";
import type { TestDatabase } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";

/** As docs/operating.md has it. */
async function openAsOperator(): Promise<TestDatabase> {
  await installPostgres15(console.error);
  const server = await startPostgres15({ fsync: "off" });
  const admin = open(server.url);
  await admin.query("CREATE ROLE operator LOGIN CREATEROLE");
  await admin.query("CREATE DATABASE operated OWNER operator");
  await admin.end();
  const url = new URL(server.url);
  url.username = "operator";
  url.pathname = "/operated";
  const pool = open(url.href);
  const drop = async (): Promise<void> => {
    await pool.end();
    await server.stop();
  };
  return { url: url.href, pool, drop };
}

function open(url: string): Pool {
  return createPool({ url, poolSize: 5, applicationName: "postern test", connectionTimeoutMs: 5000 });
}

it("takes every migration from a user who is no superuser, and leads events from HTTP and SQL to their deliveries", async (context) => {
  const database = await openAsOperator();
  context.after(() => database.drop());
  const migrations = await readMigrations(join(import.meta.dirname, "..", "migrations"));
  assert.equal((await migrate(database.pool, migrations)).length, migrations.length);
  const { rows: versions } = await database.pool.query("SELECT version()");
  context.diagnostic(String(versions[0]?.version));

  const service = await startTestService({ database });
  try {
    const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
    const { id } = await publish(service);
    // The worker announces the catalog to SQL after its start.
    await eventually(
      async () =>
        (await database.pool.query("SELECT FROM postern.event_types WHERE type = 'invoice.paid'"))
          .rowCount === 1,
    );
    const { rows } = await database.pool.query("SELECT postern.publish('acme', 'invoice.paid', '{}') AS id");
    for (const eventId of [id, String(rows[0]?.id)]) {
      await eventually(
        async () => (await listDeliveries(service, endpoint.id, `?event_id=${eventId}&status=delivered`))[0],
      );
    }
  } finally {
    await service.stop();
  }
});
