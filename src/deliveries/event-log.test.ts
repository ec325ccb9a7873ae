/** Reading a tenant's events: which a page has, how far it looks, and what became of one at each endpoint. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { readingOnly } from "../../test/support/reading-only.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { logged, newEndpoint } from "../../test/support/store-inputs.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { BODY, EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import {
  newDeliveryId,
  newEndpointId,
  newEventId,
  parseEventId,
  type DeliveryId,
  type EndpointId,
  type EventId,
} from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { NewDelivery } from "./delivery.ts";
import { insertDelivery } from "./delivery-store.ts";
import { EventLog, type EventFilter } from "./event-log.ts";

const tenantId = tenant("acme");
const DAY_MS = 86_400_000;
const isNotFound = (error: unknown) => error instanceof Refusal && error.code === "not_found";

let database: TestDatabase;
let tenants: SteeredTenants;
let events: EventLog;
/** Anew for each test of one event. */
let endpointId: EndpointId;
let eventId: EventId;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 3));
  events = new EventLog(readingOnly(tenants));
});
beforeEach(() => tenants.reset());
after(async () => {
  await tenants.end();
  await database.drop();
});

async function typesOf(filter: EventFilter, limit = 10) {
  const page = await events.list(tenantId, filter, limit);
  return { types: page.events.map(({ type }) => type), next: page.next };
}

/** How much is read at each look, and how many are wanted of it. */
const looks = () => tenants.statements.map(({ values }) => [values[3], values[6]]);

describe("a list of events", () => {
  /** With 5,001 events of long ago. */
  const large = tenant("large");
  const toMs = Date.now() - 60 * DAY_MS;
  const TYPES = ["invoice.paid", "invoice.paid.late", "invoices.paid", "invoice"];
  before(async () => {
    await database.pool.query(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'large', postern.lowest_id_at($1::timestamptz - n * interval '1 s'),
          CASE n WHEN 5001 THEN 'rare.type' ELSE 'a.b' END, '{}', n
        FROM generate_series(1, 5001) AS n`,
      [new Date(toMs)],
    );
    for (const [days, type] of TYPES.entries()) {
      await database.pool.query(
        `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          VALUES ('acme', postern.lowest_id_at(now() - $1 * interval '13 days'), $2, '{}', 3)`,
        [days, type],
      );
    }
  });

  it("has those of the type, or of all types below it, newest first", async () => {
    for (const [type, found] of [
      [undefined, TYPES],
      ["invoice.paid", ["invoice.paid"]],
      ["invoice.*", ["invoice.paid", "invoice.paid.late"]],
      ["invoice.paid.*", ["invoice.paid.late"]],
      ["invoice", ["invoice"]],
      ["invoic", []],
    ] as const) {
      assert.deepEqual(await typesOf({ type }), { types: found, next: null });
    }
    const { events: all } = await events.list(tenantId, {}, 10);
    assert.deepEqual(all[0], { id: all[0]?.id, type: "invoice.paid", dispatchCount: 3 });
  });

  it("goes on where the page before ended, and looks for what that still lacks", async () => {
    const { types, next } = await typesOf({}, 3);
    assert.deepEqual(types, TYPES.slice(0, 3));
    // Two days, a week and a month: the second look found none.
    assert.deepEqual(looks(), [
      [3, 3],
      [12, 2],
      [48, 2],
    ]);
    assert.deepEqual(await typesOf({ before: parseEventId(next) ?? undefined }, 3), {
      types: TYPES.slice(3),
      next: null,
    });
  });

  it("is bounded by both times", async () => {
    const nowMs = Date.now();
    const between = { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs - 10 * DAY_MS };
    assert.deepEqual((await typesOf(between)).types, TYPES.slice(1, 3));
  });

  it("reads a page at once where all events fit, and else looks in steps that grow, at 5,000 in all", async () => {
    assert.equal((await events.list(large, { toMs }, 10)).events.length, 10);
    assert.deepEqual(looks(), [[10, 10]]);
    tenants.reset();
    assert.equal((await events.list(large, { toMs, type: "a.b" }, 300)).events.length, 300);
    assert.deepEqual(looks(), [[300, 300]]);
    tenants.reset();
    const { events: none, next } = await events.list(large, { toMs, type: "rare.type" }, 10);
    assert.deepEqual(none, []);
    assert.deepEqual(looks(), [
      [200, 10],
      [800, 10],
      [3200, 10],
      [800, 10],
    ]);
    const found = await events.list(
      large,
      { type: "rare.type", before: parseEventId(next) ?? undefined },
      10,
    );
    assert.deepEqual([found.events.map(({ dispatchCount }) => dispatchCount), found.next], [[5001], null]);
  });
});

const newOne = async () => (await insertEndpoint(database.pool, newEndpoint({ tenantId }))).id;

async function add(given: Partial<NewDelivery> = {}): Promise<DeliveryId> {
  const row = { ...logged({ tenantId, endpointId, eventId }), trigger: "event" as const, ...given };
  await insertDelivery(database.pool, row);
  return row.id;
}

const addMany = (count: number) =>
  database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms)
      SELECT $1, $2, postern.uuid_v7(), $3, $4, 'retry', 'failed', 1, '{}', 1 FROM generate_series(1, $5)`,
    [tenantId, endpointId, eventId, EVENT_TYPE, count],
  );

async function schedule({ at = endpointId, held = false } = {}): Promise<DeliveryId> {
  const id = newDeliveryId();
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
      VALUES ($1, $2, $3, $4, $5, 2, now(), now(), $6)`,
    [tenantId, at, id, eventId, EVENT_TYPE, held],
  );
  return id;
}

/** As a worker ends an attempt: in one transaction, with the next one. */
async function end(id: DeliveryId, status: "delivered" | "failed", next: boolean): Promise<DeliveryId[]> {
  await database.pool.query("DELETE FROM postern.dispatches WHERE id = $1", [id]);
  await add({ id, status });
  return next ? [await schedule()] : [];
}

async function story() {
  const { endpoints, isPartial } = await events.get(tenantId, eventId);
  const shown = endpoints.map(({ endpointId: at, state, nextAttemptAt, attempts }) => ({
    at,
    state,
    isDue: nextAttemptAt !== null,
    attempts: attempts.map(({ id }) => id),
  }));
  return { shown, isPartial, names: tenants.names() };
}

describe("an event", () => {
  beforeEach(async () => {
    await database.pool.query(
      "DELETE FROM postern.endpoints; DELETE FROM postern.dispatches; DELETE FROM postern.person_sends",
    );
    endpointId = await newOne();
    eventId = newEventId();
    await database.pool.query("INSERT INTO postern.events VALUES ($1, $2, $3, $4, 1)", [
      tenantId,
      eventId,
      EVENT_TYPE,
      BODY,
    ]);
  });

  const READ = ["find-event", "find-attempts", "read-delivery-heads"];

  it("that is unknown, or another tenant's, is not found; a malformed id is not even looked for", async () => {
    await assert.rejects(events.get(tenantId, null), isNotFound);
    assert.deepEqual(tenants.names(), []);
    await assert.rejects(events.get(tenantId, newEventId()), isNotFound);
    await assert.rejects(events.get(tenant("globex"), eventId), isNotFound);
    assert.deepEqual(tenants.names(), ["find-event", "find-event"]);
    assert.equal(await events.has(tenantId, eventId), true);
    assert.equal(await events.has(tenant("globex"), eventId), false);
  });

  it("without attempts has none, and none are read", async () => {
    assert.deepEqual(await story(), { shown: [], isPartial: false, names: READ.slice(0, 2) });
  });

  it("is told of by endpoint, that of the newest attempt first, with the state of the newest or of what is pending", async () => {
    const two = await newOne();
    const three = newEndpointId();
    const first = await add({ status: "failed" });
    const ofTwo = [await add({ endpointId: two, status: "failed" })];
    ofTwo.unshift(await add({ endpointId: two, status: "delivered", trigger: "retry" }));
    const ofThree = [await add({ endpointId: three, status: "failed" })];
    ofThree.unshift(await add({ endpointId: three, status: "delivered", trigger: "retry" }));
    ofThree.unshift(await add({ endpointId: three, status: "failed", trigger: "retry" }));
    const pending = await schedule();
    const retry = await add({ status: "failed", trigger: "retry" });
    assert.deepEqual(await story(), {
      shown: [
        { at: endpointId, state: "pending", isDue: true, attempts: [retry, pending, first] },
        { at: three, state: "failed", isDue: false, attempts: ofThree },
        { at: two, state: "delivered", isDue: false, attempts: ofTwo },
      ],
      isPartial: false,
      names: READ,
    });
  });

  it("is held where its next attempt waits for the endpoint to be enabled, and no time is told", async () => {
    const held = await schedule({ held: true });
    const { shown } = await story();
    assert.deepEqual(shown, [{ at: endpointId, state: "held", isDue: false, attempts: [held] }]);
    // What a person sends now is newer, and pending.
    await database.pool.query(
      `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, event_type, trigger, attempt, request_headers)
        VALUES ($1, $2, $3, $4, $5, 'retry', 2, '{}')`,
      [tenantId, endpointId, newDeliveryId(), eventId, EVENT_TYPE],
    );
    assert.equal((await story()).shown[0]?.state, "pending");
  });

  it("is looked at again where an attempt ended before its row was read, for it may have left another", async () => {
    const first = await schedule();
    const next: DeliveryId[] = [];
    tenants.before = ({ name }) =>
      name === "read-delivery-heads" && next.length === 0
        ? end(first, "failed", true).then((ids) => next.push(...ids))
        : undefined;
    assert.deepEqual(await story(), {
      shown: [{ at: endpointId, state: "pending", isDue: true, attempts: [...next, first] }],
      isPartial: false,
      names: [...READ, ...READ.slice(1)],
    });
  });

  for (const status of ["failed", "delivered"] as const) {
    it(`is answered after five looks, as it was read last (${status}), whatever ends meanwhile`, async () => {
      let pending = await schedule();
      tenants.before = async ({ name }) => {
        if (name !== "read-delivery-heads") return;
        [pending = pending] = await end(pending, status, true);
      };
      const { shown, names } = await story();
      assert.deepEqual(names, [READ[0], ...Array.from({ length: 5 }, () => READ.slice(1)).flat()]);
      // The last one that it saw had ended when it was read.
      assert.deepEqual([shown[0]?.state, shown[0]?.attempts.length], [status, 5]);
    });
  }

  it("shows 200 attempts, and says where there are more", async () => {
    await addMany(200);
    const all = await story();
    assert.deepEqual([all.isPartial, all.shown[0]?.attempts.length], [false, 200]);
    await addMany(1);
    const some = await story();
    assert.deepEqual([some.isPartial, some.shown[0]?.attempts.length], [true, 200]);
    assert.equal(some.shown[0]?.attempts.at(-1), all.shown[0]?.attempts.at(-2));
  });

  it("says where not all that may be its attempts was looked at", async () => {
    // All endpoints share what is looked at, so that each of many has little of it.
    await database.pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
        SELECT $1, gen_random_uuid(), 'https://example.com/', '{*}', '', now(), now() FROM generate_series(1, 2500)`,
      [tenantId],
    );
    const pending = await schedule();
    const { shown, isPartial } = await story();
    assert.deepEqual([shown[0]?.attempts, isPartial], [[pending], true]);
  });
});
