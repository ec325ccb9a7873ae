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
