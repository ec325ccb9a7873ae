/** The table of workers and their leases. How soon a worker counts as dead is `dead-workers.test.ts`. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { PoolClient } from "pg";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { LEASE_MS } from "../queue.ts";
import { workerTable, type WorkerTable } from "./dead-workers.ts";
import { lastLeaseId, makeLeaseIds } from "./lease-ids.ts";
import { confirmWorker, holdWorkerLock, removeWorker } from "./presence-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
let table: WorkerTable;
let worker: string;
beforeEach(async () => {
  await sql("DELETE FROM postern.workers; DELETE FROM postern.dispatches");
  table = workerTable(seeded.pool);
  worker = makeLeaseIds().first;
  await confirmWorker(seeded.pool, worker, "session");
});

it("lets a worker without a session keep its leases, and not its slots", async () => {
  await sql(
    "UPDATE postern.workers SET seen_at = now() - interval '1 h', session_at = now() - interval '1 h'",
  );
  const isFresh = async (over: "session" | "pool") => {
    await confirmWorker(seeded.pool, worker, over);
    const [found] = await sql(
      "SELECT seen_at > now() - interval '1 min' AS seen, session_at > now() - interval '1 min' AS session FROM postern.workers",
    );
    return found;
  };
  assert.deepEqual(await isFresh("pool"), { seen: true, session: false });
  assert.deepEqual(await isFresh("session"), { seen: true, session: true });
});

const isDead = async () => (await table.findUnheld()).map((found) => found.isDead);
const declareDead = () => sql("UPDATE postern.workers SET is_dead = true");

it("confirms a worker under the time of its registration, until others free its leases", async () => {
  const registered = await confirmWorker(seeded.pool, worker, "session");
  assert.deepEqual(await sql("SELECT registered_at::text AS at FROM postern.workers"), [{ at: registered }]);
  assert.equal(await confirmWorker(seeded.pool, worker, "pool"), registered);
  await declareDead();
  assert.equal(await confirmWorker(seeded.pool, worker, "session"), null);
  await removeWorker(seeded.pool, makeLeaseIds().first);
  assert.deepEqual(await isDead(), [true]);
  await removeWorker(seeded.pool, worker);
  assert.deepEqual(await isDead(), []);
});

it("lets a worker's sessions hold its lock together, and no other's where one has it alone", async () => {
  const [one, other] = [await seeded.pool.connect(), await seeded.pool.connect()];
  try {
    await one.query("SET synchronous_commit = on");
    assert.deepEqual(await isDead(), [false], "without a lock");
    for (const session of [one, other]) assert.equal(await holdWorkerLock(session, worker), true);
    assert.deepEqual(await isDead(), [], "with its lock");
    await declareDead();
    assert.deepEqual(await isDead(), [true], "declared dead, with its lock");
    const { rows } = await one.query(
      "SELECT current_setting('synchronous_commit') AS commit, current_setting('idle_session_timeout') AS idle",
    );
    assert.deepEqual(rows, [{ commit: "off", idle: "0" }]);
    const another = makeLeaseIds().first;
    await one.query("SELECT pg_advisory_lock(hashtextextended('postern.worker ' || $1, 0))", [another]);
    assert.equal(await holdWorkerLock(other, another), false);
  } finally {
    for (const session of [one, other]) session.release(true);
  }
});

it("takes no lock for a worker's that is another database's, or that is only waited for", async (test) => {
  const elsewhere = await createTestDatabase({ migrated: false });
  test.after(() => elsewhere.drop());
  const [abroad, alone, waiting] = [
    await elsewhere.pool.connect(),
    await seeded.pool.connect(),
    await seeded.pool.connect(),
  ];
  await holdWorkerLock(abroad, worker);
  assert.deepEqual(await isDead(), [false]);
  const lock = "hashtextextended('postern.worker ' || $1, 0)";
  await alone.query(`SELECT pg_advisory_lock(${lock})`, [worker]);
  await waiting.query("SET lock_timeout = 0");
  const waited = waiting.query(`SELECT pg_advisory_lock_shared(${lock})`, [worker]);
  await eventually(async () => (await waitersFor(seeded.pool, await pidOf(alone))) === 1);
  assert.deepEqual(await isDead(), [false]);
  alone.release(true);
  await waited;
  assert.deepEqual(await isDead(), []);
  for (const session of [abroad, waiting]) session.release(true);
});

/** As from a server that has been up for so long, which says by now whether a lock without a holder tells anything. */
async function afterStart(
  upFor: string,
  work: (table: WorkerTable, session: PoolClient) => Promise<void>,
): Promise<void> {
  const session = await seeded.pool.connect();
  try {
    await session.query(
      `CREATE OR REPLACE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT now() - current_setting('test.up_for')::interval $$`,
    );
    // Before PostgreSQL's own of this name.
    await session.query(`SET search_path = public, pg_catalog; SET test.up_for = '${upFor}'`);
    await work(workerTable(session), session);
  } finally {
    session.release(true);
  }
}

const SILENT_FOR = "UPDATE postern.workers SET seen_at = now() - $1::interval";

describe("a worker", () => {
  it("is declared dead once, when it has been silent for so long without its lock", async () => {
    await afterStart("21 s", async (old, session) => {
      // Within a transaction the database's time stands still.
      const markDeadAfter = async (silence: string, of = worker) => {
        await session.query("BEGIN");
        await session.query(SILENT_FOR, [silence]);
        const isMarked = await old.markDead(of, 4000);
        await session.query("COMMIT");
        return isMarked;
      };
      assert.equal(await markDeadAfter("4 s"), false);
      assert.equal(await markDeadAfter("4001 ms", makeLeaseIds().first), false);
      assert.deepEqual(await isDead(), [false]);
      assert.equal(await markDeadAfter("4001 ms"), true);
      assert.deepEqual(await isDead(), [true]);
      assert.equal(await old.markDead(worker, 4000), false);
    });
  });

  it("is not declared dead while a session has its lock", async () => {
    await sql(SILENT_FOR, "1 hour");
    const session = await seeded.pool.connect();
    await holdWorkerLock(session, worker);
    await afterStart("1 hour", async (old) => assert.equal(await old.markDead(worker, 4000), false));
    session.release(true);
  });

  it("is not declared dead in the first 20 seconds of a server, when every lock is free", async () => {
    await sql(SILENT_FOR, "1 hour");
    await afterStart("19 s", async (young) => assert.equal(await young.markDead(worker, 4000), false));
  });

  it("is removed as dead only where it has not registered anew", async () => {
    await table.removeDead(worker);
    assert.deepEqual(await isDead(), [false]);
    await confirmWorker(seeded.pool, makeLeaseIds().first, "session");
    await declareDead();
    await table.removeDead(worker);
    assert.deepEqual(await isDead(), [true], "the other is left");
  });
});

/** Dispatches that are leased under these ids until then, or marked besides. */
async function lease(
  given: readonly { leaseId: string; endsInMs?: number; marks?: string }[],
): Promise<void> {
  for (const { leaseId, endsInMs = LEASE_MS, marks = "" } of given) {
    await sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
          lease_owner, held, parked)
        VALUES ($1, $2, postern.uuid_v7(), $3, 'invoice.paid', 1, now(), now() + $4 * interval '1 ms', $5, $6, $7)`,
      seeded.acme.tenantId,
      seeded.acme.endpointId,
      seeded.acme.eventId,
      endsInMs,
      leaseId,
      marks === "held",
      marks === "parked",
    );
  }
}

async function freed(): Promise<number> {
  const [found] = await sql(
    "SELECT count(*)::int AS free FROM postern.dispatches WHERE lease_owner IS NULL AND claimable_at <= now()",
  );
  return found.free;
}

describe("the leases of a dead worker", () => {
  it("are freed, and neither those of others nor what a claim would not meet", async () => {
    const [next, last] = [makeLeaseIds(), lastLeaseId(worker)];
    await lease([
      { leaseId: worker },
      { leaseId: last },
      { leaseId: last, endsInMs: 2 * LEASE_MS - 5000 },
      { leaseId: last, endsInMs: 2 * LEASE_MS + 5000 },
      { leaseId: last, marks: "held" },
      { leaseId: last, marks: "parked" },
      { leaseId: next.next() },
    ]);
    const dead = makeLeaseIds().first;
    await confirmWorker(seeded.pool, dead, "session");
    await sql("UPDATE postern.workers SET is_dead = true WHERE first_lease_id = $1", dead);
    assert.equal(await table.freeSome(worker), false);
    assert.equal(await freed(), 0, "it lives, though another is dead");
    await declareDead();
    assert.equal(await table.freeSome(worker), false);
    assert.equal(await freed(), 3);
    const left = await sql("SELECT lease_owner AS of FROM postern.dispatches WHERE lease_owner IS NOT NULL");
    assert.equal(left.length, 4);
  });

  it("are freed 5000 at once, and no more are tried while others hold them all", async () => {
    await lease([{ leaseId: worker }]);
    await sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
        SELECT tenant_id, endpoint_id, postern.uuid_v7(), event_id, event_type, 1, due_at, claimable_at, lease_owner
        FROM postern.dispatches, generate_series(1, 5000)`,
    );
    await declareDead();
    const other = await seeded.pool.connect();
    await other.query("BEGIN");
    await other.query("SELECT FROM postern.dispatches FOR UPDATE");
    assert.equal(await table.freeSome(worker), false);
    await other.query("ROLLBACK");
    other.release();
    assert.deepEqual([await table.freeSome(worker), await freed()], [true, 5000]);
    assert.deepEqual([await table.freeSome(worker), await freed()], [false, 5001]);
  });
});
