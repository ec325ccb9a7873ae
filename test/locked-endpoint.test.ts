/** Another transaction has an endpoint's row, or its dispatches, for long: nobody else's outcomes wait for it. */
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, it } from "node:test";
import type { PoolClient } from "pg";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let holder: PoolClient;
let holderPid: number;
let busy: string;
let other: string;
let answer: PromiseWithResolvers<{ status: number }>;

before(async () => {
  service = await startTestService({
    respond: ({ path }) => (path.endsWith("/busy") ? answer.promise : {}),
    env: { RETRY_SCHEDULE: "0s,1h" },
  });
});
after(() => service.stop());
beforeEach(async () => {
  busy = await endpointAt("/busy", "invoice.overdue");
  other = await endpointAt("/other", "invoice.paid");
  answer = Promise.withResolvers();
  holder = await service.database.pool.connect();
  holderPid = await pidOf(holder);
  await holder.query("BEGIN");
});
afterEach(async () => {
  holder.release(true);
  for (const id of [busy, other]) await service.call("DELETE", `/api/webhooks/${id}`);
});

async function endpointAt(path: string, type: string): Promise<string> {
  const { endpoint } = await createEndpoint(service, { url: service.receiver.url + path, events: [type] });
  return endpoint.id;
}

async function arrived(eventId: string): Promise<void> {
  await eventually(async () =>
    service.receiver.requests.some(({ headers }) => headers["webhook-id"] === eventId),
  );
}

async function logOf(endpointId: string): Promise<[string, number][]> {
  const log = await listDeliveries(service, endpointId);
  return log.map(({ status, attempt }) => [status, attempt]);
}

/** So that the failure after it changes nothing of the endpoint, and only its outcome is left to record. */
async function failOnce(): Promise<void> {
  answer.resolve({ status: 500 });
  await publish(service, "invoice.overdue");
  await eventually(async () => (await logOf(busy)).length === 2);
  answer = Promise.withResolvers();
  // The endpoint as the next attempt reads it has to know of the failure.
  await eventually(async () => {
    const { rows } = await service.database.pool.query(
      "SELECT FROM postern.endpoints WHERE id = $1 AND failing_since < now() - interval '0.6 s'",
      [busy],
    );
    return rows.length === 1;
  });
}

/** The busy endpoint's attempt ends, then the other's; the latter is recorded first. Answers what had arrived before the lock went. */
async function othersComeFirst(status: number): Promise<unknown[]> {
  answer.resolve({ status });
  await publish(service, "invoice.paid");
  await eventually(async () => (await logOf(other))[0]?.[0] === "delivered");
  assert.deepEqual((await logOf(busy))[0], ["pending", 1]);
  // Before the rollback: whoever waits may go on before its answer is here.
  const arrivedBefore = service.receiver.requests.map(({ headers }) => headers["webhook-id"]);
  await holder.query("ROLLBACK");
  return arrivedBefore;
}

/** For a lock of the holder's. */
async function somebodyWaits(): Promise<void> {
  await eventually(async () => (await waitersFor(service.database.pool, holderPid)) > 0);
}

/** As of an event that was being accepted while its endpoint was disabled. */
async function dueAt(endpointId: string): Promise<void> {
  await service.database.pool.query(
    `WITH event AS (
        INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT tenant_id, postern.uuid_v7(), 'invoice.paid', '{}', 1 FROM postern.endpoints WHERE id = $1
        RETURNING tenant_id, id, type
      )
      INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT tenant_id, $1, postern.uuid_v7(), id, type, 1, now(), now() FROM event`,
    [endpointId],
  );
}

async function isHeld(endpointId: string): Promise<boolean | undefined> {
  const { rows } = await service.database.pool.query<{ held: boolean }>(
    "SELECT held FROM postern.dispatches WHERE endpoint_id = $1",
    [endpointId],
  );
  return rows[0]?.held;
}

it("an endpoint's lock delays its own outcomes alone", async () => {
  await failOnce();
  await arrived((await publish(service, "invoice.overdue")).id);
  await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [busy]);
  await othersComeFirst(500);
  await eventually(async () => (await logOf(busy)).length === 4);
});

it("an endpoint's lock delays its next attempts too: their outcomes would pile up until there is room for nobody's", async () => {
  await failOnce();
  await arrived((await publish(service, "invoice.overdue")).id);
  await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [busy]);
  answer.resolve({ status: 500 });
  await somebodyWaits();
  const next = await publish(service, "invoice.overdue");
  const beforeUnlock = await othersComeFirst(500);
  assert.ok(!beforeUnlock.includes(next.id));
  await arrived(next.id);
});

it("an endpoint that is about to be deleted is not yet taken for deleted", async () => {
  await failOnce();
  await arrived((await publish(service, "invoice.overdue")).id);
  await holder.query("UPDATE postern.endpoints SET deleted_at = now() WHERE id = $1", [busy]);
  await othersComeFirst(500);
  await eventually(async () => (await logOf(busy)).length === 4);
});

it("an endpoint that was deleted while its outcome waited gets no next attempt", async () => {
  await failOnce();
  await service.database.pool.query("DELETE FROM postern.dispatches WHERE endpoint_id = $1", [busy]);
  await arrived((await publish(service, "invoice.overdue")).id);
  await holder.query("UPDATE postern.endpoints SET deleted_at = now() WHERE id = $1", [busy]);
  answer.resolve({ status: 500 });
  await somebodyWaits();
  await holder.query("COMMIT");
  await eventually(async () => {
    const { rows } = await service.database.pool.query(
      `SELECT (SELECT count(*) FROM postern.deliveries WHERE endpoint_id = $1)::int AS logged,
        (SELECT count(*) FROM postern.dispatches WHERE endpoint_id = $1)::int AS pending`,
      [busy],
    );
    return rows[0]?.logged === 2 && rows[0].pending === 0;
  });
});

it("a dispatch's lock delays its own outcome alone", async () => {
  await arrived((await publish(service, "invoice.overdue")).id);
  await holder.query("SELECT FROM postern.dispatches WHERE endpoint_id = $1 FOR UPDATE", [busy]);
  await othersComeFirst(200);
  await eventually(async () => (await logOf(busy))[0]?.[0] === "delivered");
});

it("an endpoint's lock delays the holding of its own dispatches alone", async () => {
  for (const id of [busy, other])
    await service.call("PATCH", `/api/webhooks/${id}`, { json: { enabled: false } });
  await holder.query("SELECT FROM postern.endpoints WHERE id = $1 FOR UPDATE", [busy]);
  await dueAt(busy);
  await somebodyWaits();
  await dueAt(other);
  await eventually(() => isHeld(other));
  assert.equal(await isHeld(busy), false);
  await holder.query("ROLLBACK");
  await eventually(() => isHeld(busy));
});

it("an endpoint that was enabled while a dispatch waited to be held gets it sent", async () => {
  await service.call("PATCH", `/api/webhooks/${busy}`, { json: { enabled: false } });
  await holder.query("UPDATE postern.endpoints SET enabled = true, disabled_reason = NULL WHERE id = $1", [
    busy,
  ]);
  await dueAt(busy);
  await somebodyWaits();
  assert.equal(await isHeld(busy), false);
  await holder.query("COMMIT");
  answer.resolve({ status: 200 });
  await eventually(async () => (await logOf(busy))[0]?.[0] === "delivered");
});
