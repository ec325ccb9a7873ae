/** A start that fails once everything of it is under way. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { startService } from "./service.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("ends all of that, and fails for the reason that it failed for", async (test) => {
  const { log, lines } = makeKeptLog();
  const full = new Error("the log is full");
  // Before that it may warn of the machine, as that the portal is not built.
  let before = NaN;
  test.mock.method(log, "info", (_fields: unknown, text?: string) => {
    if (text !== "started") return;
    before = lines.length;
    throw full;
  });
  const settings = { PORT: "0", DATA_DIR: temporaryPath("failed-start"), DATABASE_URL: database.url };
  const starting = startService({
    config: readConfig({ ...makeSecrets(), ...settings }),
    catalog: await openCatalog(undefined),
    databaseUrl: database.url,
    migrations: [],
    roles: new Set(["api", "worker"]),
    log,
  });
  await assert.rejects(starting, full);
  await eventually(async () => {
    const { rows } = await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
          AND application_name <> 'postern test'`,
    );
    return rows.length === 0;
  });
  assert.deepEqual(lines.slice(before), []);
});
