/** Statements on many dispatches at the same moment, crosswise: they wait for each other, and never in a circle. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { releaseDispatches } from "../src/queue/postgres/release-store.ts";
import { completeAttempts } from "../src/queue/postgres/complete-store.ts";
import { endDispatches, holdDispatches } from "../src/queue/postgres/follow-store.ts";
import type { LeasedDispatch } from "../src/queue/queue.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { outcomeOf } from "./support/queue-under-test.ts";
import { tenant } from "./support/two-tenants.ts";

const ROUNDS = 12;
const BATCH = 500;

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.dispatches, postern.deliveries"));

const tenantId = tenant("acme");

/** Leased dispatches of one new endpoint, in the order of their ids. */
async function lease(): Promise<LeasedDispatch[]> {
  const endpointId = newEndpointId();
  const leaseId = randomUUID();
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ('acme', $1, 'https://example.com/', '{*}', '', now(), now())`,
    [endpointId],
  );
  const dispatches = Array.from({ length: BATCH }, () => ({
    tenantId,
    endpointId,
    id: newDeliveryId(),
    eventId: newEventId(),
    eventType: "invoice.paid",
    body: "{}",
    attempt: 1,
    once: false,
    leaseId,
    leaseEndsMs: performance.now() + 60_000,
  }));
  const inOrder = dispatches.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
      SELECT 'acme', $1, id, gen_random_uuid(), 'invoice.paid', 1, now(), now() + interval '1 minute', $2
      FROM unnest($3::uuid[]) id`,
    [endpointId, leaseId, inOrder.map(({ id }) => id)],
  );
  return inOrder;
}

const record = (db: Db, dispatches: readonly LeasedDispatch[]) =>
  completeAttempts(
    db,
    dispatches.map((dispatch) => outcomeOf(dispatch, null)),
    "wait",
  );

const BATCHES: [string, (db: Db, dispatches: readonly LeasedDispatch[]) => Promise<unknown>][] = [
  ["recording outcomes", record],
  ["holding", (db, dispatches) => holdDispatches(db, dispatches, "wait")],
  ["releasing", (db, dispatches) => releaseDispatches(db, dispatches, "claimable")],
];

describe("ending an endpoint's dispatches", () => {
  for (const [name, work] of BATCHES) {
    it(`and ${name} in reversed order never deadlock`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const dispatches = await lease();
        const [first] = dispatches;
        assert.ok(first !== undefined);
        await Promise.all([
          inTransaction(database.pool, (client) => endDispatches(client, first, null)),
          work(database.pool, dispatches.toReversed()),
        ]);
        const { rows } = await database.pool.query(
          `SELECT (SELECT count(*) FROM postern.dispatches WHERE endpoint_id = $1)::int AS pending,
            (SELECT count(*) FROM postern.deliveries WHERE endpoint_id = $1)::int AS logged`,
          [first.endpointId],
        );
        assert.deepEqual(rows, [{ pending: 0, logged: BATCH }]);
      }
    });
  }
});
