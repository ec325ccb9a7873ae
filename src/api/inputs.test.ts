/** What callers send, as its schema judges and reads it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type * as z from "zod";
import { tenant } from "../../test/support/two-tenants.ts";
import { parseDeliveryId, parseEndpointId, parseEventId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { endpointLogQuery, isSearch, searchFilter, tenantLogQuery } from "./delivery-query.ts";
import { eventsQuery } from "./event-schemas.ts";
import { linkBefore, linkToPage } from "./page-query.ts";
import { parse, parseQuery } from "./parse.ts";
import { codeInput, grantOf } from "./portal-schemas.ts";
import { ackInput, acksOf, leaseInput } from "./pull-schemas.ts";
import { replayInput, replayRequest, replaysQuery } from "./replay-schemas.ts";
import { exportInput, exportsQuery, libraryQuery } from "./storage-schemas.ts";
import { actInput, eraseQuery, tenantsQuery } from "./tenant-schemas.ts";

const ID = "019c1335-1b9c-7a10-8f3e-6a1d2b3c4d5e";
const OTHER_ID = "019c1335-1c12-7e0a-b5ae-1f0d3a5c9b01";

/** The rules that it breaks: where, and what is said of it. */
function faultsOf(schema: z.ZodType, given: unknown): string[] {
  try {
    parseQuery(schema, given);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return (error.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
  }
}

/** A member of a query, alone, as it is read; its faults where it is refused. */
function readsOf(schema: z.ZodObject, name: string, texts: readonly unknown[]): unknown[] {
  return texts.map((text) => {
    const faults = faultsOf(schema, { [name]: text });
    return faults.length > 0 ? faults.join() : Object(parseQuery(schema, { [name]: text }))[name];
  });
}

describe("a number in a query", () => {
  it("is a whole number between its bounds, or its default", () => {
    const read = readsOf(endpointLogQuery, "limit", ["1", "100", "+7", "007", undefined]);
    assert.deepEqual(read, [1, 100, 7, 7, 50]);
    for (const text of ["", "1.5", "1e1", " 1", "1 ", "x1", "1x", "--1"])
      assert.deepEqual(readsOf(endpointLogQuery, "limit", [text]), ["limit: must be a whole number"], text);
    assert.deepEqual(readsOf(endpointLogQuery, "limit", ["0", "-1", "101"]), [
      "limit: Too small: expected number to be >=1",
      "limit: Too small: expected number to be >=1",
      "limit: Too big: expected number to be <=100",
    ]);
    const pages = readsOf(endpointLogQuery, "page", [undefined, "9007199254740991", "0"]);
    assert.deepEqual(pages, [1, 9007199254740991, "page: Too small: expected number to be >=1"]);
  });

  it("has the bounds and the default of its list", () => {
    const lists = [tenantLogQuery, eventsQuery, replaysQuery, exportsQuery, libraryQuery, tenantsQuery];
    for (const list of lists) {
      assert.deepEqual(readsOf(list, "limit", [undefined]), [list === tenantsQuery ? 100 : 50]);
      assert.equal(faultsOf(list, { limit: "0" }).length + faultsOf(list, { limit: "101" }).length, 2);
      assert.deepEqual(readsOf(list, "limit", ["1", "100"]), [1, 100]);
    }
  });
});

describe("a place in a list", () => {
  it("is an id, in lower case, or absent", () => {
    assert.deepEqual(readsOf(eventsQuery, "before", [ID, undefined]), [ID, undefined]);
    for (const text of ["", "x", `${ID}0`])
      assert.deepEqual(readsOf(eventsQuery, "before", [text]), ["before: must be an event id"]);
    assert.deepEqual(readsOf(replaysQuery, "before", ["x"]), ["before: must be a replay id"]);
    assert.deepEqual(readsOf(exportsQuery, "before", ["x"]), ["before: must be an export's id"]);
    for (const name of ["before", "after"])
      assert.deepEqual(readsOf(tenantLogQuery, name, ["x"]), [`${name}: must be a delivery id`]);
  });

  it("of the library is a time and an id", () => {
    const at = "2026-01-31T00:00:00.000Z";
    assert.deepEqual(readsOf(libraryQuery, "after", [`${at}_${ID}`]), [{ available_at: at, id: ID }]);
    for (const text of ["", "_", at, ID, `${at}_`, `_${ID}`, `${at}_${ID}_`, `\n${at}_${ID}`, `${at}-${ID}`])
      assert.deepEqual(readsOf(libraryQuery, "after", [text]), ["after: must be the next of a page"], text);
  });

  it("of tenants is a part of an id", () => {
    for (const name of ["prefix", "after"]) {
      const longest = "aZ09_-".repeat(11).slice(0, 64);
      assert.deepEqual(readsOf(tenantsQuery, name, [longest, "", undefined]), [longest, "", ""]);
      for (const text of [`${longest}a`, "a.b", "a\n", " a"])
        assert.deepEqual(readsOf(tenantsQuery, name, [text]), [`${name}: must be a part of a tenant's id`]);
    }
  });
});

describe("the next page", () => {
  it("is the same list before the last row, without a page number", () => {
    assert.equal(linkBefore("/api/x", ID), `</api/x?before=${ID}>; rel="next"`);
    const url = `/api/x?page=3&q=a%20b&before=${OTHER_ID}&status=failed`;
    assert.equal(linkBefore(url, ID), `</api/x?q=a+b&before=${ID}&status=failed>; rel="next"`);
    assert.equal(linkToPage("/api/x?limit=2", { after: "acme" }), `</api/x?limit=2&after=acme>; rel="next"`);
  });
});

describe("an instant in a query", () => {
  it("is rounded up to whole milliseconds", () => {
    const second = Date.parse("2026-01-31T10:00:00Z");
    for (const [text, expected] of [
      ["2026-01-31T10:00:00Z", second],
      ["2026-01-31T12:00:00+02:00", second],
      ["2026-01-31T10:00:00.5Z", second + 500],
      ["2026-01-31T10:00:00.123Z", second + 123],
      ["2026-01-31T10:00:00.1230000Z", second + 123],
      ["2026-01-31T10:00:00.1230001Z", second + 124],
      ["2026-01-31T10:00:00.1239Z", second + 124],
      ["2026-01-31T10:00:00.999999999Z", second + 1000],
      ["2026-01-31T12:00:00.0005+02:00", second + 1],
      ["2026-01-31T12:00:00.500+02:00", second + 500],
    ] as const)
      assert.deepEqual(readsOf(eventsQuery, "from", [text]), [expected], text);
    for (const text of ["2026-01-31", "2026-01-31T10:00:00", "2026-01-31 10:00", "yesterday", ""])
      assert.deepEqual(
        faultsOf(eventsQuery, { from: text }),
        ["from: must be a date-time with its offset, such as 2026-01-31T10:00:00Z"],
        text,
      );
    assert.deepEqual(faultsOf(eventsQuery, { from: "2026-01-31T10:00:00 02:00" }), [
      "from: has a space where its offset begins: a + in a query is written %2B",
    ]);
  });
});

describe("text in a query", () => {
  it("has as many characters as it may, and no NUL", () => {
    const emoji = "😀".repeat(256);
    assert.deepEqual(readsOf(tenantLogQuery, "q", ["a", emoji]), ["a", emoji]);
    assert.deepEqual(readsOf(tenantLogQuery, "q", [`${emoji}a`, "a\0", ""]), [
      "q: must have at most 256 characters",
      "q: must not contain NUL",
      "q: Too small: expected string to have >=1 characters",
    ]);
  });
});

describe("the filters of a delivery list", () => {
  const endpoints = [parseEndpointId(ID), parseEndpointId(OTHER_ID)];
  const none = { endpointIds: undefined, status: undefined, eventType: undefined, eventId: undefined };
  const open = { ...none, responseStatus: undefined, error: undefined, trigger: undefined, text: undefined };
  const anyTime = { fromMs: undefined, toMs: undefined, before: undefined, after: undefined };

  it("are read into what the log is searched by", () => {
    const query = {
      status: "failed",
      from: "2026-01-31T10:00:00Z",
      to: "2026-01-31T11:00:00Z",
      event_type: "invoice.*",
      event_id: ID,
      response_status: "5xx",
      error: "dns",
      trigger: "retry",
      q: "text",
      before: OTHER_ID,
      after: ID,
    };
    const fromMs = Date.parse(query.from);
    const times = { fromMs, toMs: fromMs + 3_600_000, before: OTHER_ID, after: ID };
    assert.deepEqual(searchFilter(parseQuery(tenantLogQuery, query), [ID, ID, OTHER_ID]), {
      endpointIds: endpoints,
      status: "failed",
      eventType: "invoice.*",
      eventId: parseEventId(ID),
      responseStatus: { from: 500, to: 599 },
      error: "dns",
      trigger: "retry",
      text: "text",
      times: { ...times, before: parseDeliveryId(OTHER_ID), after: parseDeliveryId(ID) },
    });
  });

  it("know a status, a class and none", () => {
    const read = readsOf(tenantLogQuery, "response_status", ["404", "1xx", "none"]);
    assert.deepEqual(read, [{ from: 404, to: 404 }, { from: 100, to: 199 }, "none"]);
    for (const text of ["044", "0xx", "40", "4040", "4x4", "x404", "nonexx", "none ", ""])
      assert.deepEqual(readsOf(tenantLogQuery, "response_status", [text]), [
        "response_status: must be a status as 500, a class as 5xx, or none",
      ]);
  });

  it("find nothing by an id that is none, and all where no endpoint is named", () => {
    const query = parseQuery(tenantLogQuery, {});
    assert.deepEqual(searchFilter(query, undefined), { ...open, times: anyTime });
    assert.deepEqual(searchFilter(query, ["x", ID])?.endpointIds, [endpoints[0]]);
    assert.deepEqual(searchFilter(query, ID)?.endpointIds, [endpoints[0]]);
    assert.equal(searchFilter(query, "x"), null);
    assert.equal(searchFilter({ ...query, event_id: "x" }, undefined), null);
  });

  it("make it a search where the log is not ordered by them", () => {
    const searches = [
      { event_type: "a" },
      { event_id: "a" },
      { response_status: "none" },
      { error: "a" },
      { trigger: "test" },
      { q: "a" },
      { status: "delivered" },
    ];
    for (const query of searches)
      assert.equal(isSearch(parseQuery(endpointLogQuery, query)), true, JSON.stringify(query));
    const from = "2026-01-31T10:00:00Z";
    for (const query of [{}, { status: "failed" }, { status: "delivered", page: "2" }, { from, before: ID }])
      assert.equal(isSearch(parseQuery(endpointLogQuery, query)), false, JSON.stringify(query));
  });

  it("may name up to 20 endpoints, and no more", () => {
    const many = Array.from({ length: 21 }, () => ID);
    assert.deepEqual(readsOf(tenantLogQuery, "endpoint_id", [many.slice(1)]), [many.slice(1)]);
    assert.equal(faultsOf(tenantLogQuery, { endpoint_id: many }).length, 1);
  });
});

describe("the input of a portal's code", () => {
  const input = { tenant_id: "acme", sub: "jo", role: "member" };
  const every = { tenant_id: "*", sub: "jo" };

  it("is for a tenant in a role, or for all tenants in none", () => {
    const grant = { tenantId: tenant("acme"), subject: "jo", role: "member", isReadOnly: false };
    assert.deepEqual(grantOf(parse(codeInput, input)), grant);
    assert.deepEqual(grantOf(parse(codeInput, { ...input, read_only: true })), {
      ...grant,
      isReadOnly: true,
    });
    const all = { tenantId: "*", subject: "jo", role: null, isReadOnly: true };
    assert.deepEqual(grantOf(parse(codeInput, every)), all);
    assert.deepEqual(faultsOf(codeInput, { ...input, role: undefined }), [
      "role: is required, except with *",
    ]);
    for (const [name, value] of [
      ["role", "member"],
      ["read_only", true],
    ] as const)
      assert.deepEqual(faultsOf(codeInput, { ...every, [name]: value }), [
        `${name}: can't be with *: an operator's session opens tenants as their owner`,
      ]);
    const parsed = parse(codeInput, input);
    assert.equal(grantOf({ ...parsed, role: undefined }), null);
    assert.equal(grantOf({ ...parsed, tenant_id: "a b" }), null);
  });

  it("names a tenant and a page of the portal", () => {
    for (const id of ["", "a b", "**", "a*", "*a", "x".repeat(65)])
      assert.deepEqual(faultsOf(codeInput, { ...input, tenant_id: id }), [
        "tenant_id: must be a tenant's id, or *",
      ]);
    const paths = ["", "/", "/endpoints", "/a/b-c_d.e~f/", `/${"x".repeat(1023)}`];
    const queries = ["/a?", "/?b", "/log?status=failed&q=a+b", "/a/?b=c:d@e/f?g", "/a?b=%C3%a9%23"];
    for (const path of [...paths, ...queries])
      assert.deepEqual(parse(codeInput, { ...input, path }).path, path);
    const others = ["a", "//", "/.a", "/a//b", "/a#b", "/..", "/a/..", "x/a", "/a ", "\\a", "/\\a", "/a@b"];
    const badQueries = [
      "?a",
      "//?a",
      "/a?b#c",
      "/a?b c",
      "/a?%",
      "/a?%0",
      "/a?%zz",
      "/a?é",
      '/a?"',
      "/a?<",
      "/a?\\",
    ];
    for (const path of [...others, ...badQueries, "/a?b\n", "/a\n", "/a?\tb", "/a?[b]"])
      assert.deepEqual(faultsOf(codeInput, { ...input, path }), [
        "path: must be a path such as /endpoints or /log?status=failed",
      ]);
    assert.equal(faultsOf(codeInput, { ...input, path: `/${"x".repeat(1024)}` }).length, 1);
    assert.deepEqual([parse(codeInput, input).path, parse(codeInput, input).minutes], ["", 60]);
  });
});

it("what is no id or place breaks a rule of Postern's own", () => {
  for (const [schema, given] of [
    [eventsQuery, { before: "x" }],
    [libraryQuery, { after: "x" }],
    [ackInput, { lease_id: ID, acks: [{ id: "x" }] }],
  ] as const)
    assert.deepEqual(
      schema.safeParse(given).error?.issues.map(({ code }) => code),
      ["custom"],
    );
});

describe("the input of other calls", () => {
  it("of pull endpoints has bounds and defaults, and names each event once", () => {
    assert.deepEqual(parse(leaseInput, {}), { limit: 100, wait_s: 0 });
    const acks = [{ id: ID }, { id: OTHER_ID, error: "no" }];
    assert.deepEqual(acksOf(parse(ackInput, { lease_id: ID, acks })), {
      leaseId: ID,
      acks: [
        { id: ID, refusal: null },
        { id: OTHER_ID, refusal: "no" },
      ],
    });
    assert.deepEqual(faultsOf(ackInput, { lease_id: "x", acks: [{ id: "x" }] }), [
      "lease_id: must be a lease id",
      "acks.0.id: must be the id of a leased event",
    ]);
    const twice = { lease_id: ID, acks: [{ id: ID }, { id: ID }] };
    assert.deepEqual(faultsOf(ackInput, twice), ["acks: must name each event once"]);
  });

  it("of a replay is read with its defaults, and has no cause where it is of missed events", () => {
    const span = { endpoint_id: ID, from: "2026-01-31T10:00:00Z", to: "2026-01-31T11:00:00Z" };
    const request = {
      endpointId: parseEndpointId(ID),
      from: new Date(span.from),
      to: new Date(span.to),
      selection: "failed",
      eventType: null,
      cause: null,
    };
    assert.deepEqual(replayRequest(parse(replayInput, span)), request);
    const more = { event_type: "invoice.*", cause: "dns" };
    const read = replayRequest(parse(replayInput, { ...span, select: "all", ...more }));
    assert.deepEqual(read, { ...request, selection: "all", eventType: "invoice.*", cause: "dns" });
    const missed = { ...span, select: "missed" };
    assert.deepEqual(faultsOf(replayInput, missed), []);
    assert.deepEqual(faultsOf(replayInput, { ...missed, cause: "dns" }), [
      "cause: missed events have no cause",
    ]);
    for (const cause of ["timeout", "blocked_target", "http_500", "http_999"])
      assert.deepEqual(faultsOf(replayInput, { ...span, cause }), [], cause);
    for (const cause of ["http_5xx", "http_50", "http_5000", "500", "Timeout", "a__b", ""])
      assert.deepEqual(
        faultsOf(replayInput, { ...span, cause }),
        ["cause: must be an error as timeout, or a status as http_500"],
        cause,
      );
    for (const event_type of ["*", "invoice.paid@2", "invoice.", ".*", "invoice.*.*", ""])
      assert.deepEqual(
        faultsOf(replayInput, { ...span, event_type }),
        ["event_type: must be an event type, or one with .* at its end"],
        event_type,
      );
  });

  it("of an export names types and formats, each format once", () => {
    const span = { from: "2026-01-31T10:00:00Z", to: "2026-01-31T11:00:00Z" };
    for (const type of ["invoice.paid", "invoice.*"])
      assert.equal(parse(exportInput, { ...span, event_type: type }).event_type, type);
    assert.deepEqual(faultsOf(exportInput, { ...span, event_type: "*" }), [
      "event_type: must be an event type, or one with .* at its end",
    ]);
    assert.deepEqual(faultsOf(exportInput, { ...span, formats: ["ndjson", "ndjson"] }), [
      "formats: must name each format once",
    ]);
  });

  it("of the operator counts nothing and limits nothing by itself", () => {
    assert.deepEqual(parse(actInput, { sub: "sam" }), { sub: "sam", role: "owner", read_only: false });
    assert.deepEqual(parseQuery(eraseQuery, {}), { dry_run: "false" });
  });
});
