/** The log as an export reads it, slice by slice; what a slice costs is in test/log-reads.test.ts. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { seedDeliveries } from "../../../test/support/exports.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { idAt, lowestIdAt, newEndpointId, newEventId, parseEndpointId } from "../../shared/id.ts";
import { countLog } from "./count-log.ts";
import { countLogSlice, readLogPage, type LogRange } from "./export-log-store.ts";
import type { LogPosition } from "./log-export.ts";

const ACME = tenant("acme");
const AT = Date.now() - 600_000;
const PAGE = { after: null, limit: 100, maxBodyBytes: 1_000_000 };
const RANGE: LogRange = {
  tenantId: ACME,
  from: new Date(AT),
  to: new Date(AT + 1),
  endpointId: null,
  eventType: null,
  deliveryStatus: null,
};
const RARE = { ...RANGE, eventType: "rare.thing" };

let database: TestDatabase;
/** In the order of the log: four plain ones and a rare one, then the same again, of another endpoint but no later. */
let ids: string[];
const ENDPOINTS = [newEndpointId(), newEndpointId()].toSorted();
before(async () => {
  database = await createTestDatabase();
  // The first id of the range itself is within it, and that of its end is not.
  const times = [lowestIdAt(AT), ...Array.from({ length: 9 }, () => idAt(AT)).toSorted()];
  const rows = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9].map((time, index) => ({
    id: times[time] ?? "",
    endpoint_id: ENDPOINTS[index < 5 ? 0 : 1] ?? "",
    event_type: index % 5 === 4 ? "rare.thing" : "invoice.paid",
    request_body: "x".repeat(100),
  }));
  ids = (await seedDeliveries(database.pool, ACME, rows)).map(({ id }) => id);
  const event_type = "rare.thing";
  await seedDeliveries(database.pool, "globex", [{ event_type, id: idAt(AT) }]);
  for (const id of [idAt(AT - 1), lowestIdAt(AT + 1)])
    await seedDeliveries(database.pool, ACME, [{ event_type, id }]);
});
after(() => database.drop());

const read = (range: LogRange, page: Partial<Parameters<typeof readLogPage>[2]> = {}) =>
  readLogPage(database.pool, range, { ...PAGE, ...page });
const count = (range: LogRange, limit: number, behind: LogPosition | null = null) =>
  countLogSlice(database.pool, range, { after: behind, limit });

/** Which of the rows, by their places. */
async function places(...asked: Parameters<typeof read>): Promise<{ rows: number[]; after: number | null }> {
  const { rows, after: last } = await read(...asked);
  return {
    rows: rows.map(({ id }) => ids.indexOf(id)),
    after: last === null ? null : ids.indexOf(last.deliveryId),
  };
}

describe("a page of the log", () => {
  it("ends with the last row that was looked at, and behind it is nothing", async () => {
    assert.deepEqual(await places(RANGE), { rows: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], after: 9 });
    assert.deepEqual(await places(RANGE, { limit: 3 }), { rows: [0, 1, 2], after: 2 });
    const { after: last } = await read(RANGE);
    assert.deepEqual(await places(RANGE, { after: last }), { rows: [], after: null });
  });

  it("of a range that is narrowed looks at many rows for the few that fit", async () => {
    assert.deepEqual(await places(RARE), { rows: [4, 9], after: 9 });
    assert.deepEqual(await places(RARE, { limit: 1 }), { rows: [4], after: 4 });
    const { after: last } = await read(RARE, { limit: 1 });
    assert.deepEqual(await places(RARE, { limit: 1, after: last }), { rows: [9], after: 9 });
    const often = { ...RANGE, eventType: "invoice.paid" };
    assert.deepEqual(await places(often, { limit: 2 }), { rows: [0, 1], after: 1 });
    assert.deepEqual(await places(often), {
      rows: [0, 1, 2, 3, 5, 6, 7, 8],
      after: 9,
    });
    assert.deepEqual(await places({ ...RANGE, eventType: "none" }), { rows: [], after: 9 });
  });

  it("of one status has none of another", async () => {
    await database.pool.query("UPDATE postern.deliveries SET status = 'failed' WHERE id = $1", [ids[2]]);
    assert.deepEqual((await places({ ...RANGE, deliveryStatus: "failed" })).rows, [2]);
    assert.deepEqual((await places({ ...RANGE, deliveryStatus: "test" })).rows, [0, 1, 3, 4, 5, 6, 7, 8, 9]);
    await database.pool.query("UPDATE postern.deliveries SET status = 'test' WHERE id = $1", [ids[2]]);
  });

  it("has as many bodies as fit, and one that does not alone", async () => {
    assert.deepEqual(await places(RANGE, { maxBodyBytes: 300 }), { rows: [0, 1, 2], after: 2 });
    assert.deepEqual(await places(RANGE, { maxBodyBytes: 299 }), { rows: [0, 1], after: 1 });
    assert.deepEqual(await places(RANGE, { maxBodyBytes: 1 }), { rows: [0], after: 0 });
    assert.deepEqual(await places(RARE, { maxBodyBytes: 100 }), { rows: [4], after: 4 });
  });

  it("has the body of its tenant's own event where the log has none", async () => {
    const [eventId, id] = [newEventId(), ids[3]];
    await database.pool.query(
      `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT 'acme', id, 'invoice.paid', id::text, 1 FROM unnest($1::uuid[]) AS id`,
      [[newEventId(), eventId, newEventId()]],
    );
    const log = (body: string | null) =>
      database.pool.query(
        `UPDATE postern.deliveries SET request_body = $3, event_id = $2, test_id = NULL, trigger = 'event' WHERE id = $1`,
        [id, eventId, body],
      );
    const [plain] = (await read(RANGE)).rows;
    const bodies = async () => (await read(RANGE)).rows.map(({ request_body: body }) => body);
    const expected = (body: string | null) => ids.map((of) => (of === id ? body : plain?.request_body));
    await log(null);
    assert.deepEqual(await bodies(), expected(eventId));
    await database.pool.query("UPDATE postern.events SET tenant_id = 'globex' WHERE id = $1", [eventId]);
    assert.deepEqual(await bodies(), expected(null));
    await log(plain?.request_body ?? "");
  });

  it("gives no column of its statement but a row's", async () => {
    const { rows } = await read(RANGE, { limit: 1 });
    const { id, request_headers: headers, header_set: set, header_values: values } = Object(rows[0]);
    assert.deepEqual([id, headers, set, values], [ids[0], {}, null, null]);
  });
});

describe("an endpoint's part of the log", () => {
  it("is that endpoint's alone", async () => {
    const range = { ...RANGE, endpointId: parseEndpointId(ENDPOINTS[1]) };
    assert.deepEqual(await places(range), { rows: [5, 6, 7, 8, 9], after: 9 });
    assert.equal((await count(range, 10)).count, 5);
  });
});

const at = (place: number) => ({ endpointId: ENDPOINTS[place < 5 ? 0 : 1], deliveryId: ids[place] });

describe("a count of the log", () => {
  it("says where it has come to, and nothing at the end", async () => {
    assert.deepEqual(await count(RANGE, 10), { count: 10, last: at(9) });
    assert.deepEqual(await count(RANGE, 11), { count: 10, last: null });
    assert.deepEqual(await count(RARE, 5), { count: 1, last: at(4) });
    const { last } = await count(RANGE, 10);
    assert.deepEqual(await count(RANGE, 10, last), { count: 0, last: null });
  });

  it("is left when that is asked for, for the reason given", async () => {
    const reason = new Error("enough");
    await assert.rejects(
      countLog(database.pool, RANGE, { limit: 9, signal: AbortSignal.abort(reason) }),
      reason,
    );
    const { signal } = new AbortController();
    assert.equal(await countLog(database.pool, RANGE, { limit: 9, signal }), 10);
    // A slice that ends at the limit says nothing of what is behind it.
    assert.equal(await countLog(database.pool, RANGE, { limit: 9, signal, sliceRows: 3 }), 10);
  });

  it("has no day for a range that ends where it begins", async () => {
    const { signal } = new AbortController();
    assert.equal(await countLog(database.pool, { ...RANGE, to: RANGE.from }, { limit: 9, signal }), 0);
  });
});
