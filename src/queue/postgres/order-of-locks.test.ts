/**
 * In one order everywhere: who waits for a row has those before it, and none
 * behind it. So two statements on the same rows never wait for each other in a
 * circle. Where locked rows are skipped, the order is of no account.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { addDispatches } from "../../../test/support/dispatch-rows.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER, tenant } from "../../../test/support/two-tenants.ts";
import type { Db } from "../../database/pool.ts";
import {
  newEventId,
  parseDeliveryId,
  parseEndpointId,
  type DeliveryId,
  type EndpointId,
} from "../../shared/id.ts";
import { removeOldAudit } from "../../audit/audit-store.ts";
import { forgetDeletedEndpoints } from "../../endpoints/endpoint-store.ts";
import { mirrorEventTypes } from "../../events/outbox-store.ts";
import { forgetReplays } from "../../replays/replay-store.ts";
import { endInterruptedSends } from "../../deliveries/person-send-store.ts";
import { removeOldWatches } from "../../deliveries/tail-store.ts";
import { forgetPortalSessions } from "../../portal/portal-session-store.ts";
import { deleteTenantRows } from "../../shards/move-store.ts";
import type { LeasedDispatch } from "../queue.ts";
import { holdTenant, releaseEndpoints, releaseLate } from "../../shards/hold-store.ts";
import { completeAttempts } from "./complete-store.ts";
import { endDispatches, holdDispatches, holdPendingDispatches, resumeDispatches } from "./follow-store.ts";
import { removeReplayed } from "./once-store.ts";
import { deleteOldIdempotencyKeys } from "./upkeep-store.ts";
import { releaseDispatches } from "./release-store.ts";
import { leaveSlots } from "./slot-store.ts";

type Work = (db: Db) => Promise<unknown>;

const seeded = seededDatabase();
const { sql } = seeded;

function idOf<T>(parse: (text: string) => T | null, place: number): T {
  const id = parse(`00000000-0000-7000-8000-${String(place).padStart(12, "0")}`);
  assert.ok(id !== null);
  return id;
}

/** In the order of their keys, each column of which puts some before the fourth and some behind it. */
const KEYS = [
  ["acme", 2, 9],
  ["globex", 1, 9],
  ["globex", 2, 1],
  ["globex", 2, 2],
  ["globex", 2, 3],
  ["globex", 3, 1],
  ["initech", 1, 1],
] as const;
const DISPATCHES = KEYS.map(([name, endpoint, place]) => ({
  tenantId: tenant(name),
  endpointId: idOf<EndpointId>(parseEndpointId, endpoint),
  id: idOf<DeliveryId>(parseDeliveryId, place),
}));
const MIDDLE = 4;

/** The columns that number the rows of each, here in the order of their keys. */
const NUMBERS = {
  endpoints: "rate_limit",
  dispatches: "attempt",
  slots: "slot",
  delivery_stats: "count",
  header_sets: "(used_on - date '2026-01-01')",
  idempotency_keys: "get_byte(fingerprint, 0)",
  person_sends: "attempt",
  portal_sessions: "minutes",
  log_watches: "get_byte(uuid_send(watcher), 15)",
} as const;
type Table = keyof typeof NUMBERS;
const TABLES = [
  "endpoints",
  "dispatches",
  "slots",
  "delivery_stats",
  "header_sets",
  "idempotency_keys",
  "person_sends",
  "portal_sessions",
  "log_watches",
] as const;

beforeEach(async () => {
  await sql("DELETE FROM postern.dispatches; DELETE FROM postern.endpoints");
  for (const [n, key] of DISPATCHES.entries()) {
    await sql(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, rate_limit)
        VALUES ($1, $2, 'https://example.com/', '{*}', '', now(), now(), $3) ON CONFLICT DO NOTHING`,
      key.tenantId,
      key.endpointId,
      n + 1,
    );
    await addDispatches(seeded.pool, { ...key, eventId: newEventId() }, [
      { attempt: n + 1, id: key.id, leaseOwner: LEASE_OWNER, claimableInMs: 60_000 },
    ]);
  }
});

const numbersOf = async (table: Table, lock = ""): Promise<number[]> =>
  (await sql(`SELECT ${NUMBERS[table]} AS n FROM postern.${table} ORDER BY ${NUMBERS[table]} ${lock}`)).map(
    ({ n }) => n,
  );

/** What the work has locked, once it waits for a row that another session has. */
async function lockedBefore(
  middle: number,
  of: Table,
  work: Work,
): Promise<Partial<Record<Table, number[]>>> {
  const [holder, worker] = [await seeded.pool.connect(), await seeded.pool.connect()];
  const locked: Partial<Record<Table, number[]>> = {};
  try {
    await holder.query("BEGIN");
    await holder.query(`SELECT FROM postern.${of} WHERE ${NUMBERS[of]} = $1 FOR UPDATE`, [middle]);
    const pid = await pidOf(holder);
    await worker.query("BEGIN; SET LOCAL lock_timeout = 0");
    const working = work(worker);
    await eventually(async () => (await waitersFor(seeded.pool, pid)) === 1);
    for (const table of TABLES) {
      const free = new Set(await numbersOf(table, "FOR UPDATE SKIP LOCKED"));
      const rest = (await numbersOf(table)).filter((n) => !free.has(n) && !(table === of && n === middle));
      if (rest.length > 0) locked[table] = rest;
    }
    await holder.query("ROLLBACK");
    await working;
    await worker.query("ROLLBACK");
    return locked;
  } finally {
    for (const session of [holder, worker]) session.release(true);
  }
}

/** Neither in the order of their keys nor in its reverse. */
const SHUFFLED = [5, 2, 7, 4, 1, 6, 3];
const leased = (): LeasedDispatch[] =>
  SHUFFLED.map((n) => Object.assign(completed(seeded.acme).dispatch, DISPATCHES[n - 1]));

/** The attempts of these numbers go on. */
const complete = (db: Db, goingOn: readonly number[]) =>
  completeAttempts(
    db,
    leased().map((dispatch, place) => {
      const nextDelayMs = goingOn.includes(SHUFFLED[place] ?? 0) ? 1000 : null;
      return Object.assign(completed(seeded.acme), { nextDelayMs, toKeep: null, dispatch });
    }),
    "wait",
  );
const goOn: Work = (db) => complete(db, SHUFFLED);
const hold: Work = (db) => holdDispatches(db, leased(), "wait");
/** As where no index is in this order. */
const withoutIndexes = (db: Db) =>
  db.query(
    "SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off",
  );
const erase: Work = async (db) => {
  await withoutIndexes(db);
  await db.query("SELECT postern.erase_tenant_rows('globex', 1000, true)");
};
const deleteRest: Work = (db) => deleteTenantRows(db, tenant("globex"), () => undefined);
/** As what upkeep does is planned, and all who serve. */
const asServing =
  (work: Work): Work =>
  async (db) => {
    await db.query("SET LOCAL enable_seqscan = off");
    await work(db);
  };

it("locks dispatches in the order of their keys", async () => {
  const dispatches = [1, 2, 3];
  for (const [name, act, endpoints] of [
    ["that end", (db) => complete(db, []), null],
    ["of which one endpoint's go on", (db) => complete(db, [3, 4, 5]), [3]],
    ["that are released", (db) => releaseDispatches(db, leased(), "parked"), null],
    ["that go on", goOn, [1, 2, 3, 6, 7]],
    ["that are held", hold, [1, 2, 3, 6, 7]],
  ] satisfies [string, Work, number[] | null][]) {
    const locked = await lockedBefore(MIDDLE, "dispatches", act);
    assert.deepEqual(locked, { dispatches, ...(endpoints === null ? {} : { endpoints }) }, name);
  }
});

it("locks endpoints in the order of their keys, all of them before the first dispatch", async () => {
  for (const act of [goOn, hold]) {
    assert.deepEqual(await lockedBefore(3, "endpoints", act), { endpoints: [1, 2] });
  }
});

it("locks an endpoint's dispatches in the order of their ids", async () => {
  const [, , third] = DISPATCHES;
  assert.ok(third !== undefined);
  const { replayId } = seeded.acme;
  for (const [name, change, act] of [
    ["that are held", "held = false", (db) => holdPendingDispatches(db, third, null)],
    ["that are resumed", "held = true", (db) => resumeDispatches(db, third, null)],
    ["that end with it", "held = false", (db) => endDispatches(db, third, null)],
    [
      "that a replay takes back",
      `replay_id = '${replayId}'`,
      (db) => removeReplayed(db, { ...third, replayId }),
    ],
  ] satisfies [string, string, Work][]) {
    await sql(`UPDATE postern.dispatches SET lease_owner = NULL, ${change}`);
    assert.deepEqual(await lockedBefore(MIDDLE, "dispatches", act), { dispatches: [3] }, name);
  }
});

it("locks the rows of a tenant that is erased in the order of their keys", async () => {
  await sql("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('globex') ON CONFLICT DO NOTHING");
  // The first of each now lies behind the others.
  await sql("UPDATE postern.endpoints SET updated_at = now() WHERE rate_limit = 2");
  await sql("UPDATE postern.dispatches SET due_at = now() WHERE attempt = 2");
  assert.deepEqual(await lockedBefore(3, "endpoints", erase), { endpoints: [2] });
  assert.deepEqual(await lockedBefore(MIDDLE, "dispatches", erase), {
    endpoints: [2, 3, 6],
    dispatches: [2, 3],
  });
});

it("locks what others use or add to of a tenant that is erased in the order of their keys", async () => {
  await sql("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('globex') ON CONFLICT DO NOTHING");
  await sql("DELETE FROM postern.header_sets; DELETE FROM postern.delivery_stats");
  for (const n of [2, 3, 1]) {
    await sql(
      `WITH counted AS (INSERT INTO postern.delivery_stats VALUES ('globex', $1, 10, now(), '', $2, 0, 0, 0, $1, $1))
        INSERT INTO postern.header_sets VALUES ('globex', $1, '{}', date '2026-01-01' + $2::int)`,
      idOf(parseEndpointId, n),
      n,
    );
  }
  for (const table of ["delivery_stats", "header_sets"] as const) {
    const locked = await lockedBefore(2, table, erase);
    assert.deepEqual(locked[table], [1], table);
  }
});

/** What upkeep deletes and may not lock alone: a row by its number, the oldest being the last in the order of keys. */
const OLD = [
  [
    "idempotency_keys",
    `INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint, created_at)
      VALUES ('globex', $1::int, postern.uuid_v7(), set_byte('x', 0, $1), now() - (30 + $1) * interval '1 hour')`,
    deleteOldIdempotencyKeys,
  ],
  [
    "person_sends",
    `INSERT INTO postern.person_sends
        (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt, request_headers)
      SELECT 'globex', lpad($1::int::text, 32, '0')::uuid, postern.lowest_id_at(now() - (30 + $1::int) * interval '1 hour'),
        postern.uuid_v7(), 'a.b', 'retry', $1, '{}'`,
    endInterruptedSends,
  ],
  [
    "portal_sessions",
    `INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, minutes, until)
      VALUES ('globex', lpad($1::int::text, 32, '0')::uuid, 'jo', 'owner', true, $1, now() - $1 * interval '1 hour')`,
    forgetPortalSessions,
  ],
  [
    "log_watches",
    `INSERT INTO postern.log_watches (tenant_id, watcher, until)
      VALUES ('globex', lpad($1::int::text, 32, '0')::uuid, now() - $1 * interval '1 hour')`,
    removeOldWatches,
  ],
] as const;

it("locks what is old in the order of its keys, that of a tenant that is erased or has moved away too", async () => {
  await sql("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('globex') ON CONFLICT DO NOTHING");
  const found = [];
  for (const [table, insert, forget] of OLD) {
    await sql(`DELETE FROM postern.${table}`);
    for (const n of [2, 3, 1]) await sql(insert, n);
    for (const act of [asServing(forget), erase, deleteRest]) {
      found.push([table, (await lockedBefore(2, table, act))[table]]);
    }
  }
  assert.deepEqual(
    found,
    OLD.flatMap(([table]) => [1, 2, 3].map(() => [table, [1]])),
  );
});

it("passes over what others have of what is old, where it may lock it", async () => {
  const old = "now() - (400 + $1::int) * interval '1 day'";
  for (const [table, insert, forget] of [
    [
      "replays",
      `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, status, counted, is_capped,
          after_event_id, counted_to, finished_at)
        SELECT 'globex', gen_random_uuid(), gen_random_uuid(), ${old}, now(), 'all', 'finished', 0, false,
          gen_random_uuid(), gen_random_uuid(), ${old}`,
      (db) => forgetReplays(db, 3),
    ],
    [
      "audit_log",
      `INSERT INTO postern.audit_log (tenant_id, id, at, actor_type, action, outcome, details)
        SELECT 'globex', postern.lowest_id_at(${old}), ${old}, 'operator', 'a', 'done', '{}'`,
      removeOldAudit,
    ],
    [
      "endpoints",
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at, deleted_at)
        SELECT 'globex', gen_random_uuid(), '', '{}', '', now(), now(), ${old}`,
      (db) => forgetDeletedEndpoints(db, 3),
    ],
  ] satisfies [string, string, Work][]) {
    await sql(`TRUNCATE postern.${table}`);
    for (const n of [2, 3, 1]) await sql(insert, n);
    const [holder, worker] = [await seeded.pool.connect(), await seeded.pool.connect()];
    try {
      await holder.query("BEGIN");
      const { rows } = await holder.query(
        `SELECT ctid FROM postern.${table} WHERE ctid = '(0,2)' FOR UPDATE`,
      );
      await worker.query("SET lock_timeout = '5s'");
      await forget(worker);
      assert.deepEqual(await sql(`SELECT ctid FROM postern.${table}`), rows, table);
      await holder.query("COMMIT");
      await forget(worker);
      assert.deepEqual(await sql(`SELECT ctid FROM postern.${table}`), [], table);
    } finally {
      for (const session of [holder, worker]) session.release(true);
    }
  }
});

it("locks the endpoints of a tenant that is moved in the order of their keys", async () => {
  const { tenantId } = DISPATCHES[1] ?? {};
  assert.ok(tenantId !== undefined);
  for (const [name, moving, act] of [
    ["that are held", false, holdTenant],
    ["that are let go", true, releaseEndpoints],
    ["that are let go late", true, releaseLate],
  ] as const) {
    // The first now lies behind the others.
    await sql("UPDATE postern.endpoints SET moving = $1, updated_at = now() WHERE rate_limit <> 2", moving);
    await sql("UPDATE postern.endpoints SET moving = $1, updated_at = now() WHERE rate_limit = 2", moving);
    const work: Work = async (db) => {
      await withoutIndexes(db);
      await act(db, tenantId);
    };
    assert.deepEqual(await lockedBefore(3, "endpoints", work), { endpoints: [2] }, name);
  }
});

it("mirrors one catalog after the other: each may add or drop a type that the other has yet to come to", async () => {
  const types = [1, 2, 3].map((newest) => ({ type: `a.b${newest}`, newest, needed: [], others: [] }));
  const [holder, worker] = [await seeded.pool.connect(), await seeded.pool.connect()];
  try {
    await mirrorEventTypes(holder, types.slice(1, 2));
    await holder.query("BEGIN");
    await mirrorEventTypes(holder, types.slice(1));
    const pid = await pidOf(holder);
    const writer = await pidOf(worker);
    // One that the holder has not seen.
    await sql(
      "INSERT INTO postern.event_types (type, newest, needed, others) VALUES ('a.b1', 1, '{}', '{}')",
    );
    const mirrored = mirrorEventTypes(worker, types.toReversed());
    await eventually(async () => (await waitersFor(seeded.pool, pid)) === 1);
    const written = "SELECT FROM pg_locks WHERE pid = $1 AND locktype = 'transactionid' AND granted";
    assert.deepEqual(await sql(written, writer), []);
    await holder.query("COMMIT");
    await mirrored;
    assert.deepEqual(await sql("SELECT newest FROM postern.event_types ORDER BY 1"), [
      { newest: 1 },
      { newest: 2 },
      { newest: 3 },
    ]);
  } finally {
    for (const session of [holder, worker]) session.release(true);
  }
});

it("locks slots in their order", async () => {
  const owner = randomUUID();
  const slots = await sql(
    "UPDATE postern.slots SET owner = $1 WHERE slot = ANY ($2) RETURNING slot, term::int",
    owner,
    [3, 4, 5],
  );
  const [third, fourth, fifth] = slots.toSorted((one, other) => one.slot - other.slot);
  assert.deepEqual(
    await lockedBefore(4, "slots", (db) => leaveSlots(db, owner, [fifth, third, fourth], new Map())),
    { slots: [3] },
  );
});
