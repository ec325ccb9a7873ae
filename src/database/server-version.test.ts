import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { ConfigError } from "../shared/config-error.ts";
import { createPool, type Pool } from "./pool.ts";
import { isSupported, readServerVersion, requireSupported } from "./server-version.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ migrated: false });
});
after(() => database.drop());

async function asking<T>(version: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const { url } = await pretend(database, [
    `FUNCTION current_setting(text) RETURNS text RETURN '${version} of ' || $1`,
  ]);
  const pool = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

it("PostgreSQL from 15 on is supported", () => {
  for (const version of ["15.0", "15beta2", "16.4 (Debian 16.4-1)", "100.1"])
    assert.equal(isSupported(version), true, version);
  for (const version of ["14.22", "9.6.24", "2", ""]) assert.equal(isSupported(version), false, version);
});

it("an older server is refused with its version", async () => {
  assert.equal(await asking("14.22", readServerVersion), "14.22 of server_version");
  await assert.rejects(asking("14.22", requireSupported), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.equal(
      error.message,
      "the database is PostgreSQL 14.22 of server_version: Postern needs 15 or newer, and has changed nothing",
    );
    return true;
  });
  await asking("15.0", requireSupported);
});
