/** The parts that a command compares rows with the bucket by. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { listen } from "../../test/support/tls-receiver.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { makeLog } from "../telemetry/log.ts";
import { openReconciling } from "./service.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** The names of connections to the database. */
async function connected(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend'
        AND application_name <> 'postern test'`,
  );
  return rows.map(({ name }) => name);
}

it("are of its database, leave no connection behind, and need no intake", async (test) => {
  let calls = 0;
  const intake = createServer((socket) => {
    calls++;
    socket.destroy();
  });
  const INTAKE_URL = `nats://127.0.0.1:${await listen(intake)}`;
  test.after(() => intake.close());
  const { url: databaseUrl } = database;
  const settings = { DATABASE_URL: databaseUrl, DATA_DIR: temporaryPath("reconciling"), INTAKE_URL };
  const config = readConfig({ ...makeSecrets(), ...settings });
  const log = makeLog("silent");
  const { services, close } = await openReconciling({ config, databaseUrl, migrations: [], log });
  assert.deepEqual([services.bucket.name, services.planDays], ["artifacts", config.artifactDays]);
  await services.db.query("SELECT");
  await services.tenants.of(tenant("acme")).query("SELECT");
  assert.deepEqual(await connected(), ["postern worker"]);
  await close();
  await eventually(async () => (await connected()).length === 0);
  assert.equal(calls, 0);
});
