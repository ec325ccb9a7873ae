/** Exports that meet a database which can't do its work for a while. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { idAt, parseEndpointId, parseTenantId } from "../src/shared/id.ts";
import { countLog } from "../src/storage/exports/count-log.ts";
import { seedDeliveries, seedMany, storageOf } from "./support/exports.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const ROWS = 2000;
/** More than an export's fruitless runs. */
const OUTAGES = 4;

let database: TestDatabase;
let receiver: TlsReceiver;
let dataDir: string;
let env: Environment;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  dataDir = await mkdtemp(join(tmpdir(), "postern-outage-"));
  env = { ...(await sharedSettings(database.url, receiver.caPem)), DATA_DIR: dataDir };
  await seedMany(database.pool, "acme", ROWS);
});
after(async () => {
  await receiver.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Given back without counting as a run, and not to be claimed for some time. */
async function isWaiting(id: string): Promise<boolean> {
  const { rows } = await database.pool.query(
    `SELECT status, fruitless_runs = 0 AND lease_until > now() + interval '20 seconds' AS waits
      FROM postern.storage_exports WHERE id = $1`,
    [id],
  );
  assert.notEqual(rows[0]?.status, "failed", "it has failed for good");
  return rows[0]?.waits === true;
}

async function endLeases(db: Pick<TestDatabase["pool"], "query"> = database.pool): Promise<void> {
  await db.query("UPDATE postern.storage_exports SET lease_until = now() WHERE lease_until IS NOT NULL");
}

async function requireComplete(program: Program, id: string): Promise<void> {
  const found = await storageOf(program).waitFor(id);
  assert.equal(found.progress.rows_done, ROWS);
  assert.equal(found.progress.rows_total, ROWS);
}

describe("an export", () => {
  it("waits out a statement's time limit, a failover to a read-only server, a full disk and a deadlock", async () => {
    const { pool } = database;
    const refuseWith = (code: string) =>
      pool.query(`CREATE OR REPLACE FUNCTION postern.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '${code}'; END $$`);
    const codes = ["57014", "25006", "53100", "40P01"];
    assert.equal(codes.length, OUTAGES);
    await refuseWith("57014");
    await pool.query(`CREATE TRIGGER refuse BEFORE UPDATE OF parts ON postern.storage_exports
      FOR EACH ROW WHEN (jsonb_array_length(NEW.parts) > 0) EXECUTE FUNCTION postern.refuse()`);
    const program = await startProgram(["up"], env);
    try {
      const id = await storageOf(program).request();
      for (const code of codes) {
        await eventually(() => isWaiting(id));
        await refuseWith(code);
        await endLeases();
      }
      await eventually(() => isWaiting(id));
      await pool.query("DROP FUNCTION postern.refuse() CASCADE");
      await endLeases();
      await requireComplete(program, id);
    } finally {
      await program.end("SIGKILL");
    }
  });

  it("gives its lease back when the database can be written to again, so the run does not count", async () => {
    const { pool } = database;
    const name = new URL(database.url).pathname.slice(1);
    // Connections from before an outage stay writable; those opened in it never are.
    const [own, other] = [await pool.connect(), await pool.connect()];
    const program = await startProgram(["up"], env);
    const dropConnections = () =>
      own.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name <> 'postern test'`,
      );
    try {
      const id = await storageOf(program).request();
      for (let outages = 0; outages < OUTAGES;) {
        // The run waits for this lock in the middle of its work.
        await own.query("BEGIN");
        await own.query("LOCK TABLE postern.deliveries IN ACCESS EXCLUSIVE MODE");
        await endLeases(other);
        await eventually(async () => {
          // By the export's own statement: upkeep of other kinds waits for the lock too.
          // Asked by another connection, for a transaction sees the activity of its first look.
          const waiting = await other.query(
            `SELECT FROM pg_locks JOIN pg_stat_activity AS waiter USING (pid)
              WHERE NOT granted AND relation = 'postern.deliveries'::regclass
                AND waiter.datname = current_database() AND waiter.query LIKE '% AS fits FROM postern.deliveries %'`,
          );
          return (waiting.rowCount ?? 0) > 0;
        });
        await other.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
        // Before the run loses its connection: it may fail, and say so, before the next statement here.
        const seen = program.output().split("could not be released yet").length;
        await dropConnections();
        await own.query("COMMIT");
        // A connection that was being opened meanwhile may be writable too: then the lease was given back at once.
        const outcome = await eventually(async () => {
          if (program.output().split("could not be released yet").length > seen) return "kept";
          return (await isWaiting(id)) && "given back";
        });
        if (outcome === "kept") outages++;
        await other.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
        await dropConnections();
        await eventually(() => isWaiting(id));
      }
      await endLeases(other);
      await requireComplete(program, id);
    } finally {
      await other.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
      own.release();
      other.release();
      await program.end("SIGKILL");
    }
  });
});

describe("counting an export's rows", () => {
  it("counts each row of the range once, whatever the size of a slice", async () => {
    const tenantId = parseTenantId("counted");
    assert.ok(tenantId !== null);
    const day = 86_400_000;
    const from = new Date(Date.now() - 3 * day);
    const endpoints = ["0190a5b1-7c00-7000-8000-0000000000aa", "0190a5b1-7c00-7000-8000-0000000000bb"];
    const times = [-1, 0, 1, day, day + 1, 2 * day, 2 * day + 5, 3 * day - 1, 3 * day];
    await seedDeliveries(
      database.pool,
      tenantId,
      times.flatMap((ms) => endpoints.map((endpoint_id) => ({ id: idAt(from.getTime() + ms), endpoint_id }))),
    );
    const range = {
      tenantId,
      from,
      to: new Date(from.getTime() + 3 * day),
      endpointId: null,
      eventType: null,
      deliveryStatus: null,
    };
    const { signal } = new AbortController();
    for (const sliceRows of [1, 2, 3, 100]) {
      assert.equal(await countLog(database.pool, range, { limit: 100, signal, sliceRows }), 14);
    }
    const one = { ...range, endpointId: parseEndpointId(endpoints[0]) };
    assert.equal(await countLog(database.pool, one, { limit: 100, signal, sliceRows: 2 }), 7);
    assert.equal(await countLog(database.pool, range, { limit: 4, signal, sliceRows: 1 }), 5);
    for (const [eventType, count] of [
      ["invoice.*", 14],
      ["invoice.paid", 14],
      ["invoice", 0],
    ] as const) {
      const narrowed = { ...range, eventType };
      assert.equal(await countLog(database.pool, narrowed, { limit: 100, signal, sliceRows: 3 }), count);
    }
  });
});
