import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { eventually } from "../../test/support/eventually.ts";
import { sessions } from "../../test/support/sessions.ts";
import { refuseSharedConnections } from "./pooler.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ migrated: false });
  await database.pool.query("CREATE SEQUENCE asked");
});
after(() => database.drop());

/** What a client is told when it asks which process serves it. */
async function telling(pid: string): Promise<string> {
  const { url } = await pretend(database, [
    `FUNCTION pg_backend_pid() RETURNS integer LANGUAGE sql VOLATILE AS $$ SELECT (${pid})::integer $$`,
  ]);
  return url;
}

const REFUSED = {
  name: "SharedConnectionsError",
  message:
    "DATABASE_URL leads to a pooler in transaction or statement mode, such as PgBouncer: there SET ROLE leaks to others' connections",
};
const OWN = "pg_catalog.pg_backend_pid()";

const connected = async () => (await sessions(database.pool, { name: "postern start" })).length;

describe("a database's connections", () => {
  it("that are each served by one process are used, through a pooler too", async () => {
    await refuseSharedConnections(database.url, 5000);
    await refuseSharedConnections(await telling(`${OWN} + 1000000`), 5000);
    await eventually(async () => (await connected()) === 0);
  });

  it("that meet the same process are refused, at once or as often as a pooler has servers", async () => {
    await assert.rejects(refuseSharedConnections(await telling("1"), 5000), REFUSED);
    // Each has served the one by the time that the other meets it.
    await assert.rejects(
      refuseSharedConnections(await telling("-(nextval('public.asked') % 3)"), 5000),
      REFUSED,
    );
    await eventually(async () => (await connected()) === 0);
  });

  it("are asked for no longer than they may take, and a mistake is told", async () => {
    const slow = await telling("SELECT 1 FROM pg_sleep(20)");
    await assert.rejects(refuseSharedConnections(slow, 200), /timeout/);
    const url = new URL(database.url);
    url.pathname = "/no_such_database";
    await assert.rejects(refuseSharedConnections(url.href, 5000), { code: "3D000" });
  });
});
