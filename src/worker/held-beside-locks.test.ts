/** Leases that are given back while another transaction has the lock of an endpoint, or of a dispatch, for long. */
import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { addDispatches } from "../../test/support/dispatch-rows.ts";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { seededDatabase } from "../../test/support/seeded-database.ts";
import { completed } from "../../test/support/store-inputs.ts";
import { LEASE_OWNER, type Rows } from "../../test/support/two-tenants.ts";
import type { Db } from "../database/pool.ts";
import { holdDispatches } from "../queue/postgres/follow-store.ts";
import { releaseDispatches } from "../queue/postgres/release-store.ts";
import type { LeasedDispatch } from "../queue/queue.ts";
import { systemClock } from "../shared/clock.ts";
import { newDeliveryId, newEventId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeReturns, type Returns } from "./returns.ts";

const seeded = seededDatabase();
const { sql } = seeded;
const LOCK = "SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE";

let returns: Returns;
let stopping: AbortController;

async function within300Ms<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const session = await seeded.pool.connect();
  try {
    await session.query("SET lock_timeout = '300ms'");
    return await work(session);
  } finally {
    session.release(true);
  }
}

beforeEach(async () => {
  await sql(
    "DELETE FROM postern.dispatches; UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'",
  );
  stopping = new AbortController();
  returns = makeReturns({
    queue: {
      hold: (dispatches, whenLocked) => within300Ms((db) => holdDispatches(db, dispatches, whenLocked)),
      release: (dispatches, to, whenLocked) =>
        within300Ms((db) => releaseDispatches(db, dispatches, to, whenLocked)),
    },
    clock: systemClock,
    log: makeLog("silent"),
    metrics: makeMetrics(),
    stopping: stopping.signal,
  });
});

async function lease({ tenantId, endpointId }: Rows): Promise<LeasedDispatch> {
  const [id, eventId] = [newDeliveryId(), newEventId()];
  await addDispatches(seeded.pool, { tenantId, endpointId, eventId }, [
    { attempt: 1, id, leaseOwner: LEASE_OWNER, claimableInMs: 60_000 },
  ]);
  return { ...completed(seeded.acme).dispatch, tenantId, endpointId, id, eventId };
}

it("one is held as soon as its own endpoint's lock is free, however long another's that it waited with is held", async () => {
  const { acme, globex, pool } = seeded;
  const [long, short] = [await pool.connect(), await pool.connect()];
  try {
    for (const session of [long, short]) await session.query("BEGIN");
    await long.query(LOCK, [acme.endpointId]);
    await short.query(LOCK, [globex.endpointId]);
    const dispatches = [await lease(acme), await lease(globex)] as const;
    const [first, second] = dispatches.map((dispatch) => returns.hold(dispatch));
    first?.catch(() => undefined);
    const pid = await pidOf(long);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    await short.query("ROLLBACK");
    await second;
    assert.deepEqual(await sql("SELECT id FROM postern.dispatches WHERE held"), [{ id: dispatches[1].id }]);
    await long.query("ROLLBACK");
    await first;
    assert.deepEqual(await sql("SELECT FROM postern.dispatches WHERE NOT held"), []);
  } finally {
    for (const session of [long, short]) session.release(true);
  }
});

it("one whose endpoint stays locked keeps no worker from stopping", { timeout: 10_000 }, async () => {
  const { acme, pool } = seeded;
  const long = await pool.connect();
  try {
    await long.query("BEGIN");
    await long.query(LOCK, [acme.endpointId]);
    const held = assert.rejects(returns.hold(await lease(acme)), { code: "55P03" });
    const pid = await pidOf(long);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    stopping.abort();
    await held;
  } finally {
    long.release(true);
  }
});

it("those are released whose dispatch is free, beside one that is locked for long", async () => {
  const { acme, globex, pool } = seeded;
  const long = await pool.connect();
  try {
    const dispatches = [await lease(acme), await lease(globex)] as const;
    await long.query("BEGIN");
    await long.query("SELECT FROM postern.dispatches WHERE id = $1 FOR UPDATE", [dispatches[0].id]);
    await returns.release(dispatches, "claimable", "stopping");
    assert.deepEqual(await sql("SELECT id FROM postern.dispatches WHERE lease_owner IS NULL"), [
      { id: dispatches[1].id },
    ]);
  } finally {
    long.release(true);
  }
});
