import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lowestIdAt, newDeliveryId, newEndpointId, newEventId } from "../shared/id.ts";
import {
  countStreams,
  queryOf,
  rangeOf,
  windowsOf,
  type SearchFilter,
  type Streams,
} from "./search-filter.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 25, 13, 30);
const DAY_START_MS = Date.UTC(2026, 10, 25);
const [one, two] = [newEndpointId(), newEndpointId()];
const eventId = newEventId();

const find = (filter: Omit<SearchFilter, "times">) => queryOf({ ...filter, times: {} });

/** The conditions of a filter, with the values in their places. */
const conditionsOf = (filter: Omit<SearchFilter, "times">): string[] =>
  find(filter).fits((value) => JSON.stringify(value));

describe("where rows that fit can be", () => {
  const cases: [about: string, Omit<SearchFilter, "times">, Streams["logged"], pending: boolean][] = [
    ["everything", {}, "any", true],
    ["pending", { status: "pending" }, null, true],
    ["failed", { status: "failed" }, ["failed"], false],
    ["test", { status: "test" }, ["test"], false],
    ["delivered", { status: "delivered" }, "any", false],
    ["an error", { error: "dns" }, ["failed", "test"], false],
    ["delivered with an error, which nothing is", { status: "delivered", error: "dns" }, null, false],
    ["failed with an error", { status: "failed", error: "dns" }, ["failed"], false],
    ["pending with an error, which nothing is", { status: "pending", error: "dns" }, null, false],
    ["no answer", { responseStatus: "none" }, ["failed", "test"], false],
    ["199 and below", { responseStatus: { from: 100, to: 199 } }, ["failed", "test"], false],
    ["up to 200", { responseStatus: { from: 100, to: 200 } }, "any", false],
    ["from 299", { responseStatus: { from: 299, to: 500 } }, "any", false],
    ["300 and above", { responseStatus: { from: 300, to: 599 } }, ["failed", "test"], false],
    ["pending with an answer, which nothing is", { status: "pending", responseStatus: "none" }, null, false],
  ];
  for (const [about, filter, logged, pending] of cases) {
    it(`is told for ${about}`, () => {
      const { streams } = find(filter);
      assert.deepEqual([streams.logged, streams.pending], [logged, pending]);
    });
  }

  it("is at the endpoints, and of the event, that are named", () => {
    const { streams } = find({ eventId, endpointIds: [one, two] });
    assert.deepEqual(streams, { eventId, endpointIds: [one, two], logged: "any", pending: true });
    assert.deepEqual(find({}).streams, { ...streams, eventId: null, endpointIds: null });
  });

  it("is counted by endpoint and status, what is pending by endpoint and once for persons", () => {
    const streams: Streams = { eventId: null, endpointIds: null, logged: "any", pending: false };
    const counts: [Partial<Streams>, number][] = [
      [{}, 1],
      [{ logged: null }, 0],
      [{ logged: ["failed", "test"] }, 2],
      [{ logged: ["failed"] }, 1],
      [{ endpointIds: [one, two] }, 2],
      [{ endpointIds: [one, two], logged: ["failed", "test"] }, 4],
      // An event leads to its rows, whatever their endpoint and status.
      [{ endpointIds: [one, two], logged: ["failed", "test"], eventId }, 1],
      [{ pending: true }, 3],
      [{ logged: null, pending: true }, 2],
      [{ logged: null, endpointIds: [one, two], pending: true }, 3],
    ];
    for (const [given, count] of counts) assert.equal(countStreams({ ...streams, ...given }), count);
  });
});

describe("the conditions of a filter", () => {
  it("are none where every row of the streams fits", () => {
    for (const filter of [{}, { status: "failed" }, { status: "pending" }, { endpointIds: [one] }] as const) {
      assert.deepEqual([find(filter).fitsAll, conditionsOf(filter)], [true, []]);
    }
    assert.equal(find({ status: "delivered" }).fitsAll, false);
  });

  it("are those of each member", () => {
    const conditions: [Omit<SearchFilter, "times">, string[]][] = [
      [{ status: "delivered" }, ["status = 'delivered'"]],
      [{ eventType: "invoice.paid" }, ['event_type = "invoice.paid"']],
      [{ eventType: "invoice.paid@2" }, ['event_type = "invoice.paid"', "coalesce(version, 1) = 2"]],
      [{ eventType: "invoice.*" }, ['event_type ^@ "invoice."']],
      [{ responseStatus: "none" }, ["response_status IS NULL"]],
      [{ responseStatus: { from: 500, to: 599 } }, ["response_status BETWEEN 500 AND 599"]],
      [{ error: "dns" }, ['error = "dns"']],
      [{ trigger: "auto_retry" }, ['trigger = "auto_retry"']],
      [{ eventId }, [`event_id = "${eventId}"`]],
      [{ eventId, status: "pending" }, [`event_id = "${eventId}"`]],
      // No type has this name; none fits.
      [{ eventType: "invoice.paid@x" }, ['event_type = "invoice.paid@x"']],
    ];
    for (const [filter, expected] of conditions) assert.deepEqual(conditionsOf(filter), expected);
  });

  it("of an event name endpoint and status too, since its rows are not in their streams", () => {
    assert.deepEqual(conditionsOf({ eventId, endpointIds: [one], status: "failed" }), [
      `event_id = "${eventId}"`,
      `endpoint_id = ANY (["${one}"])`,
      'status = ANY (["failed","pending"])',
    ]);
  });
});

describe("the bounds of a list", () => {
  it("are one range of ids, the narrowest of all given", () => {
    const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    assert.deepEqual(rangeOf({}), { from: lowestIdAt(0), to: LAST });
    const [fromMs, toMs] = [NOW_MS - DAY_MS, NOW_MS];
    assert.deepEqual(rangeOf({ fromMs, toMs }), { from: lowestIdAt(fromMs), to: lowestIdAt(toMs) });
    const id = newDeliveryId();
    assert.ok(rangeOf({ fromMs: 1, after: id }).from > id);
    assert.equal(rangeOf({ toMs: NOW_MS * 2, before: id }).to, id);
    assert.equal(rangeOf({ fromMs: NOW_MS * 2, after: id }).from, lowestIdAt(NOW_MS * 2));
    assert.equal(rangeOf({ toMs: 1, before: id }).to, lowestIdAt(1));
  });

  it("are walked from the newest: two days, a week, a month, the rest, without a gap", () => {
    const [from, to] = [lowestIdAt(0), "ffffffff-ffff-ffff-ffff-ffffffffffff"];
    const starts = [1, 7, 31].map((days) => lowestIdAt(DAY_START_MS - days * DAY_MS));
    assert.deepEqual(windowsOf({ from, to }, NOW_MS), [
      { from: starts[0], to },
      { from: starts[1], to: starts[0] },
      { from: starts[2], to: starts[1] },
      { from, to: starts[2] },
    ]);
    // Within one part, and exactly one part.
    const recent = { from: lowestIdAt(NOW_MS - 1000), to };
    assert.deepEqual(windowsOf(recent, NOW_MS), [recent]);
    const week = { from: starts[1] ?? "", to: starts[0] ?? "" };
    assert.deepEqual(windowsOf(week, NOW_MS), [week]);
  });
});
