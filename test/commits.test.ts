/** `/ready` judges by whether commits happen, and names the cause when they do not. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { endSessions } from "./support/sessions.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  api = await startTestService({ database, receiver, roles: ["api"] });
});
after(async () => {
  await api.stop();
  await receiver.close();
  await database.drop();
});

const unready = z.strictObject({
  status: z.literal("not ready"),
  error: z.string(),
  reasons: z.tuple([z.string()]),
  warnings: z.array(z.string()),
});

/** What a commit of a moment ago showed is believed for a second. */
async function reason(): Promise<string> {
  return eventually(async () => {
    const answer = await api.call("GET", "/ready", { as: null });
    return answer.status === 503 && unready.parse(answer.body).reasons[0];
  });
}

async function becomesReady(): Promise<void> {
  await eventually(async () => {
    const { status, body } = await api.call("GET", "/ready", { as: null });
    if (status === 200) assert.deepEqual(body, { status: "ready", warnings: [] });
    return status === 200;
  });
}

async function publish(): Promise<number> {
  const json = { type: "invoice.paid", data: {} };
  return (await api.call("POST", "/api/events", { as: PRODUCER, json })).status;
}

const sql = (text: string) => database.pool.query(text);

describe("/ready", () => {
  it("says that the database is read-only, as after a failover", async () => {
    await becomesReady();
    const name = new URL(database.url).pathname.slice(1);
    const dropConnections = () => endSessions(database.pool, { name: "postern api%" });
    await sql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await dropConnections();
    assert.match(
      await eventually(async () => (await reason()).includes("read-only") && reason()),
      /^the database is read-only: point DATABASE_URL/,
    );
    await sql(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await dropConnections();
    await becomesReady();
  });

  it("says that the disk is full, also when only events no longer fit", async () => {
    await sql(`CREATE FUNCTION postern.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`);
    for (const table of ["heartbeats", "events"]) {
      await sql(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON postern.${table}
        FOR EACH ROW EXECUTE FUNCTION postern.refuse()`);
      assert.equal(await publish(), table === "events" ? 503 : 202);
      assert.match(await reason(), /^the database's disk is full: free space/);
      await sql(`DROP TRIGGER refuse ON postern.${table}`);
      assert.equal(await publish(), 202);
      await becomesReady();
    }
    await sql("DROP FUNCTION postern.refuse()");
  });

  for (const [table, mode] of [
    ["endpoints", "ACCESS EXCLUSIVE"],
    ["events", "SHARE"],
  ]) {
    it(`names who has ${table} locked in ${mode} mode, and does not say that the database is away`, async () => {
      const holder = await database.pool.connect();
      const pid = z
        .object({ pid: z.number() })
        .parse((await holder.query("SELECT pg_backend_pid() AS pid")).rows[0]).pid;
      await holder.query(`BEGIN; SET LOCAL application_name = 'a forgotten session'`);
      await holder.query(`LOCK TABLE postern.${table} IN ${mode} MODE`);
      assert.equal(
        await reason(),
        `process ${pid} (a forgotten session) has postern.${table} locked: end its transaction, as by SELECT pg_terminate_backend(${pid})`,
      );
      await holder.query("ROLLBACK");
      holder.release();
      await becomesReady();
    });
  }
});
