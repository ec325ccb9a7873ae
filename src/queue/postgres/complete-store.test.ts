import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { addDispatches, inOneMoment } from "../../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed } from "../../../test/support/store-inputs.ts";
import { EVENT_TYPE, type Rows } from "../../../test/support/two-tenants.ts";
import type { Db } from "../../database/pool.ts";
import { newDeliveryId, parseDeliveryId, type DeliveryId } from "../../shared/id.ts";
import { headersOf, PACKED_COLUMNS, type HeaderColumns } from "../packed-headers.ts";
import type { CompletedLease } from "../queue.ts";
import { completeAttempts } from "./complete-store.ts";

const seeded = seededDatabase();
beforeEach(async () => {
  await seeded.pool.query("DELETE FROM postern.exhausted_events");
});

/** Of the tenant: what the outcome left. */
async function left() {
  const { rows: found } = await seeded.pool.query(
    `SELECT (SELECT count(*)::int FROM postern.deliveries WHERE tenant_id = $1 AND id = $2) AS logged,
      (SELECT count(*)::int FROM postern.dispatches WHERE tenant_id = $1 AND event_id = $3 AND attempt = 2) AS next,
      (SELECT count(*)::int FROM postern.exhausted_events WHERE tenant_id = $1) AS exhausted,
      (SELECT count(*)::int FROM postern.header_sets WHERE tenant_id = $1 AND headers::text LIKE '%x-of-this-test%') AS sets`,
    [seeded.acme.tenantId, seeded.acme.leasedId, seeded.acme.eventId],
  );
  return found[0];
}

const outcome = () => ({
  ...completed(seeded.acme),
  requestHeaders: { "x-of-this-test": seeded.acme.leasedId },
});
const complete = (given = outcome()) => completeAttempts(seeded.pool, [given], "wait");

it("logs a failed attempt, and adds the next one and the set of its headers", async () => {
  await complete();
  assert.deepEqual(await left(), { logged: 1, next: 1, exhausted: 1, sets: 1 });
});

function idOf(attempt: number): DeliveryId {
  const id = parseDeliveryId(`00000000-0000-7000-8000-00000000000${attempt}`);
  assert.ok(id !== null);
  return id;
}

it("gives each of two attempts at an endpoint its next one, and leaves what lies between them", async () => {
  const { acme } = seeded;
  const given = [7, 8, 9].map((attempt) => ({
    attempt,
    id: idOf(attempt),
    leaseOwner: completed(acme).dispatch.leaseId,
    claimableInMs: 60_000,
  }));
  for (const role of ["worker", "tenant"] as const) {
    await inOneMoment(seeded.pool, async (session) => {
      await session.query("DELETE FROM postern.dispatches; DELETE FROM postern.bodies_to_keep");
      await addDispatches(session, acme, given);
      const both = [7, 9].map((attempt) => completed({ ...acme, leasedId: idOf(attempt) }));
      assert.deepEqual(await completeAttempts(session, both, "wait", role), new Set([idOf(7), idOf(9)]));
      const { rows } = await session.query(
        `SELECT (SELECT json_agg(attempt ORDER BY attempt) FROM postern.dispatches) AS pending,
          (SELECT json_agg(attempt ORDER BY attempt) FROM postern.deliveries WHERE id = ANY ($1)) AS logged,
          (SELECT json_agg(json_build_array(count, delivery_id)) FROM postern.exhausted_events) AS exhausted`,
        [given.map(({ id }) => id)],
      );
      assert.deepEqual(rows, [{ pending: [8, 8, 10], logged: [7, 9], exhausted: [[2, idOf(9)]] }], role);
    });
  }
});

it("adds the set of its headers for each tenant, and again for a day on which it is used", async () => {
  const { acme, globex } = seeded;
  const usedToday = async () =>
    (
      await seeded.sql(
        `SELECT tenant_id AS of, used_on = (now() AT TIME ZONE 'UTC')::date AS today FROM postern.header_sets
          WHERE headers::text LIKE '%x-of-all%' ORDER BY 1`,
      )
    ).map(({ of, today }) => [of, today]);
  const complete = (rows: Rows, leasedId = rows.leasedId) =>
    completeAttempts(
      seeded.pool,
      [{ ...completed({ ...rows, leasedId }), requestHeaders: { "x-of-all": "a" }, toKeep: null }],
      "wait",
    );
  await complete(globex);
  assert.deepEqual(await usedToday(), [["globex", true]]);
  await complete(acme);
  assert.deepEqual(await usedToday(), [
    ["acme", true],
    ["globex", true],
  ]);
  await seeded.sql("UPDATE postern.header_sets SET used_on = used_on - 1");
  const [again] = await seeded.sql(
    "UPDATE postern.dispatches SET lease_owner = $1 WHERE tenant_id = 'acme' AND attempt = 1 AND parked RETURNING id",
    completed(acme).dispatch.leaseId,
  );
  await complete(acme, again.id);
  assert.deepEqual(await usedToday(), [
    ["acme", true],
    ["globex", false],
  ]);
  // Once a day: each attempt of each worker would wait for this row.
  const writtenBy = () => seeded.sql("SELECT xmin::text FROM postern.header_sets WHERE tenant_id = 'acme'");
  const before = await writtenBy();
  const [third] = await seeded.sql(
    "UPDATE postern.dispatches SET lease_owner = $1 WHERE tenant_id = 'acme' AND attempt = 1 RETURNING id",
    completed(acme).dispatch.leaseId,
  );
  await complete(acme, third.id);
  assert.deepEqual(await writtenBy(), before);
});

it("only logs an attempt whose event a person delivered meanwhile", async () => {
  await seeded.pool.query("UPDATE postern.dispatches SET superseded = true");
  await complete();
  assert.deepEqual(await left(), { logged: 1, next: 0, exhausted: 0, sets: 1 });
});

it("adds no attempt at an endpoint that was deleted meanwhile", async () => {
  await seeded.pool.query("UPDATE postern.endpoints SET deleted_at = now()");
  await complete();
  assert.deepEqual(await left(), { logged: 1, next: 0, exhausted: 1, sets: 1 });
});

it("holds the next attempt at an endpoint that is disabled, fetched or moved by then", async () => {
  const { acme } = seeded;
  const held = async (role: "worker" | "tenant", state: string) =>
    inOneMoment(seeded.pool, async (session) => {
      await session.query(`UPDATE postern.endpoints SET ${state} WHERE id = $1`, [acme.endpointId]);
      await completeAttempts(session, [outcome()], "wait", role);
      const { rows } = await session.query(
        "SELECT held FROM postern.dispatches WHERE tenant_id = $1 AND event_id = $2 AND attempt = 2",
        [acme.tenantId, acme.eventId],
      );
      return rows.map((row) => row.held);
    });
  for (const role of ["worker", "tenant"] as const) {
    for (const state of ["enabled = false, disabled_reason = 'gone'", "mode = 'pull'", "moving = true"])
      assert.deepEqual(await held(role, state), [true], `${role}: ${state}`);
    assert.deepEqual(await held(role, "description = 'as before'"), [false], role);
  }
});

it("leaves nothing of an attempt that lost its lease", async () => {
  const given = outcome();
  await complete({ ...given, dispatch: { ...given.dispatch, leaseId: randomUUID() } });
  assert.deepEqual(await left(), { logged: 0, next: 0, exhausted: 0, sets: 0 });
});

it("logs each outcome of a group as it is, and notes what each keeps of its bodies", async () => {
  const { acme, globex } = seeded;
  const kept = { requestBody: true, responseBody: Buffer.from("acme's answer"), days: 7 };
  const failed = { ...completed(acme), responseStatus: 503, latencyMs: 17, toKeep: kept };
  const delivered = {
    ...completed(globex),
    status: "delivered" as const,
    responseStatus: 204,
    latencyMs: 4,
    nextDelayMs: null,
    exhausted: false,
  };
  const noted = async () => {
    const { rows } = await seeded.pool.query(
      "SELECT tenant_id AS of, kind, convert_from(body, 'UTF8') AS body, days FROM postern.bodies_to_keep WHERE delivery_id = ANY ($1) ORDER BY 1, 2",
      [[acme.leasedId, globex.leasedId]],
    );
    return rows;
  };
  const done = await completeAttempts(seeded.pool, [failed, { ...delivered, toKeep: null }], "wait");
  assert.deepEqual(done, new Set([acme.leasedId, globex.leasedId]));
  const { rows } = await seeded.pool.query(
    `SELECT tenant_id AS of, status, response_status AS answer, latency_ms AS took,
        (SELECT count(*)::int FROM postern.dispatches AS d WHERE d.event_id = l.event_id AND d.attempt = 2) AS next,
        (SELECT count(*)::int FROM postern.exhausted_events AS e WHERE e.tenant_id = l.tenant_id) AS exhausted
      FROM postern.deliveries AS l WHERE id = ANY ($1) ORDER BY 1`,
    [[acme.leasedId, globex.leasedId]],
  );
  assert.deepEqual(rows, [
    { of: "acme", status: "failed", answer: 503, took: 17, next: 1, exhausted: 1 },
    { of: "globex", status: "delivered", answer: 204, took: 4, next: 0, exhausted: 0 },
  ]);
  assert.deepEqual(await noted(), [
    { of: "acme", kind: "request_body", body: null, days: 7 },
    { of: "acme", kind: "response_body", body: "acme's answer", days: 7 },
  ]);
});

it("notes an answer alone, for as long as the operator allows", async () => {
  const toKeep = { requestBody: false, responseBody: Buffer.from("an answer"), days: null };
  await completeAttempts(
    seeded.pool,
    [{ ...outcome(), nextDelayMs: null, exhausted: false, toKeep }],
    "wait",
  );
  const { rows } = await seeded.pool.query(
    "SELECT kind, convert_from(body, 'UTF8') AS body, days FROM postern.bodies_to_keep WHERE delivery_id = $1",
    [seeded.acme.leasedId],
  );
  assert.deepEqual(rows, [{ kind: "response_body", body: "an answer", days: null }]);
  assert.deepEqual(await left(), { logged: 1, next: 0, exhausted: 0, sets: 1 });
});

/** What one attempt of a group needs, and most do not. */
const NEEDS: readonly Partial<CompletedLease>[] = [
  { nextDelayMs: 3_600_000 },
  { toKeep: { requestBody: true, responseBody: Buffer.from("kept"), days: 7 } },
  { exhausted: true },
  // Too long for a set.
  { responseHeaders: { server: "x".repeat(3000) } },
];
const COMBINED = NEEDS.reduce<Partial<CompletedLease>[]>(
  (some, need) => some.flatMap((needs) => [needs, { ...needs, ...need }]),
  [{}],
);
const OF_BOTH = {
  nextDelayMs: null,
  exhausted: false,
  toKeep: null,
  requestHeaders: { "user-agent": "postern" },
  sentAt: new Date(1000),
};

async function written(db: Db, ids: readonly DeliveryId[]) {
  const { rows: logged } = await db.query<HeaderColumns>(
    `SELECT id, event_id, event_type, trigger, attempt, status, response_status, response_body, latency_ms, error, sent_at,
        request_headers, response_headers, ${PACKED_COLUMNS}
      FROM postern.deliveries AS d WHERE id = ANY ($1) ORDER BY id`,
    [ids],
  );
  const { rows: others } = await db.query(
    `SELECT (SELECT json_agg(extract(epoch FROM due_at - now()) * 1000) FROM postern.dispatches
        WHERE attempt = 2 AND replay_id IS NULL) AS next,
      (SELECT json_agg(convert_from(body, 'UTF8') ORDER BY kind) FROM postern.bodies_to_keep WHERE delivery_id = ANY ($1)) AS kept,
      (SELECT json_agg(delivery_id) FROM postern.exhausted_events) AS exhausted`,
    [ids],
  );
  const asRead = logged.map(({ header_set, header_values, ...row }) =>
    Object.assign(row, headersOf({ ...row, header_set, header_values })),
  );
  return { ...others[0], logged: asRead };
}

for (const role of ["worker", "tenant"] as const) {
  it(`writes for a ${role} all of each outcome, whatever one of a group needs`, async () => {
    const { acme } = seeded;
    const other = newDeliveryId();
    await seeded.sql(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
        SELECT tenant_id, endpoint_id, $2, event_id, event_type, 3, due_at, claimable_at, lease_owner
        FROM postern.dispatches WHERE id = $1`,
      acme.leasedId,
      other,
    );
    const failed = {
      ...completed(acme),
      ...OF_BOTH,
      responseStatus: 503,
      responseHeaders: { server: "a" },
      responseBody: "busy",
      latencyMs: 17,
      error: "the answer was cut off",
    };
    const delivered = {
      ...completed({ ...acme, leasedId: other }),
      ...OF_BOTH,
      status: "delivered" as const,
      responseStatus: 204,
      responseHeaders: { server: "b" },
      responseBody: null,
      latencyMs: 4,
    };
    const ids = [acme.leasedId, other];
    const asLogged = (given: CompletedLease) => ({
      id: given.dispatch.id,
      event_id: acme.eventId,
      event_type: EVENT_TYPE,
      trigger: given.dispatch.id === other ? "auto_retry" : "event",
      attempt: given.dispatch.id === other ? 3 : 1,
      status: given.status,
      response_status: given.responseStatus,
      response_body: given.responseBody,
      latency_ms: given.latencyMs,
      error: given.error,
      sent_at: given.sentAt,
      request_headers: given.requestHeaders,
      response_headers: given.responseHeaders,
    });
    // Of one session, which takes a statement with a name for what it was the first time.
    const session = await seeded.pool.connect();
    try {
      for (const [whenLocked, needs] of COMBINED.flatMap((some) => [
        ["skip", some] as const,
        ["wait", some] as const,
      ])) {
        const needy = { ...failed, ...needs };
        await session.query("BEGIN");
        const done = await completeAttempts(session, [needy, delivered], whenLocked, role);
        assert.deepEqual(done, new Set(ids));
        assert.deepEqual(
          await written(session, ids),
          {
            next: needy.nextDelayMs === null ? null : [needy.nextDelayMs],
            kept: needy.toKeep === null ? null : [null, "kept"],
            exhausted: needy.exhausted ? [acme.leasedId] : null,
            logged: [needy, delivered].map(asLogged),
          },
          `${whenLocked}, ${Object.keys(needs).join(" and ")}`,
        );
        await session.query("ROLLBACK");
      }
    } finally {
      session.release(true);
    }
  });
}

it("writes the headers of an attempt that is alone, wherever they are kept", async () => {
  const requestHeaders = { "user-agent": "postern" };
  for (const [role, headers] of [
    ["worker", { requestHeaders, responseHeaders: { server: "x".repeat(3000) } }],
    ["worker", { requestHeaders: {}, responseHeaders: null }],
    ["tenant", { requestHeaders, responseHeaders: null }],
  ] as const) {
    await seeded.seedAnew();
    await completeAttempts(seeded.pool, [{ ...completed(seeded.acme), ...headers }], "wait", role);
    const { logged } = await written(seeded.pool, [seeded.acme.leasedId]);
    assert.deepEqual(
      logged.map(({ request_headers, response_headers }) => ({ request_headers, response_headers })),
      [{ request_headers: headers.requestHeaders, response_headers: headers.responseHeaders }],
    );
  }
});
