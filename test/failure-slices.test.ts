/** Counting what failed in slices: each event once, however often it failed and wherever a slice ends. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTenantPool, type TenantPool } from "../src/database/tenant-pool.ts";
import { readCandidates } from "../src/replays/candidate-store.ts";
import { groupFailures, sliceFailures } from "../src/replays/failure-store.ts";
import { newEndpointId, parseEventId, type EventId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { seedEvents } from "./support/replays.ts";
import { tenant } from "./support/two-tenants.ts";

const acme = tenant("acme");
const endpointId = newEndpointId();
const FIRST = parseEventId("00000000-0000-7000-8000-000000000000");
const [EVENTS, FAILURES] = [7, 3];

let database: TestDatabase;
let tenants: TenantPool;
let events: string[];

/** Another attempt of each of these events, after those it has. */
async function attempt(status: "failed" | "delivered", of: readonly string[]): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, response_status, latency_ms)
      SELECT 'acme', $1, postern.uuid_v7(), id, 'invoice.paid', 'event', $2, 2, '{}', 503, 1 FROM unnest($3::uuid[]) AS id`,
    [endpointId, status, of],
  );
}

/** One more attempt that the endpoint is to get. */
async function dispatch(endpoint: string, eventId: string | undefined, superseded = false): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at,
        claimable_at, superseded)
      VALUES ('acme', $1, postern.uuid_v7(), $2, 'invoice.paid', 2, now(), now(), $3)`,
    [endpoint, eventId, superseded],
  );
}

/** The same, by a person who waits for it. */
async function send(endpoint: string, eventId: string | undefined): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt,
        request_headers, delivery_label)
      VALUES ('acme', $1, postern.uuid_v7(), $2, 'invoice.paid', 'retry', 2, '{}', 'label')`,
    [endpoint, eventId],
  );
}

/** A person's test at the endpoint, of no event. */
async function sendTest(endpoint: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, test_id, event_type, trigger, attempt,
        request_headers, delivery_label)
      VALUES ('acme', $1, postern.uuid_v7(), gen_random_uuid(), 'invoice.paid', 'test', 1, '{}', 'label')`,
    [endpoint],
  );
}

before(async () => {
  database = await createTestDatabase();
  const options = { poolSize: 4, applicationName: "postern test", connectionTimeoutMs: 5000 };
  tenants = createTenantPool({ url: database.url, ...options });
  events = await seedEvents(database.pool, { endpoint: endpointId, count: EVENTS });
  for (let made = 1; made < FAILURES; made++) await attempt("failed", events);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

async function count(size: number, most = 1000) {
  assert.ok(FIRST !== null);
  const db = tenants.reading(acme);
  const filter = { tenantId: acme, endpointId, to: new Date() };
  const { slices, isAll } = await sliceFailures(db, filter, { after: FIRST, size, most });
  const groups = (await Promise.all(slices.map((slice) => groupFailures(db, filter, slice)))).flat();
  const ofStatus = (status: string) =>
    groups.filter(({ newest }) => newest?.status === status).reduce((sum, group) => sum + group.count, 0);
  const ends: EventId[] = groups.flatMap(({ first, last }) => [first, last]).toSorted();
  return {
    failed: ofStatus("failed"),
    delivered: ofStatus("delivered"),
    isAll,
    ends: [ends[0], ends.at(-1)],
  };
}

describe("events that failed, counted in slices", () => {
  it("count once each, for any size of a slice", async () => {
    const all = { failed: EVENTS, delivered: 0, isAll: true, ends: [events[0], events.at(-1)] };
    for (const size of [1, 2, 3, 5, EVENTS * FAILURES, 1000]) assert.deepEqual(await count(size), all);
  });

  it("end where enough failures were looked at", async () => {
    const [first] = events;
    assert.deepEqual(await count(2, FAILURES), {
      failed: 1,
      delivered: 0,
      isAll: false,
      ends: [first, first],
    });
  });

  it("count as their newest attempt", async () => {
    await attempt("delivered", events.slice(0, 2));
    const { failed, delivered } = await count(2);
    assert.deepEqual([failed, delivered], [EVENTS - 2, 2]);
  });

  it("are pending where this endpoint is to get them again, and for no other endpoint's sake", async () => {
    const other = newEndpointId();
    const [first, second, third, fourth, fifth] = events;
    await dispatch(other, first);
    await send(other, second);
    await dispatch(endpointId, third, true);
    await dispatch(endpointId, fourth);
    await send(endpointId, fifth);
    await sendTest(endpointId);
    assert.ok(FIRST !== null);
    const db = tenants.reading(acme);
    const filter = { tenantId: acme, endpointId, to: new Date(), selection: "failed" as const };
    const { candidates } = await readCandidates(db, filter, { after: FIRST, most: 1000 });
    const pending = candidates.filter(({ isPending }) => isPending).map(({ eventId }) => eventId);
    assert.deepEqual(pending, [fourth, fifth]);
    const statuses = candidates.map(({ newest }) => newest?.status);
    assert.deepEqual(
      statuses,
      events.map((_, place) => (place < 2 ? "delivered" : "failed")),
    );
    const { slices } = await sliceFailures(db, filter, { after: FIRST, size: 1000, most: 1000 });
    const groups = (await Promise.all(slices.map((slice) => groupFailures(db, filter, slice)))).flat();
    const counted = (pending: boolean) =>
      groups.filter((group) => group.isPending === pending).reduce((sum, group) => sum + group.count, 0);
    assert.deepEqual([counted(true), counted(false)], [2, EVENTS - 2]);
  });

  it("are told with the version that failed, and as gone where their tenant has them no more", async () => {
    const [, , third, fourth] = events;
    await database.pool.query(
      "UPDATE postern.deliveries SET version = 2, event_type = 'invoice.sent' WHERE event_id = $1",
      [third],
    );
    await database.pool.query("UPDATE postern.events SET tenant_id = 'globex' WHERE id = $1", [fourth]);
    assert.ok(FIRST !== null);
    const filter = { tenantId: acme, endpointId };
    const last = parseEventId(events.at(-1)) ?? FIRST;
    // By the owner's rights: the statement itself keeps to its tenant.
    const groups = await groupFailures(database.pool, filter, { after: FIRST, upTo: last });
    const told = groups
      .filter(({ newest }) => newest?.status === "failed")
      .toSorted((one, other) => (one.first < other.first ? -1 : 1))
      .map(({ first, count, isPending, event }) => [first, count, isPending, event]);
    const event = { type: "invoice.paid", newest: 1, versions: [1] };
    assert.deepEqual(told, [
      [third, 1, false, { type: "invoice.sent", newest: 2, versions: [2] }],
      [fourth, 1, true, null],
      [events[4], 1, true, event],
      [events[5], 2, false, event],
    ]);
  });
});
