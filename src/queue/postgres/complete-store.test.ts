import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed } from "../../../test/support/store-inputs.ts";
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
