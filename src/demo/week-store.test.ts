import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { randomFrom } from "../../test/support/chance.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newDeliveryId, newEndpointId, parseTenantId, type EndpointId } from "../shared/id.ts";
import { hasEndpoints, insertWeek, makePartitionsOfWeek } from "./week-store.ts";
import { BEHAVIOURS, makeWeek, type Behaviour } from "./week.ts";

const HOURS_9_MS = 9 * 3_600_000;
const tenantId = parseTenantId("demo");
assert.ok(tenantId !== null);

let database: TestDatabase;
let endpointIds: Record<Behaviour, EndpointId>;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.endpoints"));

/** One by one: a difference of thousands of rows takes minutes to print. */
function assertRows(rows: readonly { id: string }[], wanted: readonly { id: string }[]): void {
  const sorted = wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  assert.equal(rows.length, sorted.length);
  for (const [place, row] of rows.entries()) assert.deepEqual(row, sorted[place]);
}

async function insertEndpoint(tenant: string): Promise<EndpointId> {
  const id = newEndpointId();
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ($1, $2, 'https://example.com/', '{*}', '', now(), now())`,
    [tenant, id],
  );
  return id;
}

const headersOf = () => ({ "X-Service-Event": "order.placed", "X-Of-Test": "kept" });

describe("whether the demonstration has begun", () => {
  it("is whether its tenant ever had an endpoint, and no matter of other tenants", async () => {
    assert.equal(await hasEndpoints(database.pool, tenantId), false);
    await insertEndpoint("another");
    assert.equal(await hasEndpoints(database.pool, tenantId), false);
    await insertEndpoint("demo");
    await database.pool.query("UPDATE postern.endpoints SET deleted_at = now()");
    assert.equal(await hasEndpoints(database.pool, tenantId), true);
  });
});

describe("the week of the demonstration", () => {
  it("is in the log as its events, attempts and pending dispatches, behind endpoints that are older", async () => {
    await makePartitionsOfWeek(database.pool);
    const random = randomFrom(7);
    const nowMs = Date.now();
    const schedule = [0, 5000, 300_000, 1_800_000, 7_200_000, 18_000_000];
    const samples = [{ type: "order.placed", data: { n: 1 } }];
    const week = makeWeek({
      nowMs,
      events: 900,
      samples,
      takes: () => true,
      retryScheduleMs: schedule,
      random,
    });
    // More than are inserted at once.
    assert.ok(week.attempts.length > 2500);
    const [event] = week.events;
    assert.ok(event !== undefined);
    const next = {
      id: newDeliveryId(),
      behaviour: "dead",
      event,
      attempt: 2,
      dueAtMs: nowMs + 5000,
    } as const;
    week.pending.push(next);
    const [healthy, slow, flaky, dead] = [
      await insertEndpoint("demo"),
      await insertEndpoint("demo"),
      await insertEndpoint("demo"),
      await insertEndpoint("demo"),
    ];
    endpointIds = { healthy, slow, flaky, dead };
    const other = await insertEndpoint("another");
    await insertWeek(database.pool, tenantId, { week, nowMs, endpointIds, headersOf });

    const { rows: events } = await database.pool.query(
      "SELECT tenant_id, id, type, body, dispatch_count FROM postern.events ORDER BY id",
    );
    assertRows(
      events,
      week.events.map(({ id, type, body, dispatchCount }) => ({
        tenant_id: "demo",
        id,
        type,
        body,
        dispatch_count: dispatchCount,
      })),
    );

    const { rows: attempts } = await database.pool.query(
      `SELECT tenant_id, id, endpoint_id, event_id, event_type, trigger, status, attempt, response_status AS answered, response_body,
          latency_ms, error, sent_at, request_headers, response_headers
        FROM postern.deliveries ORDER BY id`,
    );
    const wanted = week.attempts.map(({ id, behaviour, event, attempt, sentAtMs, answer }) => ({
      tenant_id: "demo",
      id,
      endpoint_id: endpointIds[behaviour],
      event_id: event.id,
      event_type: event.type,
      trigger: attempt === 1 ? "event" : "auto_retry",
      status: answer.status === 200 ? "delivered" : "failed",
      attempt,
      answered: answer.status,
      response_body: answer.body,
      latency_ms: answer.latencyMs,
      error: answer.error,
      sent_at: new Date(sentAtMs),
      // As the worker keeps them: the log makes the others anew.
      request_headers: { "X-Of-Test": "kept" },
      response_headers:
        answer.body === null
          ? null
          : {
              "content-type": answer.body.startsWith("{") ? "application/json" : "text/plain; charset=utf-8",
              date: new Date(sentAtMs).toUTCString(),
              "content-length": String(answer.body.length),
            },
    }));
    assertRows(attempts, wanted);

    const { rows: pending } = await database.pool.query(
      `SELECT endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at FROM postern.dispatches ORDER BY id`,
    );
    assertRows(
      pending,
      week.pending.map(({ id, behaviour, event, attempt, dueAtMs }) => ({
        endpoint_id: endpointIds[behaviour],
        id,
        event_id: event.id,
        event_type: event.type,
        attempt,
        due_at: new Date(dueAtMs),
        claimable_at: new Date(dueAtMs),
      })),
    );

    const { rows: endpoints } = await database.pool.query(
      `SELECT id, created_at < now() - interval '7 days' AND created_at > now() - interval '7 days 1 hour' AS is_old,
          failing_since
        FROM postern.endpoints`,
    );
    assert.deepEqual(
      new Map(endpoints.map(({ id, ...rest }) => [id, rest])),
      new Map([
        ...BEHAVIOURS.map((behaviour): [string, object] => [
          endpointIds[behaviour],
          { is_old: true, failing_since: behaviour === "dead" ? new Date(nowMs - HOURS_9_MS) : null },
        ]),
        [other, { is_old: false, failing_since: null }],
      ]),
    );
  });
});
