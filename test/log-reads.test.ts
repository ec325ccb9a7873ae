/**
 * How many rows a read of the log touches, counted in its plan. The statements
 * are planned while the tables are empty, then run on a log that grew since and
 * that nobody analyzed: what they read must not depend on when they were planned.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BY_INDEX } from "../src/database/tenant-pool.ts";
import type { Delivery } from "../src/deliveries/delivery.ts";
import { findBodies } from "../src/deliveries/delivery-store.ts";
import { EventLog, type EventPage } from "../src/deliveries/event-log.ts";
import { DeliveryLog } from "../src/deliveries/log.ts";
import type { SearchFilter } from "../src/deliveries/search-filter.ts";
import { groupAccepted, readCandidates } from "../src/replays/candidate-store.ts";
import { groupFailures, sliceFailures } from "../src/replays/failure-store.ts";
import { listReplays } from "../src/replays/replay-store.ts";
import {
  lowestIdAt,
  newDeliveryId,
  newEndpointId,
  parseDeliveryId,
  parseEventId,
  type DeliveryId,
  type EndpointId,
  type EventId,
} from "../src/shared/id.ts";
import { countLog } from "../src/storage/exports/count-log.ts";
import { readLogPage } from "../src/storage/exports/export-log-store.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { openCounter } from "./support/rows-read.ts";
import { tenant } from "./support/two-tenants.ts";

const DAYS = 12;
const ROWS = 24_000;
const LIMIT = 20;
/** The rows of a page are found in an index, then read, then their events. */
const PER_ROW = 4;

/** One row of twelve is another tenant's. */
const OF_ACME = (ROWS / 12) * 11;
const EXPORT_PAGE = 200;

const acme = tenant("acme");
const [busy, quiet, failing] = [newEndpointId(), newEndpointId(), newEndpointId()];

let database: TestDatabase;
let counter: Awaited<ReturnType<typeof openCounter>>;
let log: DeliveryLog;
let eventLog: EventLog;

/** Of each twelve rows, ten are of the busy endpoint, one of another tenant, one of an endpoint that fails. */
async function seed(): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      SELECT 'acme', unnest($1::uuid[]), 'https://example.com/', '{*}', '', now(), now()`,
    [[busy, quiet, failing]],
  );
  await database.pool.query(
    `WITH made AS (
        SELECT n, postern.lowest_id_at(now() - n * make_interval(days => $1) / $2) AS low FROM generate_series(1, $2::int) AS n
      ), rows AS (
        SELECT n, overlay(low::text placing '7' || right(gen_random_uuid()::text, 21) from 15)::uuid AS id,
          overlay(low::text placing '7' || right(gen_random_uuid()::text, 21) from 15)::uuid AS event_id FROM made
      ), events AS (
        INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT CASE n % 12 WHEN 1 THEN 'globex' ELSE 'acme' END, event_id, 'invoice.paid', '{"n":' || n || '}', 1 FROM rows
      )
      INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, response_status, latency_ms)
      SELECT CASE n % 12 WHEN 1 THEN 'globex' ELSE 'acme' END,
        CASE WHEN n % 6000 = 2 THEN $4::uuid WHEN n % 12 = 0 THEN $5 ELSE $3 END, id, event_id,
        CASE n WHEN 23003 THEN 'invoice.rare' ELSE 'invoice.paid' END, 'event',
        CASE WHEN n % 12 = 0 OR n % 5000 = 4 THEN 'failed' ELSE 'delivered' END, 1, '{}',
        CASE WHEN n % 12 = 0 OR n % 5000 = 4 THEN 500 ELSE 200 END, 1
      FROM rows`,
    [DAYS, ROWS, busy, quiet, failing],
  );
}

const page = { times: {}, offset: 0n, limit: LIMIT };
const list = (endpointId = busy, more: Partial<Parameters<DeliveryLog["list"]>[2]> = {}) =>
  log.list(acme, endpointId, { ...page, ...more });
const search = (filter: Omit<SearchFilter, "times">, limit = LIMIT) =>
  log.search(acme, { ...filter, times: {} }, { offset: 0n, limit, withBodies: false });

before(async () => {
  database = await createTestDatabase();
  await database.pool.query(`SELECT postern.ensure_partitions(current_date - ${DAYS + 1}, current_date)`);
  await database.pool.query(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
    END LOOP;
  END $$`);
  counter = await openCounter(database.pool, acme, BY_INDEX);
  log = new DeliveryLog(counter.tenants);
  eventLog = new EventLog(counter.tenants);
  await plan();
  await seed();
});
after(async () => {
  counter.close();
  await database.drop();
});

/** Each read once on empty tables, which plans its statements. */
async function plan(): Promise<void> {
  for (const { run } of Object.values(READS)) await run();
  for (const { run } of Object.values(EVENT_READS)) await run();
  for (const { run } of Object.values(CANDIDATE_READS)) await run();
  // Of an empty table there are no slices.
  await groupFailures(counter.tenants.reading(), candidatesOf(failing, "failed"), {
    after: idAtDay(1),
    upTo: idAtDay(0),
  });
  await listReplays(counter.tenants.reading(), acme, { endpointId: null, before: null, limit: LIMIT });
  await log.getById(acme, parseDeliveryId(eventId)).catch(() => undefined);
  await eventLog.get(acme, eventId).catch(() => undefined);
  await bodiesOf([{ endpointId: busy, id: newDeliveryId() }]);
  await exporting.count();
  await exporting.page();
}

const bodiesOf = (keys: readonly Pick<Delivery, "endpointId" | "id">[]) =>
  findBodies(counter.tenants.reading(), acme, keys);

const candidatesOf = (endpointId: EndpointId, selection: "failed" | "all") =>
  ({ tenantId: acme, endpointId, selection, to: new Date() }) as const;

/** How many are found of those that many days old and younger. */
async function readPage(endpointId: EndpointId, selection: "failed" | "all", days: number): Promise<number> {
  const page = { after: idAtDay(days), most: LIMIT };
  const filter = candidatesOf(endpointId, selection);
  return (await readCandidates(counter.tenants.reading(), filter, page)).candidates.length;
}

async function countPage(endpointId: EndpointId, days: number): Promise<number> {
  const page = { after: idAtDay(days), most: LIMIT };
  const { groups } = await groupAccepted(counter.tenants.reading(), candidatesOf(endpointId, "all"), page);
  return groups.reduce((sum, { count }) => sum + count, 0);
}

async function countSlices(endpointId: EndpointId, days: number): Promise<number> {
  const filter = candidatesOf(endpointId, "failed");
  const range = { after: idAtDay(days), size: LIMIT / 2, most: LIMIT };
  const { slices } = await sliceFailures(counter.tenants.reading(), filter, range);
  let found = 0;
  for (const slice of slices) {
    const groups = await groupFailures(counter.tenants.reading(), filter, slice);
    found += groups.reduce((sum, { count }) => sum + count, 0);
  }
  return found;
}

/** The least event id of so many days ago. */
function idAtDay(days: number): EventId {
  const id = parseEventId(lowestIdAt(Date.now() - days * 86_400_000));
  assert.ok(id !== null);
  return id;
}

type CandidateRead = { run: () => Promise<number>; finds: number; reads: number };

/** Each candidate is found in an index, and then its event and its newest attempt. */
const CANDIDATE_READS: Record<string, CandidateRead> = {
  "a replay's page of failed events": {
    run: () => readPage(failing, "failed", DAYS - 1),
    finds: LIMIT,
    reads: LIMIT * PER_ROW,
  },
  "a replay's page of failed events, where little fails": {
    run: () => readPage(busy, "failed", DAYS + 1),
    finds: 3,
    reads: 3 * PER_ROW,
  },
  "a replay's page of all events": {
    run: () => readPage(busy, "all", DAYS - 1),
    finds: LIMIT,
    reads: LIMIT * PER_ROW,
  },
  "a replay's count of failed events": {
    run: () => countSlices(failing, DAYS - 1),
    finds: LIMIT,
    reads: LIMIT * PER_ROW,
  },
  "a replay's count of all events": {
    run: () => countPage(busy, DAYS - 1),
    finds: LIMIT,
    reads: LIMIT * PER_ROW,
  },
};

const exported = {
  tenantId: acme,
  from: new Date(Date.now() - (DAYS + 1) * 86_400_000),
  to: new Date(Date.now() + 3_600_000),
  endpointId: null,
  eventType: null,
  deliveryStatus: null,
};
const exporting = {
  count: () =>
    countLog(counter.tenants.reading(), exported, { limit: Infinity, signal: new AbortController().signal }),
  page: () =>
    readLogPage(counter.tenants.reading(), exported, { after: null, limit: EXPORT_PAGE, maxBodyBytes: 1e6 }),
};

type EventRead = { run: () => Promise<EventPage>; finds: number; reads: number };

const EVENT_READS: Record<string, EventRead> = {
  "newest events": { run: () => eventLog.list(acme, {}, LIMIT), finds: LIMIT, reads: 2 * LIMIT },
  "events of a type that nothing has": {
    run: () => eventLog.list(acme, { type: "invoice.none" }, LIMIT),
    finds: 0,
    reads: 2 * 5200,
  },
  "events of long ago": {
    run: () => eventLog.list(acme, { toMs: Date.now() - (DAYS - 1) * 86_400_000 }, LIMIT),
    finds: LIMIT,
    reads: 2 * LIMIT,
  },
};

type Read = { run: () => Promise<{ listed: Delivery[]; next: string | null }>; finds: number; reads: number };

const eventId = parseEventId("019a2f00-0000-7000-8000-00000000000f");
assert.ok(eventId !== null);

/** What each finds, and how many rows it may read for that; the endpoint's row and those at its edges come atop. */
const READS: Record<string, Read> = {
  "first page": { run: () => list(), finds: LIMIT, reads: LIMIT * PER_ROW },
  "page of a quiet endpoint": { run: () => list(quiet), finds: 4, reads: 4 * PER_ROW },
  "page of what failed, where little does": {
    run: () => list(busy, { status: "failed" }),
    finds: 3,
    reads: 3 * PER_ROW,
  },
  "page of what was delivered": {
    run: () => list(busy, { status: "delivered" }),
    finds: LIMIT,
    reads: 30 * PER_ROW,
  },
  "page of what is pending": { run: () => list(busy, { status: "pending" }), finds: 0, reads: 0 },
  "page of long ago": {
    run: () => list(busy, { times: { toMs: Date.now() - (DAYS - 1) * 86_400_000 } }),
    finds: LIMIT,
    reads: LIMIT * PER_ROW,
  },
  "hundredth page": { run: () => list(busy, { offset: 2000n }), finds: LIMIT, reads: 2000 + LIMIT * PER_ROW },
  "tenant's newest": { run: () => search({}), finds: LIMIT, reads: LIMIT * PER_ROW },
  "tenant's failed": { run: () => search({ status: "failed" }), finds: LIMIT, reads: 200 + LIMIT * PER_ROW },
  "tenant's answers of 5xx": {
    run: () => search({ responseStatus: { from: 500, to: 599 } }),
    finds: LIMIT,
    reads: 200 + LIMIT * PER_ROW,
  },
  "an event": { run: () => search({ eventId }), finds: 0, reads: 0 },
  "an error that nothing has": { run: () => search({ error: "dns" }), finds: 0, reads: 2100 },
  "a quiet endpoint's errors": {
    run: () => search({ endpointIds: [quiet], error: "dns" }),
    finds: 0,
    reads: 4,
  },
  "a rare event type": { run: () => search({ eventType: "invoice.rare" }), finds: 0, reads: 5200 },
  "a rare event type of one endpoint": {
    run: () => search({ endpointIds: [busy], eventType: "invoice.rare" }),
    finds: 0,
    reads: 5200,
  },
  "text that nothing has": { run: () => search({ text: "nowhere" }), finds: 0, reads: 5200 * PER_ROW },
};

describe("a read that was planned on empty tables", () => {
  for (const [name, { run, finds, reads }] of Object.entries(READS)) {
    it(`reads no more rows than it must: ${name}`, async (test) => {
      const found: Delivery[] = [];
      const count = await counter.count(async () => found.push(...(await run()).listed));
      test.diagnostic(`${count} rows read`);
      assert.equal(found.length, finds);
      // Some rows more where each day's first is looked at to know which is the newest.
      assert.ok(count <= reads + 4 * DAYS, `${count} rows`);
    });
  }

  for (const [name, { run, finds, reads }] of Object.entries(EVENT_READS)) {
    it(`reads no more rows than it must: ${name}`, async (test) => {
      let found = 0;
      const count = await counter.count(async () => (found = (await run()).events.length));
      test.diagnostic(`${count} rows read`);
      assert.equal(found, finds);
      assert.ok(count <= reads + 4 * DAYS, `${count} rows`);
    });
  }

  for (const [name, { run, finds, reads }] of Object.entries(CANDIDATE_READS)) {
    it(`reads no more rows than it must: ${name}`, async (test) => {
      let found = 0;
      const count = await counter.count(async () => (found = await run()));
      test.diagnostic(`${count} rows read`);
      assert.equal(found, finds);
      assert.ok(count <= reads + 4 * DAYS, `${count} rows`);
    });
  }

  it("reads no more rows than it must: an event, and a delivery by its id", async (test) => {
    const { events } = await eventLog.list(acme, {}, 1);
    const newest = events[0]?.id ?? null;
    const shown = await counter.count(async () => {
      assert.equal((await eventLog.get(acme, newest)).endpoints.length, 1);
    });
    const { listed } = await search({}, 1);
    const byId = await counter.count(() => log.getById(acme, listed[0]?.id ?? null));
    test.diagnostic(`${shown} and ${byId} rows read`);
    assert.ok(shown <= 30 && byId <= 20, `${shown} and ${byId} rows`);
  });

  it("reads no more rows than it must: bodies that a page left out", async (test) => {
    const { listed } = await list(busy);
    const count = await counter.count(async () => assert.equal((await bodiesOf(listed)).size, LIMIT));
    test.diagnostic(`${count} rows read`);
    assert.ok(count <= LIMIT * PER_ROW + 4 * DAYS, `${count} rows`);
  });

  it("finds, over some requests, what lies beyond the bound of one", async () => {
    let before: string | undefined;
    const found: string[] = [];
    for (let request = 1; ; request++) {
      const times = before === undefined ? {} : { before: idOf(before) };
      const filter = { eventType: "invoice.rare", times };
      const { listed, next } = await log.search(acme, filter, {
        offset: 0n,
        limit: LIMIT,
        withBodies: false,
      });
      found.push(...listed.map(({ eventType }) => eventType));
      if (next === null) {
        assert.ok(request >= 4 && request <= 6, `${request} requests`);
        break;
      }
      before = next;
    }
    assert.deepEqual(found, ["invoice.rare"]);
  });
});

describe("an export's read that was planned on empty tables", () => {
  it("counts a range by reading its rows three times", async (test) => {
    const counted = await counter.count(() => exporting.count(), { parts: true });
    test.diagnostic(`${counted} rows read`);
    assert.equal(await exporting.count(), OF_ACME);
    assert.ok(counted <= 4 * OF_ACME, `${counted} rows`);
  });

  it("reads a page by its rows", async (test) => {
    const counted = await counter.count(() => exporting.page(), { parts: true });
    test.diagnostic(`${counted} rows read`);
    assert.equal((await exporting.page()).rows.length, EXPORT_PAGE);
    assert.ok(counted <= 8 * EXPORT_PAGE, `${counted} rows`);
  });
});

function idOf(text: string): DeliveryId {
  const id = parseDeliveryId(text);
  assert.ok(id !== null);
  return id;
}
