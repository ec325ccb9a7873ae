/** Looking for deliveries: where it looks, how far one request comes, and from where the next goes on. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import {
  lowestIdAt,
  newEventId,
  parseDeliveryId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type TenantId,
} from "../shared/id.ts";
import { queryOf, type SearchFilter } from "./search-filter.ts";
import { searchLog } from "./search.ts";
import { searchSlice } from "./search-store.ts";

const NOW_MS = Date.UTC(2026, 2, 1, 12);
const tenants = [tenant("acme"), tenant("globex"), tenant("initech")] as const;
const [tenantId, other, large] = tenants;
const eventId = newEventId();

let database: TestDatabase;
/** Two of one tenant, and one of each other. */
let one: EndpointId;
let two: EndpointId;
let foreign: EndpointId;
let busy: EndpointId;

/** Minutes before now. */
const idAt = (minutesAgo: number): DeliveryId =>
  parseDeliveryId(lowestIdAt(NOW_MS - minutesAgo * 60_000)) ?? assert.fail();

async function addLogged(
  minutesAgo: number,
  endpointId: EndpointId,
  given: { status?: string; of?: TenantId; body?: string; event?: EventId } = {},
): Promise<void> {
  const { status = "delivered", of = tenantId, body = null, event = newEventId() } = given;
  await database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_body, request_headers, latency_ms)
      VALUES ($1, $2, $3, $4, $5, 'event', $6, 1, $7, '{}', 1)`,
    [of, endpointId, idAt(minutesAgo), event, EVENT_TYPE, status, body],
  );
}

async function addPending(
  minutesAgo: number,
  endpointId: EndpointId,
  of: TenantId = tenantId,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      VALUES ($1, $2, $3, $4, $5, 2, now(), now())`,
    [of, endpointId, idAt(minutesAgo), newEventId(), EVENT_TYPE],
  );
}

async function addSending(
  minutesAgo: number,
  endpointId: EndpointId,
  of: TenantId = tenantId,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, test_id, event_type, trigger, attempt, request_headers)
      VALUES ($1, $2, $3, $3, $4, 'test', 1, '{}')`,
    [of, endpointId, idAt(minutesAgo), EVENT_TYPE],
  );
}

before(async () => {
  database = await createTestDatabase();
  const add = async (of: TenantId) => (await insertEndpoint(database.pool, newEndpoint({ tenantId: of }))).id;
  [one, two, foreign, busy] = [await add(tenantId), await add(tenantId), await add(other), await add(large)];
  await addSending(1, one);
  await addSending(2, two);
  await addPending(3, one);
  await addPending(4, two);
  await addLogged(5, one, { event: eventId, body: '{"n":"needle"}' });
  await addLogged(6, two, { status: "failed", event: eventId });
  await addLogged(7, one, { status: "test" });
  await addLogged(8, two, { status: "failed", body: '{"n":"needle"}' });
  await addLogged(9, one, { status: "failed" });
  for (const minutesAgo of [1, 2]) await addLogged(minutesAgo, foreign, { of: other, event: eventId });
  await addPending(3, foreign, other);
  await addSending(4, foreign, other);
  await database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_body, request_headers, latency_ms)
      SELECT $1, $2, postern.lowest_id_at($3::timestamptz - n * interval '1 minute'), gen_random_uuid(), $4, 'event',
        CASE WHEN n = 5200 THEN 'failed' ELSE 'delivered' END, 1, CASE n WHEN 5200 THEN 'rare' ELSE 'x' END, '{}', 1
      FROM generate_series(1, 5200) AS n`,
    [large, busy, new Date(NOW_MS), EVENT_TYPE],
  );
});
after(() => database.drop());

const minutesOf = (id: string) => (NOW_MS - Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)) / 60_000;

/** The minutes of what is found, newest first, and up to which everything was looked at. */
async function find(
  filter: Omit<SearchFilter, "times">,
  limit = 100,
  of: TenantId = tenantId,
  before?: string,
) {
  const { keys, searchedTo } = await searchLog(
    database.pool,
    of,
    {
      ...filter,
      times: { before: before === undefined ? undefined : (parseDeliveryId(before) ?? undefined) },
    },
    { limit, nowMs: NOW_MS },
  );
  return {
    found: keys.map(({ id }) => minutesOf(id)),
    endpoints: keys.map(({ endpointId }) => endpointId),
    searchedTo: searchedTo === null ? null : minutesOf(searchedTo),
    next: searchedTo,
  };
}

describe("looking for deliveries", () => {
  const cases: [about: string, filter: () => Omit<SearchFilter, "times">, found: number[]][] = [
    ["all of a tenant", () => ({}), [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["one endpoint", () => ({ endpointIds: [two] }), [2, 4, 6, 8]],
    ["two endpoints", () => ({ endpointIds: [one, two] }), [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["no endpoint", () => ({ endpointIds: [] }), []],
    ["another tenant's endpoint", () => ({ endpointIds: [foreign] }), []],
    ["what failed", () => ({ status: "failed" }), [6, 8, 9]],
    ["what failed at an endpoint", () => ({ status: "failed", endpointIds: [two] }), [6, 8]],
    ["what was delivered", () => ({ status: "delivered" }), [5]],
    ["what is pending", () => ({ status: "pending" }), [1, 2, 3, 4]],
    ["what is pending at an endpoint", () => ({ status: "pending", endpointIds: [one] }), [1, 3]],
    ["an event", () => ({ eventId }), [5, 6]],
    ["an event at an endpoint", () => ({ eventId, endpointIds: [two] }), [6]],
    ["failures without an answer", () => ({ responseStatus: "none" }), [6, 7, 8, 9]],
    ["a text", () => ({ text: "needle" }), [5, 8]],
    ["a text in what failed", () => ({ text: "needle", status: "failed" }), [8]],
    ["a text that none has", () => ({ text: "no such" }), []],
    ["what nothing can be", () => ({ status: "delivered", error: "dns" }), []],
  ];
  for (const [about, filter, found] of cases) {
    it(`finds ${about}, newest first`, async () => {
      const { searchedTo, ...rest } = await find(filter());
      assert.deepEqual([rest.found, searchedTo], [found, null]);
    });
  }

  it("names the endpoint of each", async () => {
    const { endpoints } = await find({ status: "failed" });
    assert.deepEqual(endpoints, [two, two, one]);
  });

  it("ends with the page, from where the next one goes on", async () => {
    for (const [filter, limit, all] of [
      [{}, 2, [1, 2, 3, 4, 5, 6, 7, 8, 9]],
      [{ text: "needle" }, 1, [5, 8]],
    ] as const) {
      let before: string | undefined;
      const pages: number[][] = [];
      do {
        const { found, next } = await find(filter, limit, tenantId, before);
        pages.push(found);
        before = next ?? undefined;
      } while (before !== undefined);
      assert.deepEqual(pages.flat(), all);
      assert.ok(pages.slice(0, -1).every(({ length }) => length === limit));
    }
  });

  it("reads a page at once where all rows fit, and looks for what is rare in few steps", async (test) => {
    const query = test.mock.method(database.pool, "query");
    const stepsOf = async (...what: Parameters<typeof find>) => {
      query.mock.resetCalls();
      await find(...what);
      return query.mock.callCount();
    };
    assert.equal(await stepsOf({}, 100, large), 1);
    assert.equal(await stepsOf({ endpointIds: [busy] }, 100, large), 1);
    assert.equal(await stepsOf({ status: "delivered" }, 500, large), 1);
    // Of several endpoints each may have less than a page in the first step.
    assert.equal(await stepsOf({ endpointIds: [busy, foreign] }, 100, large), 2);
    // Each step looks at four times as much as the one before; of a text it reads bodies besides.
    assert.equal(await stepsOf({ eventType: "no.such" }, 10, large), 11);
    assert.equal(await stepsOf({ text: "rare" }, 10, large), 22);
    assert.equal(await stepsOf({ text: "x", eventType: "no.such" }, 10, large), 11);
    assert.equal(await stepsOf({ text: "x" }, 500, large), 4);
    // The second step looks for what the page still lacks.
    assert.equal(await stepsOf({ eventType: EVENT_TYPE }, 100, large), 2);
    assert.match(JSON.stringify(query.mock.calls[1]?.arguments[0]), /,34\]\}$/);
  });

  it("looks into no body any more once it has looked into 16 MiB", async () => {
    const of = tenant("hooli");
    await database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_body, request_headers, latency_ms)
        SELECT $1, $2, postern.lowest_id_at($3::timestamptz - n * interval '1 minute'), gen_random_uuid(), $4, 'event',
          'failed', 1, CASE WHEN n <= 16 THEN repeat('x', 1024 * 1024) WHEN n = 201 THEN 'needle' END, '{}', 1
        FROM generate_series(1, 201) AS n`,
      [of, busy, new Date(NOW_MS), EVENT_TYPE],
    );
    const first = await find({ text: "needle", status: "failed" }, 10, of);
    assert.deepEqual([first.found, first.searchedTo], [[], 200]);
    const next = await find({ text: "needle", status: "failed" }, 10, of, first.next ?? assert.fail());
    assert.deepEqual([next.found, next.searchedTo], [[201], null]);
  });

  it("passes over no row of a busy stream for one that is quiet and has older ones", async () => {
    const of = tenant("umbrella");
    const add = async () => (await insertEndpoint(database.pool, newEndpoint({ tenantId: of }))).id;
    const [many, few] = [await add(), await add()];
    for (const minutesAgo of [1, 2, 3, 4, 5]) {
      await addPending(minutesAgo, many, of);
      await addLogged(minutesAgo + 30, many, { of, status: "failed" });
    }
    await addPending(20, few, of);
    await addSending(25, few, of);
    await addLogged(50, few, { of, status: "failed" });
    await addLogged(60, few, { of, status: "test" });
    const range = { from: idAt(100), to: idAt(0) };
    const slices: [filter: Omit<SearchFilter, "times">, most: number, found: number[]][] = [
      // The tenant's endpoints share what a slice may look at.
      [{ status: "pending" }, 4, [1, 2]],
      [{ status: "pending", endpointIds: [many, few] }, 2, [1, 2]],
      [{ status: "failed", endpointIds: [many, few] }, 2, [31, 32]],
      [{ responseStatus: "none" }, 2, [31, 32]],
    ];
    for (const [filter, most, found] of slices) {
      const query = queryOf({ ...filter, times: {} });
      const slice = await searchSlice(database.pool, of, query, { range, most, limit: 10 });
      const seen = [slice.found.map(({ id }) => minutesOf(id)), minutesOf(slice.lookedTo ?? "")];
      assert.deepEqual(seen, [found, found.at(-1)], JSON.stringify(filter));
    }
  });

  it("comes 5,000 rows far in one request, whatever it looks for, and says how far", async () => {
    for (const filter of [{ text: "rare" }, { eventType: "no.such" }]) {
      const first = await find(filter, 10, large);
      assert.equal(first.found.length, 0);
      assert.ok(
        first.searchedTo !== null && first.searchedTo > 4500 && first.searchedTo <= 5000,
        `${first.searchedTo}`,
      );
      assert.ok(first.next !== null);
      const second = await find(filter, 10, large, first.next);
      assert.deepEqual([second.found, second.searchedTo], ["text" in filter ? [5200] : [], null]);
    }
    // The last 200 of them too, where the first step has all the others, as it has of days long over.
    const filter = { text: "rare", status: "delivered", times: { before: idAt(0) } } as const;
    const later = { limit: 4800, nowMs: NOW_MS + 100 * 86_400_000 };
    const rest = await searchLog(database.pool, large, filter, later);
    assert.deepEqual(rest, { keys: [], searchedTo: idAt(5000) });
    // What is a stream of its own is found at once.
    assert.deepEqual((await find({ status: "failed" }, 10, large)).found, [5200]);
  });
});
