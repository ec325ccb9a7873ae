import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { logged, newEndpoint } from "../../test/support/store-inputs.ts";
import { BODY, EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import {
  idTimeMs,
  lowestIdAt,
  newDeliveryId,
  newEventId,
  parseDeliveryId,
  type DeliveryId,
  type EndpointId,
  type EventId,
} from "../shared/id.ts";
import { findDelivery, findEndpointOf, findText, insertDelivery } from "./delivery-store.ts";
import type { DeliveryKey, NewDelivery } from "./delivery.ts";
import { EventLog } from "./event-log.ts";
import { findAttempts, findNewestAttempt } from "./event-log-store.ts";
import { countPending } from "./log-page-store.ts";
import { ackOffers, leaseOffers, offerSend, readOffer, withdrawOffer } from "./person-offer-store.ts";
import { endInterruptedSends, insertPersonSend } from "./person-send-store.ts";
import { queryOf, rangeOf } from "./search-filter.ts";
import { searchSlice } from "./search-store.ts";
import { searchLog } from "./search.ts";

const tenantId = tenant("acme");
/** Of a day that is over. */
const NOON = "2026-03-01T12:00:00.000Z";

let database: TestDatabase;
let tenants: TenantPool;
let endpointId: EndpointId;
let eventId: EventId;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 1);
});
beforeEach(async () => {
  await database.pool.query(
    "DELETE FROM postern.endpoints; DELETE FROM postern.dispatches; DELETE FROM postern.person_sends",
  );
  ({ id: endpointId } = await insertEndpoint(database.pool, newEndpoint({ tenantId })));
  eventId = newEventId();
  await database.pool.query("INSERT INTO postern.events VALUES ($1, $2, $3, $4, 1)", [
    tenantId,
    eventId,
    EVENT_TYPE,
    BODY,
  ]);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

/** An attempt of the event that was made. */
async function log(given: Partial<NewDelivery> = {}): Promise<DeliveryId> {
  const delivery = { ...logged({ tenantId, endpointId, eventId }), ...given };
  await insertDelivery(database.pool, delivery);
  return delivery.id;
}

/** An attempt of the event that is due in so many minutes. */
async function schedule(minutes = 0, superseded = false): Promise<DeliveryId> {
  const id = newDeliveryId();
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, superseded)
      VALUES ($1, $2, $3, $4, $5, 2, $6::timestamptz + $7 * interval '1 min', now(), $8)`,
    [tenantId, endpointId, id, eventId, EVENT_TYPE, NOON, minutes, superseded],
  );
  return id;
}

const deleteEndpoint = (isUnsettled: boolean) =>
  database.pool.query("UPDATE postern.endpoints SET deleted_at = now(), unsettled = $2 WHERE id = $1", [
    endpointId,
    isUnsettled,
  ]);

const states = async () => {
  const { keys, isPartial } = await findAttempts(database.pool, { tenantId, eventId }, 10);
  assert.equal(isPartial, false);
  return new Map(keys.map(({ id, state }) => [id, state]));
};

describe("the attempts of an event", () => {
  it("have the pending one among them, though a person's retry is newer", async () => {
    const first = await log({ trigger: "event", attempt: 1 });
    const pending = await schedule();
    // What a delivery by hand has overtaken is not made.
    await schedule(0, true);
    const retry = await log({ trigger: "retry", attempt: 2 });
    assert.deepEqual(
      await states(),
      new Map([
        [first, "failed"],
        [pending, "pending"],
        [retry, "failed"],
      ]),
    );
    const { endpoints } = await new EventLog(tenants).get(tenantId, eventId);
    assert.deepEqual(
      endpoints.map(({ state, nextAttemptAt, attempts }) => [
        state,
        nextAttemptAt?.toISOString(),
        attempts.length,
      ]),
      [["pending", NOON, 3]],
    );
  });

  it("are all there are where as many were found as are looked at", async () => {
    for (const attempt of [1, 2, 3]) await log({ attempt });
    for (const [most, isPartial, count] of [
      [3, false, 3],
      [1, true, 2],
    ] as const) {
      const found = await findAttempts(database.pool, { tenantId, eventId }, most);
      assert.deepEqual([found.isPartial, found.keys.length], [isPartial, count]);
    }
  });

  it("have the pending one of a deleted endpoint, until that is ended", async () => {
    const pending = await schedule();
    await insertEndpoint(database.pool, newEndpoint({ tenantId }));
    await deleteEndpoint(true);
    assert.deepEqual(await states(), new Map([[pending, "pending"]]));
    assert.equal(await findEndpointOf(database.pool, tenantId, pending), endpointId);
    await deleteEndpoint(false);
    assert.deepEqual(await states(), new Map());
    assert.equal(await findEndpointOf(database.pool, tenantId, pending), null);
  });

  it("are looked for from the newest automatic one on, and without one from the event on", async () => {
    const { pool } = database;
    const foreign = newEventId();
    await log({ trigger: "event", attempt: 1 });
    for (let n = 0; n < 2; n++) {
      const other = await schedule();
      await pool.query("UPDATE postern.dispatches SET event_id = $2 WHERE id = $1", [other, foreign]);
    }
    await log({ trigger: "auto_retry", attempt: 2 });
    const pending = await schedule();
    const find = (of: EventId, most: number) => findAttempts(pool, { tenantId, eventId: of }, most);
    const { keys, isPartial } = await find(eventId, 3);
    assert.deepEqual([keys.map(({ id }) => id).includes(pending), keys.length, isPartial], [true, 3, false]);
    // The clocks of who accepted it and of the database may differ by five seconds.
    const ids = [lowestIdAt(idTimeMs(foreign) - 5000), lowestIdAt(idTimeMs(foreign) - 5001)];
    await pool.query("DELETE FROM postern.dispatches WHERE id = $1", [pending]);
    for (const id of ids) {
      await pool.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
          VALUES ($1, $2, $3, $4, $5, 1, now(), now())`,
        [tenantId, endpointId, id, foreign, EVENT_TYPE],
      );
    }
    assert.equal((await find(foreign, 10)).keys.length, 3);
    // Of two that may be looked at, the first is shown.
    const first = await find(foreign, 1);
    assert.deepEqual([first.keys.map(({ id }) => id), first.isPartial], [[ids[0]], true]);
  });

  it("are pending at a pull endpoint while its client may fetch them, and else held", async () => {
    const pending = await schedule();
    await database.pool.query("UPDATE postern.dispatches SET held = true");
    for (const [mode, reason, state] of [
      ["pull", null, "pending"],
      ["pull", "manual", "held"],
      ["push", null, "held"],
    ] as const) {
      await database.pool.query(
        "UPDATE postern.endpoints SET mode = $1, enabled = $2::text IS NULL, disabled_reason = $2",
        [mode, reason],
      );
      assert.deepEqual(await states(), new Map([[pending, state]]), `${mode}, ${reason}`);
    }
  });

  it("continue with the number of the newest one at the endpoint", async () => {
    const at = { tenantId, endpointId, eventId };
    assert.equal(await findNewestAttempt(database.pool, at), null);
    // An event may be given an id of up to a day ahead.
    const dayBefore = idTimeMs(eventId) - 86_400_000;
    for (const [ms, newest] of [
      [dayBefore - 1, null],
      [dayBefore, { attempt: 1, version: 1 }],
    ] as const) {
      await log({ id: parseDeliveryId(lowestIdAt(ms)) ?? assert.fail(), attempt: 1 });
      assert.deepEqual(await findNewestAttempt(database.pool, at), newest);
    }
    for (const attempt of [1, 2, 3]) await log({ attempt, version: attempt === 3 ? 2 : 1 });
    const elsewhere = await insertEndpoint(database.pool, newEndpoint({ tenantId }));
    await log({ attempt: 7, endpointId: elsewhere.id });
    await log({ attempt: 8, eventId: newEventId() });
    assert.deepEqual(await findNewestAttempt(database.pool, at), { attempt: 3, version: 2 });
  });
});

describe("what is pending at an endpoint", () => {
  it("is counted without what was superseded, with the time of the longest due", async () => {
    const inAYear = 60 * 24 * 365;
    await schedule(inAYear);
    await schedule(-2, true);
    assert.deepEqual(await countPending(database.pool, tenantId, endpointId), { count: 1, oldestDue: null });
    for (const minutes of [0, -1]) await schedule(minutes);
    assert.deepEqual(await countPending(database.pool, tenantId, endpointId), {
      count: 3,
      oldestDue: new Date(Date.parse(NOON) - 60_000),
    });
  });
});

describe("a slice of a search", () => {
  it("finds no row that another endpoint's rows of the next slice may be newer than", async () => {
    const elsewhere = await insertEndpoint(database.pool, newEndpoint({ tenantId }));
    const older = await log({ endpointId: elsewhere.id });
    const own: DeliveryId[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) own.unshift(await log({ attempt }));
    const query = queryOf({ endpointIds: [endpointId, elsewhere.id], status: "failed", times: {} });
    const slice = async (most: number) => {
      const range = rangeOf({});
      const { found, looked, lookedTo } = await searchSlice(database.pool, tenantId, query, {
        range,
        most,
        limit: 10,
      });
      return [found.map(({ id }) => id), looked, lookedTo];
    };
    assert.deepEqual(await slice(2), [own.slice(0, 2), 3, own[1]]);
    assert.deepEqual(await slice(5), [[...own, older], 5, null]);
  });
});

describe("a slice of what is pending", () => {
  it("is shared by all of a tenant's endpoints, at one row each at least, and not by those that are named", async () => {
    const others = [endpointId];
    for (let n = 0; n < 3; n++)
      others.push((await insertEndpoint(database.pool, newEndpoint({ tenantId }))).id);
    await database.pool.query(
      `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
        SELECT $1, endpoint, postern.uuid_v7(), $3, $4, 2, now(), now()
        FROM unnest($2::uuid[]) AS endpoint, generate_series(1, 5)`,
      [tenantId, others, eventId, EVENT_TYPE],
    );
    for (const [endpointIds, most, looked] of [
      [undefined, 8, 8],
      [undefined, 2, 4],
      [undefined, 100, 20],
      [others.slice(0, 2), 3, 6],
    ] as const) {
      const query = queryOf({ endpointIds, status: "pending", times: {} });
      const slice = await searchSlice(database.pool, tenantId, query, {
        range: rangeOf({}),
        most,
        limit: 100,
      });
      assert.equal(slice.looked, looked);
    }
  });
});

describe("a delivery that a person sent", () => {
  it("is logged as it was, with its headers, or with none where nothing left", async () => {
    for (const given of [
      {
        requestHeaders: { "X-Team": "billing" },
        responseHeaders: { "content-type": "text/plain" },
        responseStatus: 201,
        responseBody: "made",
        requestBody: BODY,
        error: "reset",
        sentAt: new Date(NOON),
        version: 2,
        latencyMs: 17,
        status: "delivered" as const,
      },
      { requestBody: "{}", requestHeaders: {} },
    ]) {
      const delivery = { ...logged({ tenantId, endpointId, eventId }), ...given };
      await insertDelivery(database.pool, delivery);
      assert.deepEqual(await findDelivery(database.pool, delivery), {
        ...delivery,
        replayId: null,
        nextAttemptAt: null,
      });
    }
    const without = await log({ requestHeaders: null, responseHeaders: null });
    const { rows } = await database.pool.query(
      "SELECT request_headers, response_headers IS NULL AS is_null FROM postern.deliveries WHERE id = $1",
      [without],
    );
    assert.deepEqual(rows, [{ request_headers: {}, is_null: true }]);
  });
});

const LEASE = randomUUID();
const offer = async () => {
  const key = { tenantId, endpointId, id: newDeliveryId() };
  await insertPersonSend(database.pool, { ...logged({ tenantId, endpointId, eventId }), ...key });
  await offerSend(database.pool, key, "label");
  return key;
};
const lease = async (leaseId: string) =>
  (await leaseOffers(database.pool, { tenantId, endpointId }, leaseId, { sends: 10, bodyBytes: 1e6 })).map(
    ({ id }) => id,
  );
const ack = (id: DeliveryId, leaseId: string, refusal: string | null = null) =>
  ackOffers(database.pool, { tenantId, endpointId }, leaseId, [{ id, refusal }]);

describe("a send that is offered to clients", () => {
  it("is leased to one, and acknowledged once, by that one", async () => {
    const key = await offer();
    assert.deepEqual([await lease(LEASE), await lease(randomUUID())], [[key.id], []]);
    assert.deepEqual(await ack(key.id, randomUUID()), new Set());
    assert.deepEqual(await ack(key.id, LEASE), new Set([key.id]));
    assert.deepEqual(await ack(key.id, LEASE, "refused after all"), new Set());
    const state = await readOffer(database.pool, key);
    assert.deepEqual([state?.ackedAt instanceof Date, state?.refusal], [true, null]);
  });

  it("can be neither leased nor acknowledged once it is withdrawn", async () => {
    const [waiting, leased] = [await offer(), await offer()];
    await database.pool.query(
      "UPDATE postern.person_sends SET lease_id = $2, leased_at = now() WHERE id = $1",
      [leased.id, LEASE],
    );
    for (const key of [waiting, leased]) await withdrawOffer(database.pool, key);
    assert.deepEqual(await lease(randomUUID()), []);
    assert.deepEqual(await ack(leased.id, LEASE), new Set());
  });
});

describe("a send that lost its process", () => {
  it("ends after 45 seconds, and not sooner, as what it was", async () => {
    const ids: DeliveryId[] = [];
    for (const seconds of [35, 55]) {
      const { rows } = await database.pool.query<{ id: DeliveryId }>(
        "SELECT postern.lowest_id_at(now() - $1 * interval '1 s') AS id",
        [seconds],
      );
      const id = rows[0]?.id ?? newDeliveryId();
      const send = { ...logged({ tenantId, endpointId, eventId }), id, attempt: 5, version: 2 };
      await insertPersonSend(database.pool, send);
      ids.push(id);
    }
    assert.equal(await endInterruptedSends(database.pool), 1);
    const { rows } = await database.pool.query(
      "SELECT id, event_id, trigger, status, attempt, version, error FROM postern.deliveries WHERE endpoint_id = $1",
      [endpointId],
    );
    const what = { event_id: eventId, trigger: "retry", status: "failed", attempt: 5, version: 2 };
    assert.deepEqual(rows, [{ id: ids[1], ...what, error: "interrupted" }]);
  });
});

describe("looking for a text in bodies", () => {
  it("looks into the first of them whatever its size, and goes on while they fit", async () => {
    const bodies = ["a needle", "none", "needle too", "needle"];
    const keys: DeliveryKey[] = [];
    for (const requestBody of bodies) keys.push({ endpointId, id: await log({ requestBody }) });
    const within = (maxBytes: number) =>
      findText(database.pool, tenantId, { keys, text: "needle", maxBytes });
    assert.deepEqual(await within(1), { hits: [true], bytes: 8 });
    assert.deepEqual(await within(11), { hits: [true], bytes: 8 });
    assert.deepEqual(await within(12), { hits: [true, false], bytes: 12 });
    assert.deepEqual((await within(100)).hits, [true, false, true, true]);
  });

  it("goes on at the first body that it has not looked into", async () => {
    // 75 KiB each: together more than one search looks into, and more rows than its first slice has.
    await database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, test_id, event_type, trigger, status, attempt,
          request_body, request_headers, latency_ms)
        SELECT $1, $2, id, id, $3, 'test', 'test', 1, repeat('x', 76800), '{}', 1
        FROM (SELECT postern.uuid_v7() AS id FROM generate_series(1, 240)) AS made`,
      [tenantId, endpointId, EVENT_TYPE],
    );
    const { rows } = await database.pool.query<{ id: DeliveryId }>(
      "SELECT id FROM postern.deliveries WHERE endpoint_id = $1 ORDER BY id DESC",
      [endpointId],
    );
    const filter = { endpointIds: [endpointId], text: "needle", times: {} };
    const found = await searchLog(database.pool, tenantId, filter, { limit: 5, nowMs: Date.now() });
    assert.deepEqual(found, { keys: [], searchedTo: rows[217]?.id });
  });
});
