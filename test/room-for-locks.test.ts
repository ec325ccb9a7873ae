/** A log of many days on a server with little room for locks: each statement that reads it locks all of its days. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { outageReason } from "../src/api/outage-reason.ts";
import { checkDatabase } from "../src/cli/doctor/doctor-checks.ts";
import { describeMistake } from "../src/cli/mistakes.ts";
import { makeSecrets, readConfig } from "../src/config.ts";
import { createTestDatabase, SERVER, startTestServer, type TestDatabase } from "./support/postgres.ts";
import { temporaryPath } from "./support/temporary.ts";

const given = process.env[SERVER.url];

let server: { url: string; stop(): Promise<void> };
let database: TestDatabase;

before(async () => {
  server = await startTestServer(undefined, { max_connections: "40", max_locks_per_transaction: "64" });
  process.env[SERVER.url] = server.url;
  database = await createTestDatabase();
});
after(async () => {
  await database.drop();
  process.env[SERVER.url] = given;
  await server.stop();
});

async function diagnose(retentionDays: number) {
  const env = { DATABASE_URL: database.url, DATA_DIR: temporaryPath("data") };
  const config = readConfig({ ...makeSecrets(), ...env, RETENTION_DAYS: String(retentionDays) });
  return (await checkDatabase(config)).filter(({ check }) => check === "locks");
}

/** Until there is no room; answers what PostgreSQL says of that. */
async function lockAllThereIs(): Promise<unknown> {
  const client = await database.pool.connect();
  try {
    return await client.query("SELECT pg_advisory_lock(n) FROM generate_series(1, 10000000) n").then(
      () => assert.fail("there was room for all"),
      (error: unknown) => error,
    );
  } finally {
    await client.query("SELECT pg_advisory_unlock_all()");
    client.release();
  }
}

describe("room for locks", () => {
  it("is enough for a month's log, or what would be is told", async () => {
    assert.deepEqual(await diagnose(30), []);
    const [finding] = await diagnose(100);
    assert.ok(finding?.status === "warn");
    assert.match(finding.detail, /^max_locks_per_transaction is 64, too little for RETENTION_DAYS of 100: /);
    assert.match(finding.fix, /^set max_locks_per_transaction to 256, and restart PostgreSQL; /);
  });

  it("that is full is told as such, and not as a want of memory, whose code it has", async () => {
    const refused = await lockAllThereIs();
    assert.match(
      describeMistake(refused) ?? "",
      /^The database has no room for more locks: .*\nRaise max_locks_per_transaction /,
    );
    assert.match(
      outageReason(refused) ?? "",
      /^the database has no room for more locks: raise max_locks_per_transaction /,
    );
  });
});
