import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { ConfigError } from "../shared/config-error.ts";
import { createPool, type Pool } from "./pool.ts";
import { findUnfit, readServer, requireSupported } from "./server-version.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ migrated: false });
});
after(() => database.drop());

async function asking<T>(version: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const { url } = await pretend(database, [
    `FUNCTION current_setting(text) RETURNS text
      RETURN CASE $1 WHEN 'server_version' THEN '${version}' ELSE pg_catalog.current_setting($1) END`,
  ]);
  const pool = createPool({ url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const isRefused = (message: string) => (error: unknown) => {
  assert.ok(error instanceof ConfigError);
  assert.equal(error.message, message);
  return true;
};

it("PostgreSQL from 15 on is supported", () => {
  for (const version of ["15.0", "15beta2", "16.4 (Debian 16.4-1)", "100.1"])
    assert.equal(findUnfit({ version, encoding: "UTF8" }), null, version);
  for (const version of ["14.22", "9.6.24", "2", ""])
    assert.equal(findUnfit({ version, encoding: "UTF8" })?.fix, "use PostgreSQL 15 or newer", version);
});

it("an older server is refused with its version", async () => {
  assert.deepEqual(await asking("14.22", readServer), { version: "14.22", encoding: "UTF8" });
  await assert.rejects(
    asking("14.22", requireSupported),
    isRefused(
      "the database is PostgreSQL 14.22: Postern needs 15 or newer, and has changed nothing: use PostgreSQL 15 or newer",
    ),
  );
  await asking("15.0", requireSupported);
});

it("a database that does not store every character is refused with its encoding", async () => {
  for (const encoding of ["LATIN1", "SQL_ASCII"]) {
    const narrow = await createTestDatabase({ migrated: false, encoding });
    try {
      await assert.rejects(
        requireSupported(narrow.pool),
        isRefused(
          `the database stores texts in the encoding ${encoding}: Postern needs UTF8, and has changed nothing: create a database with TEMPLATE template0 ENCODING 'UTF8', and restore a dump of this one there if it has data`,
        ),
      );
    } finally {
      await narrow.drop();
    }
  }
});
