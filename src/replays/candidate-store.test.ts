/** Which events a page of a replay has, and what it says of each; as the owner of the tables, whom row-level security does not bind, so that each statement itself keeps to its tenant. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import {
  idAt,
  lowestIdAt,
  newDeliveryId,
  newEndpointId,
  newEventId,
  parseEventId,
  type EventId,
} from "../shared/id.ts";
import { CLOCKS_APART_MS, groupAccepted, readCandidates } from "./candidate-store.ts";
import { groupFailures, sliceFailures } from "./failure-store.ts";
import type { Candidate } from "./replay.ts";

const ACME = tenant("acme");
const endpointId = newEndpointId();
const NOW = Date.now();
const FIRST = eventAt(0);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  for (const table of ["events", "deliveries", "dispatches", "person_sends"])
    await sql(`DELETE FROM postern.${table}`);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** An id of an event of the last minute, so many milliseconds behind its beginning. */
function eventAt(ms: number): EventId {
  const id = parseEventId(idAt(NOW - 60_000 + ms));
  assert.ok(id !== null);
  return id;
}

/** Three events, oldest first. */
const EVENTS = [eventAt(10), eventAt(20), eventAt(30)] as const;

async function accept(
  ids: readonly string[],
  { of = "acme", version = null, versions = null }: Accepted = {},
) {
  await sql(
    `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count, version, versions)
      SELECT $1, id, 'invoice.paid', '{}', 1, $3, $4 FROM unnest($2::uuid[]) AS id`,
    [of, ids, version, versions],
  );
}
type Accepted = { of?: string; version?: number | null; versions?: string | null };

type Attempt = {
  of?: string;
  endpoint?: string;
  id?: string;
  status?: "failed" | "delivered";
  attempt?: number;
  version?: number | null;
  error?: string | null;
  responseStatus?: number | null;
};

async function attempt(event: string, given: Attempt = {}): Promise<void> {
  const { of = "acme", endpoint = endpointId, id = newDeliveryId(), status = "failed" } = given;
  const { attempt: number = 1, version = null, error = null, responseStatus = 500 } = given;
  await sql(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms, version, error, response_status)
      VALUES ($1, $2, $3, $4, 'invoice.paid', 'event', $5, $6, '{}', 1, $7, $8, $9)`,
    [of, endpoint, id, event, status, number, version, error, responseStatus],
  );
}

type Place = { of?: string; endpoint?: string; isSuperseded?: boolean };

/** One more attempt that an endpoint is to get. */
async function dispatch(
  event: string | undefined,
  { of = "acme", endpoint = endpointId, isSuperseded = false }: Place,
) {
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at,
        superseded)
      VALUES ($1, $2, postern.uuid_v7(), $3, 'invoice.paid', 2, now(), now(), $4)`,
    [of, endpoint, event, isSuperseded],
  );
}

/** The same, by a person who waits for it; null: a test, of no event. */
async function send(event: string | null | undefined, { of = "acme", endpoint = endpointId }: Place) {
  await sql(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, event_id, test_id, event_type, trigger, attempt,
        request_headers, delivery_label)
      SELECT $1, $2, postern.uuid_v7(), $3, CASE WHEN $3::uuid IS NULL THEN gen_random_uuid() END, 'invoice.paid',
        CASE WHEN $3::uuid IS NULL THEN 'test' ELSE 'retry' END, 2, '{}', 'label'`,
    [of, endpoint, event],
  );
}

/** The least id of a time, as no event is given it by chance. */
function leastAt(ms: number): EventId {
  const id = parseEventId(lowestIdAt(NOW - 60_000 + ms));
  assert.ok(id !== null);
  return id;
}

const FILTER = { tenantId: ACME, endpointId, to: new Date(NOW + 60_000) };

async function read(selection: "failed" | "all", { after: start = FIRST, most = 100, to = FILTER.to } = {}) {
  return readCandidates(database.pool, { ...FILTER, to, selection }, { after: start, most });
}
const idsOf = ({ candidates }: { candidates: Candidate[] }) => candidates.map(({ eventId }) => eventId);

const failure = { status: "failed", attempt: 1, version: 1, error: null, responseStatus: 500 } as const;
const event = { type: "invoice.paid", newest: 1, versions: [1] };

describe("a page of events that failed", () => {
  it("has those of the endpoint that failed there, once each and in their order", async () => {
    await accept(EVENTS);
    for (const id of [EVENTS[2], EVENTS[0], EVENTS[0]]) await attempt(id);
    await attempt(EVENTS[1], { endpoint: newEndpointId() });
    await attempt(EVENTS[1], { status: "delivered" });
    const other = eventAt(15);
    await accept([other], { of: "globex" });
    await attempt(other, { of: "globex" });
    assert.deepEqual(idsOf(await read("failed")), [EVENTS[0], EVENTS[2]]);
  });

  it("begins behind the event that is given, ends before the time, and has as many failures as it may", async () => {
    await accept(EVENTS);
    for (const id of EVENTS) await attempt(id);
    assert.deepEqual(idsOf(await read("failed", { after: EVENTS[0] })), EVENTS.slice(1));
    const to = new Date(NOW - 60_000 + 30);
    const end = leastAt(40);
    await accept([end]);
    await attempt(end);
    for (const selection of ["failed", "all"] as const)
      assert.deepEqual(idsOf(await read(selection, { to: new Date(NOW - 60_000 + 40) })), EVENTS);
    await sql("DELETE FROM postern.deliveries WHERE event_id = $1", [end]);
    assert.deepEqual(idsOf(await read("failed", { to })), EVENTS.slice(0, 2));
    assert.deepEqual(idsOf(await read("failed", { to: new Date(to.getTime() + 1) })), EVENTS);
    assert.deepEqual(idsOf(await read("failed", { most: 2 })), EVENTS.slice(0, 2));
    await attempt(EVENTS[0]);
    assert.deepEqual(idsOf(await read("failed", { most: 2 })), EVENTS.slice(0, 1));
  });

  it("is the last where it has none, for its events may have failed more than once", async () => {
    await accept(EVENTS);
    await attempt(EVENTS[0]);
    assert.equal((await read("failed")).isAll, false);
    assert.equal((await read("failed", { after: EVENTS[0] })).isAll, true);
  });

  it("looks for attempts up to an hour before the event and from now", async () => {
    const [old, event] = [eventAt(5), eventAt(CLOCKS_APART_MS)];
    await accept([old, event]);
    for (const [id, made, isFound] of [
      [old, idAt(NOW - 60_000 - CLOCKS_APART_MS + 100), true],
      [old, idAt(NOW - 60_000 - CLOCKS_APART_MS - 100), false],
      [event, idAt(NOW + CLOCKS_APART_MS - 10_000), true],
      [event, idAt(NOW + CLOCKS_APART_MS + 600_000), false],
    ] as const) {
      await sql("DELETE FROM postern.deliveries");
      await attempt(id, { id: made });
      const to = new Date(NOW + 2 * CLOCKS_APART_MS);
      assert.deepEqual(idsOf(await read("failed", { to })), isFound ? [id] : [], made);
      const { candidates } = await read("all", { to });
      const attempted = candidates.filter(({ newest }) => newest !== null).map(({ eventId }) => eventId);
      assert.deepEqual(attempted, isFound ? [id] : [], made);
    }
  });
});

describe("a page of accepted events", () => {
  it("has its tenant's, in their order, behind the event that is given and before the time", async () => {
    await accept([EVENTS[2], EVENTS[0], EVENTS[1]]);
    await accept([eventAt(15)], { of: "globex" });
    assert.deepEqual(idsOf(await read("all")), EVENTS);
    assert.deepEqual(idsOf(await read("all", { after: EVENTS[0] })), EVENTS.slice(1));
    const to = new Date(NOW - 60_000 + 30);
    assert.deepEqual(idsOf(await read("all", { to })), EVENTS.slice(0, 2));
  });

  it("is the last where it is not full", async () => {
    await accept(EVENTS);
    const firstTwo = await read("all", { most: 2 });
    assert.deepEqual([idsOf(firstTwo), firstTwo.isAll], [EVENTS.slice(0, 2), false]);
    assert.equal((await read("all", { most: 3 })).isAll, false);
    assert.equal((await read("all", { most: 4 })).isAll, true);
  });
});

describe("of each event a page says", () => {
  it("its type and versions, and that no attempt was made", async () => {
    const [bare, versioned, several] = EVENTS;
    await accept([bare]);
    await accept([versioned], { version: 2 });
    await accept([several], { version: 3, versions: '{"2":"{}","1":"{}"}' });
    const { candidates } = await read("all");
    const isPending = false;
    assert.deepEqual(candidates, [
      { eventId: bare, event, isPending, newest: null },
      { eventId: versioned, event: { ...event, newest: 2, versions: [2] }, isPending, newest: null },
      { eventId: several, event: { ...event, newest: 3, versions: [3, 2, 1] }, isPending, newest: null },
    ]);
  });

  it("nothing of an event that is gone, or another tenant's", async () => {
    await attempt(EVENTS[0]);
    await accept([EVENTS[1]], { of: "globex" });
    await attempt(EVENTS[1]);
    const gone = { event: null, isPending: false, newest: failure };
    assert.deepEqual((await read("failed")).candidates, [
      { ...gone, eventId: EVENTS[0] },
      { ...gone, eventId: EVENTS[1] },
    ]);
  });

  it("the newest attempt at this endpoint, by its id", async () => {
    await accept(EVENTS);
    const [first, second, third] = [newDeliveryId(), newDeliveryId(), newDeliveryId()];
    await attempt(EVENTS[0], { id: second, attempt: 2, version: 2, error: "timeout", responseStatus: null });
    await attempt(EVENTS[0], { id: first });
    await attempt(EVENTS[0], { id: third, endpoint: newEndpointId(), status: "delivered" });
    await attempt(EVENTS[0], { id: newDeliveryId(), of: "globex", status: "delivered" });
    await attempt(EVENTS[1], { id: newDeliveryId(), status: "delivered", responseStatus: 204 });
    const { candidates } = await read("all");
    assert.deepEqual(
      candidates.map(({ newest }) => newest),
      [
        { status: "failed", attempt: 2, version: 2, error: "timeout", responseStatus: null },
        { status: "delivered", attempt: 1, version: 1, error: null, responseStatus: 204 },
        null,
      ],
    );
  });

  it("whether it is pending there: dispatched and not superseded, or sent by a person", async () => {
    const ids = Array.from({ length: 7 }, (_, place) => eventAt(place + 1));
    await accept(ids);
    const [queued, sent, superseded, elsewhere, others, sentElsewhere, sentByOthers] = ids;
    for (const [id, of, endpoint, isSuperseded] of [
      [queued, "acme", endpointId, false],
      [superseded, "acme", endpointId, true],
      [elsewhere, "acme", newEndpointId(), false],
      [others, "globex", endpointId, false],
    ] as const) {
      await dispatch(id, { of, endpoint, isSuperseded });
    }
    for (const [id, of, endpoint] of [
      [sent, "acme", endpointId],
      [sentElsewhere, "acme", newEndpointId()],
      [sentByOthers, "globex", endpointId],
      // A test's event is none of the log's.
      [null, "acme", endpointId],
    ] as const) {
      await send(id, { of, endpoint });
    }
    const { candidates } = await read("all");
    assert.deepEqual(
      candidates.map(({ eventId, isPending }) => [eventId, isPending]),
      ids.map((id) => [id, id === queued || id === sent]),
    );
  });
});

const group = async (most: number) =>
  groupAccepted(database.pool, { ...FILTER, selection: "all" }, { after: FIRST, most });

describe("accepted events, counted", () => {
  it("are one group where they are alike, with its first and last", async () => {
    const ids = Array.from({ length: 6 }, (_, place) => eventAt(place + 1));
    await accept(ids.slice(0, 4));
    await accept(ids.slice(4), { version: 2, versions: '{"1":"{}"}' });
    const [, failed, timedOut] = ids;
    await attempt(failed ?? "");
    await attempt(timedOut ?? "", { error: "timeout", responseStatus: null });
    const { groups, isAll } = await group(100);
    const byFirst = groups.toSorted((one, other) => (one.first < other.first ? -1 : 1));
    const [isPending, newest] = [false, null];
    assert.deepEqual(byFirst, [
      { isPending, event, newest, count: 2, first: ids[0], last: ids[3] },
      {
        isPending,
        event,
        newest: { status: "failed", error: null, responseStatus: 500 },
        count: 1,
        first: failed,
        last: failed,
      },
      {
        isPending,
        event,
        newest: { status: "failed", error: "timeout", responseStatus: null },
        count: 1,
        first: timedOut,
        last: timedOut,
      },
      {
        isPending,
        event: { ...event, newest: 2, versions: [2, 1] },
        newest,
        count: 2,
        first: ids[4],
        last: ids[5],
      },
    ]);
    assert.equal(isAll, true);
  });

  it("may have others behind them where the page is full", async () => {
    await accept(EVENTS);
    assert.equal((await group(3)).isAll, false);
    assert.equal((await group(4)).isAll, true);
    assert.deepEqual(
      (await group(2)).groups.map(({ count, last }) => [count, last]),
      [[2, EVENTS[1]]],
    );
  });

  it("are those of nobody where the tenant has none", async () => {
    await accept([newEventId()], { of: "globex" });
    assert.deepEqual(await group(3), { groups: [], isAll: true });
  });
});

/** Those that count are EVENTS; the others have something of theirs. */
async function seed(): Promise<void> {
  const [elsewhere, others, delivered, late] = [eventAt(12), eventAt(14), eventAt(16), eventAt(50)];
  await accept([...EVENTS, FIRST, elsewhere, others, delivered, late, leastAt(40)]);
  for (const id of [...EVENTS, FIRST, late, leastAt(40)]) await attempt(id);
  await attempt(elsewhere, { endpoint: newEndpointId() });
  await attempt(others, { of: "globex" });
  await attempt(delivered, { status: "delivered" });
}

describe("failed events, counted in slices", () => {
  const to = new Date(NOW - 60_000 + 40);

  it("are cut where so many of the endpoint's own failed, behind the event that is given and before the time", async () => {
    await seed();
    const cut = async (size: number, most: number) =>
      sliceFailures(database.pool, { ...FILTER, to }, { after: FIRST, size, most });
    const [first, second, third] = EVENTS;
    const slice = { after: FIRST, upTo: second };
    assert.deepEqual(await cut(2, 10), { slices: [slice, { after: second, upTo: third }], isAll: true });
    assert.deepEqual(await cut(2, 2), { slices: [slice], isAll: false });
    assert.deepEqual((await cut(1, 10)).slices[0], { after: FIRST, upTo: first });
  });

  it("count by their newest attempt there and as pending there, each tenant's for itself", async () => {
    await seed();
    const [first, second, third] = EVENTS;
    const old = eventAt(18);
    await accept([old]);
    await attempt(old, { id: idAt(NOW - 60_000 - CLOCKS_APART_MS - 100) });
    await attempt(first, { id: idAt(NOW + CLOCKS_APART_MS + 600_000), status: "delivered" });
    await attempt(first, { of: "globex", status: "delivered" });
    await attempt(second, { endpoint: newEndpointId(), status: "delivered" });
    await dispatch(first, { of: "globex" });
    await send(second, { of: "globex" });
    const filter = { tenantId: ACME, endpointId };
    const { attempt: _, version: _version, ...newest } = failure;
    const group = { event, isPending: false, newest, count: 2, first, last: second };
    const slice = { after: FIRST, upTo: second };
    assert.deepEqual(await groupFailures(database.pool, filter, slice), [group]);
    await dispatch(third, {});
    assert.deepEqual(await groupFailures(database.pool, filter, { after: second, upTo: third }), [
      { ...group, isPending: true, count: 1, first: third, last: third },
    ]);
  });
});
