/** What the log asks for, which rows that come are among it, and the export of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  changeFor,
  exportOf,
  hasFilter,
  isWanted,
  NO_FILTER,
  parseLogSearch,
  queryOf,
  spanOf,
} from "../src/pages/log/log-search.ts";

const NOW = new Date("2026-11-27T12:00:00.000Z");
const FROM = "2026-11-01T08:00:30.000Z";
const TO = "2026-11-02T08:00:30.000Z";

const exportAt = (search: Parameters<typeof exportOf>[0]) => exportOf(search, spanOf(search, NOW));

/** Without what is not set. */
const filters = (one: object) =>
  Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined));

describe("the time that the log shows", () => {
  it("is the last 24 hours, or those that are chosen, up to now and on", () => {
    assert.deepEqual(spanOf({}, NOW), { from: new Date("2026-11-26T12:00:00.000Z"), to: null });
    assert.deepEqual(spanOf({ range: "1h" }, NOW), { from: new Date("2026-11-27T11:00:00.000Z"), to: null });
    assert.deepEqual(spanOf({ range: "30d" }, NOW).from, new Date("2026-10-28T12:00:00.000Z"));
  });

  it("is one's own, with an end or without", () => {
    assert.deepEqual(spanOf({ from: FROM, to: TO, range: "7d" }, NOW), {
      from: new Date(FROM),
      to: new Date(TO),
    });
    assert.deepEqual(spanOf({ from: FROM }, NOW), { from: new Date(FROM), to: null });
  });
});

describe("the log", () => {
  it("asks for what its URL says, and a cause is a status or an error", () => {
    const search = {
      endpoint: "e1",
      status: "failed",
      type: "a.b",
      cause: "http_5xx",
      event: "e2",
      q: "7",
    } as const;
    const common = {
      endpoint_id: "e1",
      status: "failed",
      event_type: "a.b",
      event_id: "e2",
      q: "7",
      from: FROM,
    };
    const span = spanOf({ from: FROM }, NOW);
    assert.deepEqual(queryOf(search, span), { ...common, response_status: "5xx" });
    assert.deepEqual(queryOf({ ...search, cause: "timeout" }, spanOf({ from: FROM, to: TO }, NOW)), {
      ...common,
      error: "timeout",
      to: TO,
    });
    assert.deepEqual(queryOf({}, span), { from: FROM });
  });

  it("keeps its time where its filters are taken away, and the open delivery", () => {
    const all = { endpoint: "e1", status: "failed", type: "a.b", cause: "dns", event: "v1", q: "7" };
    const rest = { range: "7d", from: FROM, to: TO, d: "d1" };
    assert.deepEqual(filters(parseLogSearch({ ...all, ...rest, ...NO_FILTER })), rest);
  });

  it("is filtered by all but its time and endpoint", () => {
    for (const name of ["status", "type", "cause", "event", "q"])
      assert.ok(hasFilter(parseLogSearch({ [name]: "failed" })), name);
    assert.equal(hasFilter({ endpoint: "e1", range: "7d", from: FROM, to: TO, d: "d1" }), false);
  });
});

describe("an id that is looked for", () => {
  const search = { q: "text", event: "v0", endpoint: "e0", range: "1h" } as const;
  const found = (id: string, ...kinds: string[]) =>
    parseLogSearch({
      ...search,
      ...changeFor(
        id,
        kinds.map((kind) => ({ kind })),
        spanOf(search, NOW),
        NOW,
      ),
    });
  it("opens the delivery that it is of, and filters by the endpoint or the event, in place of what was looked for before", () => {
    assert.deepEqual(filters(found("d1", "delivery")), { ...search, d: "d1" });
    assert.deepEqual(filters(found("e1", "endpoint")), { endpoint: "e1", range: "1h" });
    assert.deepEqual(filters(found("v1", "event")), { endpoint: "e0", event: "v1", range: "1h" });
    assert.deepEqual(filters(found("v1")), { endpoint: "e0", event: "v1", range: "1h" });
  });

  it("widens the time to one that has the event", () => {
    const time = Date.parse("2026-11-20T12:00:00.000Z").toString(16).padStart(12, "0");
    const event = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
    const { from, to, range } = found(event, "event");
    assert.deepEqual({ from, to, range }, { from: undefined, to: undefined, range: "30d" });
  });
});

describe("a delivery that comes", () => {
  const row = {
    endpoint_id: "e1",
    status: "failed",
    event_type: "invoice.paid",
    event_version: 2,
    event_id: "v1",
    error: null,
    response_status: 503,
  };

  it("is wanted where it fits all that is asked for", () => {
    assert.ok(isWanted(row, {}));
    for (const [fits, other] of [
      [{ endpoint: "e1" }, { endpoint: "e2" }],
      [{ status: "failed" }, { status: "delivered" }],
      [{ event: "v1" }, { event: "v2" }],
      [{ type: "invoice.paid" }, { type: "invoice" }],
      [{ type: "invoice.paid@2" }, { type: "invoice.paid@1" }],
      [{ type: "invoice.*" }, { type: "inv.*" }],
      [{ cause: "http_503" }, { cause: "http_50" }],
      [{ cause: "http_5xx" }, { cause: "http_4xx" }],
      [{}, { cause: "timeout" }],
      [{}, { cause: "http_none" }],
    ] as const) {
      assert.ok(isWanted(row, fits), JSON.stringify(fits));
      assert.ok(!isWanted(row, other), JSON.stringify(other));
    }
    assert.ok(!isWanted(row, { endpoint: "e1", status: "delivered" }));
  });

  it("that was not answered has its error, and no status", () => {
    const timeout = { ...row, error: "timeout", response_status: null };
    assert.ok(isWanted(timeout, { cause: "timeout" }));
    assert.ok(isWanted(timeout, { cause: "http_none" }));
    for (const cause of ["http_nxx", "http_5xx", "dns"]) assert.ok(!isWanted(timeout, { cause }), cause);
  });

  it("is not offered to who searches a text, which the service alone does", () => {
    assert.ok(!isWanted(row, { q: "paid" }));
  });
});

describe("the export of what the log shows", () => {
  it("is of the same days", () => {
    assert.deepEqual(exportAt({}), { open: "new", range: "24h" });
    assert.deepEqual(exportAt({ range: "30d" }), { open: "new", range: "30d" });
    // An export knows no hour.
    assert.deepEqual(exportAt({ range: "1h" }), { open: "new", from: "2026-11-27T11:00:00.000Z" });
  });

  it("is of the same time of one's own, with an end or without", () => {
    assert.deepEqual(exportAt({ from: FROM, to: TO }), { open: "new", from: FROM, to: TO });
    assert.deepEqual(exportAt({ from: FROM }), { open: "new", from: FROM });
  });

  it("is narrowed as far as an export can be: what waits is in none", () => {
    const narrowed = { endpoint: "e1", type: "a.*" };
    const search = { ...narrowed, cause: "timeout", event: "v1", q: "7" };
    const expected = { open: "new", ...narrowed, range: "24h" };
    assert.deepEqual(exportAt({ ...search, status: "pending" }), expected);
    assert.deepEqual(exportAt({ ...search, status: "test" }), { ...expected, status: "test" });
    assert.deepEqual(exportAt({ type: "a.b@2" }), { open: "new", type: "a.b", range: "24h" });
  });
});
