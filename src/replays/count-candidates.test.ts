/** Counting what a replay would send, page by page, up to a limit. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { seedEvents } from "../../test/support/replays.ts";
import { openTenantPool, type OpenedTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { QueryResultRow } from "pg";
import type { Db } from "../database/pool.ts";
import { idTimeMs, newEndpointId } from "../shared/id.ts";
import { countCandidates, startOf } from "./count-candidates.ts";
import type { ReplayFilter } from "./replay.ts";

const ACME = tenant("acme");
const endpointId = newEndpointId();

let database: TestDatabase;
let tenants: OpenedTenantPool;
/** Five that failed, the third of them twice, then two that were missed. */
let events: string[];
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 4);
  const failed = await seedEvents(database.pool, { endpoint: endpointId, count: 5 });
  await database.pool.query(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms, error)
      VALUES ('acme', $1, postern.uuid_v7(), $2, 'invoice.paid', 'event', 'failed', 2, '{}', 1, 'timeout')`,
    [endpointId, failed[2]],
  );
  const missed = await seedEvents(database.pool, { endpoint: null, count: 2, minutesAgo: 20 });
  events = [...failed, ...missed];
});
after(async () => {
  await tenants.end();
  await database.drop();
});

const count = (given: Partial<ReplayFilter>, limits?: { page: number; most: number }) => {
  const range = { from: new Date(Date.now() - 3_600_000), to: new Date() };
  const filter = {
    tenantId: ACME,
    endpointId,
    ...range,
    selection: "all",
    eventType: null,
    cause: null,
  } as const;
  return countCandidates(tenants.reading(ACME), { ...filter, ...given }, ["invoice.*"], limits);
};

const timeOf = (place: number) => new Date(idTimeMs(events[place] ?? ""));
const ofAll = () => ({
  count: 7,
  isCapped: false,
  oldest: timeOf(0),
  newest: timeOf(6),
  byCause: new Map([
    ["http_500", 4],
    ["timeout", 1],
  ]),
});

describe("a count of what a replay would send", () => {
  it("says how many, from when until when, and why they failed", async () => {
    assert.deepEqual(await count({}), ofAll());
    const failed = await count({ selection: "failed" });
    assert.deepEqual(failed, { ...ofAll(), count: 5, newest: timeOf(4) });
    const missed = await count({ selection: "missed" });
    assert.deepEqual(missed, { ...ofAll(), count: 2, oldest: timeOf(5), byCause: new Map() });
  });

  it("is the same however few a page has", async () => {
    for (const page of [1, 2, 3, 7]) {
      assert.deepEqual(await count({}, { page, most: 1000 }), ofAll(), `${page}`);
      const failed = await count({ selection: "failed" }, { page, most: 1000 });
      assert.deepEqual([failed.count, failed.isCapped], [5, false], `${page}`);
    }
  });

  it("ends where enough was looked at, and says that there may be more", async () => {
    for (const [page, most, counted] of [
      [2, 4, 4],
      [2, 3, 4],
      [7, 7, 7],
    ] as const) {
      const { count: found, isCapped, newest } = await count({}, { page, most });
      assert.deepEqual([found, isCapped, newest], [counted, true, timeOf(counted - 1)]);
    }
    // The third event has two of the first four failures.
    const failed = await count({ selection: "failed" }, { page: 3, most: 4 });
    assert.deepEqual([failed.count, failed.isCapped, failed.newest], [3, true, timeOf(2)]);
  });

  it("of nothing has no times", async () => {
    const nothing = { count: 0, isCapped: false, oldest: null, newest: null, byCause: new Map() };
    for (const selection of ["failed", "missed", "all"] as const)
      assert.deepEqual(await count({ selection, eventType: "customer.*" }), nothing);
  });

  it("looks at 100,000 events by pages of 5000", async () => {
    let asked = 0;
    // A full page each time: a hundred thousand events would take seconds.
    const db: Db = {
      query: <Row extends QueryResultRow>() => {
        assert.ok(++asked <= 20);
        return database.pool.query<Row>(
          `SELECT false AS "isPending", 'invoice.paid' AS "eventType", 1 AS "eventVersion", 5000 AS count,
              $1::uuid AS first, $1::uuid AS last`,
          [events[0]],
        );
      },
    };
    const filter = {
      tenantId: ACME,
      endpointId,
      from: new Date(0),
      to: new Date(),
      selection: "all",
    } as const;
    const counted = await countCandidates(db, { ...filter, eventType: null, cause: null }, ["*"]);
    assert.deepEqual([asked, counted.count, counted.isCapped], [20, 100_000, true]);
  });
});

it("a range begins with the first event of its first millisecond", () => {
  const from = new Date("2026-03-01T00:00:00.123Z");
  assert.equal(idTimeMs(startOf({ from })), from.getTime());
  assert.match(startOf({ from }), /-0000-0000-000000000000$/);
});
