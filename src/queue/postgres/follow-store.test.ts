import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addDispatches, inOneMoment } from "../../../test/support/dispatch-rows.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { noticesOf } from "../../../test/support/notices.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { leased } from "../../../test/support/store-inputs.ts";
import { followAll } from "./follow.ts";
import { newEventId } from "../../shared/id.ts";
import { FETCH_CHANNEL, WAKE_CHANNEL } from "../channels.ts";
import {
  endDispatches,
  holdDispatches,
  holdPendingDispatches,
  resumeDispatches,
  supersedeDispatches,
} from "./follow-store.ts";
import { deferDispatch, releaseDispatches } from "./release-store.ts";
import { lockUnsettled } from "./unsettled-store.ts";
import { deleteSuperseded } from "./upkeep-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;

/** Minutes until the leased dispatch may be claimed, and its state. */
async function state() {
  const [found] = await sql(
    `SELECT held, parked, superseded, lease_owner IS NOT NULL AS leased,
      round(extract(epoch FROM claimable_at - now()) / 60)::int AS minutes FROM postern.dispatches WHERE id = $1`,
    seeded.acme.leasedId,
  );
  return found;
}
const FREE = { held: false, parked: false, superseded: false, leased: false, minutes: 0 };

const setDue = (minutes: number) =>
  sql(
    "UPDATE postern.dispatches SET due_at = now() + $2 * interval '1 minute' WHERE id = $1",
    seeded.acme.leasedId,
    minutes,
  );

describe("a leased dispatch that comes back", () => {
  it("keeps its place in the order of what is due, and what is parked", async () => {
    for (const to of ["claimable", "parked"] as const) {
      await seeded.seedAnew();
      await setDue(-10);
      await releaseDispatches(seeded.pool, [leased(seeded.acme)], to);
      assert.deepEqual(await state(), { ...FREE, parked: to === "parked", minutes: -10 });
    }
  });

  it("may be claimed again after as long as it has been due, and an hour at most", async () => {
    for (const [due, minutes] of [
      [-10, 10],
      [-300, 60],
    ] as const) {
      await seeded.seedAnew();
      await setDue(due);
      await deferDispatch(seeded.pool, leased(seeded.acme));
      assert.deepEqual(await state(), { ...FREE, minutes });
    }
  });

  it("is held where its endpoint is disabled, and released where it is enabled or deleted, not before it is due", async () => {
    for (const [change, held] of [
      ["enabled = true", false],
      ["enabled = false, disabled_reason = 'manual'", true],
      ["mode = 'pull'", true],
      ["moving = true", true],
      ["mode = 'pull', deleted_at = now()", false],
    ] as const) {
      await seeded.seedAnew();
      await sql(`UPDATE postern.endpoints SET ${change} WHERE tenant_id = 'acme'`);
      await setDue(10);
      const done = await holdDispatches(seeded.pool, [leased(seeded.acme)], "wait");
      assert.deepEqual(done, new Set([seeded.acme.leasedId]), change);
      assert.deepEqual(await state(), { ...FREE, held, minutes: 10 }, change);
      const isDeleted = change.includes("deleted_at");
      const pending = isDeleted ? "deleted" : held ? "held" : "claimed";
      assert.equal(
        await lockUnsettled(seeded.pool, seeded.acme, { whenLocked: "wait", heldMs: 50 }),
        pending,
        change,
      );
    }
  });
});

it("resumes what was held when it is due, and at once what was due before", async () => {
  for (const [before, minutes] of [
    [10, 10],
    [-10, 0],
  ] as const) {
    await sql(
      "UPDATE postern.dispatches SET held = true, lease_owner = NULL, claimable_at = now() + $2 * interval '1 minute' WHERE id = $1",
      seeded.acme.leasedId,
      before,
    );
    await resumeDispatches(seeded.pool, seeded.acme, null);
    assert.deepEqual(await state(), { ...FREE, minutes });
  }
});

it("follows elsewhere while somebody has an endpoint locked, and not at all once it is to stop", async () => {
  const { acme, globex, pool } = seeded;
  await sql("UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual'");
  const unsettled = async () =>
    (await sql("SELECT tenant_id AS of FROM postern.endpoints WHERE unsettled ORDER BY 1")).map(
      ({ of }) => of,
    );
  await followAll(pool, AbortSignal.abort());
  assert.deepEqual(await unsettled(), [acme.tenantId, globex.tenantId]);
  const other = await pool.connect();
  await other.query("BEGIN");
  await other.query("SELECT FROM postern.endpoints WHERE tenant_id = 'acme' FOR UPDATE");
  const sliced: string[] = [];
  const follow = () =>
    followAll(pool, new AbortController().signal, ({ tenantId }) => void sliced.push(tenantId));
  try {
    await follow();
    assert.deepEqual(
      [await unsettled(), sliced],
      [[acme.tenantId], [acme.tenantId, globex.tenantId, acme.tenantId]],
    );
  } finally {
    await other.query("ROLLBACK");
    other.release();
  }
  await follow();
  assert.deepEqual(await unsettled(), []);
});

it("follows at a tenant's other endpoints while somebody has one of them locked", async () => {
  const { pool } = seeded;
  const locked = "00000000-0000-7000-8000-000000000001";
  await sql("UPDATE postern.endpoints SET unsettled = tenant_id = 'acme'");
  await sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, unsettled)
      SELECT 'acme', id::uuid, 'https://example.com/', '{*}', '\\x0102030405060708', now(), now(), true
      FROM unnest(ARRAY[$1, 'ffffffff-0000-7000-8000-000000000001']) AS id`,
    locked,
  );
  const other = await pool.connect();
  await other.query("BEGIN");
  await other.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [locked]);
  try {
    await followAll(pool, new AbortController().signal);
    assert.deepEqual(await sql("SELECT id FROM postern.endpoints WHERE unsettled"), [{ id: locked }]);
  } finally {
    await other.query("ROLLBACK");
    other.release();
  }
});

const left = async () =>
  sql(
    "SELECT id, superseded, once FROM postern.dispatches WHERE tenant_id = 'acme' AND event_id = $1",
    seeded.acme.eventId,
  );

describe("an event that a person delivered", () => {
  it("keeps of its automatic attempts the one in flight, and each that a person asked for", async () => {
    await sql("UPDATE postern.dispatches SET once = true WHERE tenant_id = 'acme' AND held");
    await addDispatches(seeded.pool, seeded.acme, [{ attempt: 9, eventId: newEventId() }]);
    await supersedeDispatches(seeded.pool, seeded.acme);
    assert.deepEqual(
      (await left())
        .map(({ superseded, once }) => ({ superseded, once }))
        .toSorted((one, other) => Number(one.once) - Number(other.once)),
      [
        { superseded: true, once: false },
        { superseded: false, once: true },
      ],
    );
    assert.deepEqual(
      await sql("SELECT superseded FROM postern.dispatches WHERE attempt = 9"),
      [{ superseded: false }],
      "another event's",
    );
  });

  it("keeps the one in flight until its lease has ended", async () => {
    await sql("DELETE FROM postern.dispatches WHERE id <> $1", seeded.acme.leasedId);
    await supersedeDispatches(seeded.pool, seeded.acme);
    await deleteSuperseded(seeded.pool);
    assert.deepEqual(await left(), [{ id: seeded.acme.leasedId, superseded: true, once: false }]);
    await sql("UPDATE postern.dispatches SET claimable_at = now()");
    await deleteSuperseded(seeded.pool);
    assert.deepEqual(await left(), []);
  });

  it("keeps none whose lease ends at this moment", () =>
    inOneMoment(seeded.pool, async (session) => {
      const pending = "SELECT FROM postern.dispatches WHERE tenant_id = 'acme' AND event_id = $1";
      const count = async () => (await session.query(pending, [seeded.acme.eventId])).rowCount;
      await session.query("UPDATE postern.dispatches SET claimable_at = now() WHERE tenant_id = 'acme'");
      assert.equal(await count(), 4);
      await supersedeDispatches(session, seeded.acme);
      assert.equal(await count(), 0);
    }));

  it("keeps one that another session has locked, for the next run", async () => {
    await sql(
      "UPDATE postern.dispatches SET superseded = true, claimable_at = now() WHERE event_id = $1",
      seeded.acme.eventId,
    );
    await inOneMoment(seeded.pool, async (session) => {
      await session.query("SELECT FROM postern.dispatches WHERE id = $1 FOR UPDATE", [seeded.acme.leasedId]);
      await deleteSuperseded(seeded.pool);
      assert.deepEqual(
        (await left()).map(({ id }) => id),
        [seeded.acme.leasedId],
      );
    });
  });

  it("keeps no next attempt that was recorded while it waited for the one before", async () => {
    await sql("DELETE FROM postern.dispatches WHERE tenant_id = 'acme' AND id <> $1", seeded.acme.leasedId);
    const worker = await seeded.pool.connect();
    await worker.query("BEGIN");
    await worker.query(
      `WITH done AS (DELETE FROM postern.dispatches WHERE id = $1 RETURNING *)
        INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        SELECT tenant_id, endpoint_id, postern.uuid_v7(), event_id, event_type, 2, now(), now() FROM done`,
      [seeded.acme.leasedId],
    );
    const superseding = supersedeDispatches(seeded.pool, seeded.acme);
    const pid = await pidOf(worker);
    await eventually(async () => (await waitersFor(seeded.pool, pid)) === 1);
    await worker.query("COMMIT");
    worker.release();
    await superseding;
    assert.deepEqual(await left(), []);
  });
});

it("lets a large backlog follow from its beginning when its endpoint's state changes between two slices", async () => {
  await sql("DELETE FROM postern.dispatches");
  await sql(
    "UPDATE postern.endpoints SET enabled = false, disabled_reason = 'manual', unsettled = tenant_id = 'acme'",
  );
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $1, $2, postern.uuid_v7(), $3, 'invoice.paid', 1, now(), now() FROM generate_series(1, 5001)`,
    seeded.acme.tenantId,
    seeded.acme.endpointId,
    seeded.acme.eventId,
  );
  await inOneMoment(seeded.pool, async (session) => {
    await holdPendingDispatches(session, seeded.acme, null);
    const { rowCount } = await session.query("SELECT FROM postern.dispatches WHERE NOT held");
    assert.equal(rowCount, 1);
  });
  // With the commit of the first slice, which holds all but one.
  await sql(`CREATE FUNCTION public.enable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE postern.endpoints SET enabled = true, disabled_reason = NULL WHERE NOT enabled AND tenant_id = 'acme';
    RETURN NULL; END $$`);
  await sql("CREATE TRIGGER enable AFTER UPDATE ON postern.dispatches EXECUTE FUNCTION public.enable()");
  try {
    await followAll(seeded.pool, new AbortController().signal);
  } finally {
    await sql("DROP TRIGGER enable ON postern.dispatches");
  }
  assert.deepEqual(await sql("SELECT held, count(*)::int FROM postern.dispatches GROUP BY held"), [
    { held: false, count: 5001 },
  ]);
  assert.deepEqual(await sql("SELECT enabled, unsettled FROM postern.endpoints WHERE tenant_id = 'acme'"), [
    { enabled: true, unsettled: false },
  ]);
  assert.equal(await lockUnsettled(seeded.pool, seeded.acme, { whenLocked: "wait", heldMs: 50 }), null);
});

it("ends all that is pending at a deleted endpoint, in flight too, but no attempt that only its worker may log", async () => {
  await sql(
    "UPDATE postern.dispatches SET superseded = true WHERE tenant_id = 'acme' AND parked AND NOT once",
  );
  assert.equal(await endDispatches(seeded.pool, seeded.acme, null), null);
  assert.deepEqual(
    await sql(
      "SELECT tenant_id AS of, superseded, count(*)::int FROM postern.dispatches GROUP BY 1, 2 ORDER BY 1",
    ),
    [
      { of: "acme", superseded: true, count: 1 },
      { of: "globex", superseded: false, count: 5 },
    ],
  );
  const ended = { status: "failed", error: "endpoint_deleted", took: 0, sent: {} };
  const first = { ...ended, trigger: "event", attempt: 1, replay: null };
  assert.deepEqual(
    await sql(
      `SELECT status, error, latency_ms AS took, request_headers AS sent, trigger, attempt, replay_id AS replay
        FROM postern.deliveries WHERE tenant_id = 'acme' AND error IS NOT NULL ORDER BY attempt`,
    ),
    [first, first, first, { ...ended, trigger: "retry", attempt: 2, replay: seeded.acme.replayId }],
  );
});

describe("who waits for work", () => {
  it("hears which endpoint's events are to be fetched now, and that some are claimable again", async () => {
    const { acme, pool } = seeded;
    const toFetch = [[FETCH_CHANNEL, acme.endpointId]];
    assert.deepEqual(await noticesOf(seeded.pool, () => holdPendingDispatches(pool, acme, null)), toFetch);
    assert.deepEqual(await noticesOf(seeded.pool, () => resumeDispatches(pool, acme, null)), [
      [WAKE_CHANNEL, ""],
      ...toFetch,
    ]);
    await sql("UPDATE postern.endpoints SET mode = 'pull'");
    assert.deepEqual(
      await noticesOf(seeded.pool, () => holdDispatches(pool, [leased(acme)], "wait")),
      toFetch,
    );
    assert.deepEqual(await noticesOf(seeded.pool, () => endDispatches(pool, acme, null)), toFetch);
  });

  it("hears which event in flight a person has delivered", async () => {
    const { acme, pool } = seeded;
    const { endpointId, eventId } = acme;
    assert.deepEqual(await noticesOf(seeded.pool, () => supersedeDispatches(pool, acme)), [
      [WAKE_CHANNEL, `${endpointId} ${eventId}`],
    ]);
  });
});
