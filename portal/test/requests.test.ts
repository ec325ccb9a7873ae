/** What the portal asks the service to do: each field of an export, a replay and a test, from what a person chose. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requestOf as replayOf, SELECTS, TIME_NAMES } from "../src/pages/endpoint/replay-request.ts";
import { loadModule } from "./support/page.ts";

type Times = { from: Date | null; to: Date | null };
type Wanted = {
  from: string;
  to: string;
  first: Times;
  time: string;
  endpoint: string;
  type: string;
  status: string;
  formats: readonly string[];
};
type EventType = { type: string; version: number; preview: boolean };

const exports = await loadModule<{
  wantedOf: (chosen: object, zone: string, now: Date) => Wanted;
  ownTime: (wanted: Wanted, zone: string, now: Date) => Pick<Wanted, "from" | "to" | "first">;
  requestOf: (wanted: Wanted, zone: string, now: Date) => object | null;
  againOf: (one: object) => object;
}>("pages/exports/export-request.ts");
const tests = await loadModule<{
  jsonFault: (text: string) => string | null;
  jsonOf: (test: { eventType: string; text: string; isDry: boolean }) => string;
  choicesOf: (
    endpoint: { events: string[] },
    types: readonly EventType[],
  ) => { name: string; entry: EventType }[];
  pathText: (path: readonly (string | number)[]) => string;
}>("pages/endpoint-test/test-request.ts");

const entry = (type: string, version: number): EventType => ({ type, version, preview: false });

const NOW = new Date("2026-11-28T12:00:30.125Z");
const FROM = "2026-11-01T08:00:05.125Z";
const TO = "2026-11-02T09:30:50.250Z";

describe("the request of an export", () => {
  const first = exports.wantedOf({}, "utc", NOW);
  const asked = (change: Partial<Wanted> = {}) => exports.requestOf({ ...first, ...change }, "utc", NOW);

  it("is of everything of a week, in two formats, where nothing is chosen", () => {
    assert.deepEqual(asked(), {
      from: "2026-11-21T12:00:30.125Z",
      to: "2026-11-28T12:00:30.125Z",
      formats: ["ndjson", "csv"],
    });
  });

  it("has all that was chosen", () => {
    const chosen = { time: "24h", endpoint: "e1", type: "invoice.*", status: "failed", formats: ["parquet"] };
    assert.deepEqual(asked(chosen), {
      from: "2026-11-27T12:00:30.125Z",
      to: "2026-11-28T12:00:30.125Z",
      formats: ["parquet"],
      endpoint_id: "e1",
      event_type: "invoice.*",
      delivery_status: "failed",
    });
    assert.deepEqual(asked({ time: "30d" }), {
      from: "2026-10-29T12:00:30.125Z",
      to: "2026-11-28T12:00:30.125Z",
      formats: ["ndjson", "csv"],
    });
  });

  it("has what the log handed on, to its second", () => {
    const chosen = { endpoint: "e1", type: "a.b", status: "test" };
    const narrowed = {
      formats: ["ndjson", "csv"],
      endpoint_id: "e1",
      event_type: "a.b",
      delivery_status: "test",
    };
    const handed = (times: object) =>
      exports.requestOf(exports.wantedOf({ ...chosen, ...times }, "utc", NOW), "utc", NOW);
    assert.deepEqual(handed({ from: FROM, to: TO }), { from: FROM, to: TO, ...narrowed });
    assert.deepEqual(handed({ from: FROM }), { from: FROM, to: NOW.toISOString(), ...narrowed });
    assert.deepEqual(handed({ range: "24h" }), {
      from: "2026-11-27T12:00:30.125Z",
      to: NOW.toISOString(),
      ...narrowed,
    });
  });

  it("begins a time of one's own with that which was chosen before, and keeps one that is there", () => {
    const own = exports.ownTime({ ...first, time: "24h" }, "utc", NOW);
    assert.deepEqual(own, {
      from: "2026-11-27T12:00",
      to: "2026-11-28T12:00",
      first: { from: new Date("2026-11-27T12:00:30.125Z"), to: NOW },
    });
    assert.deepEqual(exports.ownTime({ ...first, ...own, time: "own" }, "utc", new Date()), own);
    assert.deepEqual(asked({ ...own, time: "own", to: "2026-11-28T11:00" }), {
      from: "2026-11-27T12:00:30.125Z",
      to: "2026-11-28T11:00:00.000Z",
      formats: ["ndjson", "csv"],
    });
  });

  it("is none while a time or a format is missing, or the times are in the wrong order", () => {
    const own = { time: "own", from: "2026-11-02T00:00", to: "2026-11-03T00:00" };
    assert.notEqual(asked(own), null);
    for (const change of [{ formats: [] }, { from: "" }, { to: "" }, { to: own.from }])
      assert.equal(asked({ ...own, ...change }), null, JSON.stringify(change));
  });

  it("is the same once more, and nothing else of the former export", () => {
    const one = { from: FROM, to: TO, formats: ["csv"], id: "x1", status: "failed", error: "none" };
    const all = { endpoint_id: null, event_type: null, delivery_status: null };
    assert.deepEqual(exports.againOf({ ...one, ...all }), { from: FROM, to: TO, formats: ["csv"] });
    const narrowed = { endpoint_id: "e1", event_type: "a.*", delivery_status: "test" };
    assert.deepEqual(exports.againOf({ ...one, ...narrowed }), {
      from: FROM,
      to: TO,
      formats: ["csv"],
      ...narrowed,
    });
  });
});

describe("the request of a replay", () => {
  it("has the endpoint, the time and the choice, and the type and the cause that were chosen", () => {
    const times = TIME_NAMES.map((time) =>
      replayOf("e1", { select: "all", time, type: "", cause: "" }, NOW.getTime()),
    );
    assert.deepEqual(
      times.map(({ from }) => from),
      [
        "2026-11-28T11:00:30.125Z",
        "2026-11-27T12:00:30.125Z",
        "2026-11-21T12:00:30.125Z",
        "2026-10-29T12:00:30.125Z",
      ],
    );
    const common = { endpoint_id: "e1", from: "2026-11-28T11:00:30.125Z", to: NOW.toISOString() };
    assert.deepEqual(times[0], { ...common, select: "all" });
    for (const select of SELECTS) {
      const wanted = { select, time: "1h", type: "a.b", cause: "timeout" } as const;
      assert.deepEqual(replayOf("e1", wanted, NOW.getTime()), {
        ...common,
        select,
        event_type: "a.b",
        // The others have none.
        ...(select === "failed" && { cause: "timeout" }),
      });
    }
  });
});

describe("the request of a test", () => {
  it("has the data as it was typed, the type, and whether it is sent", () => {
    const text = '{"n": 12345678901234567890}';
    assert.equal(
      tests.jsonOf({ eventType: 'a."b"@2', text, isDry: true }),
      `{"event_type":"a.\\"b\\"@2","data":${text},"dry_run":true}`,
    );
    assert.match(tests.jsonOf({ eventType: "a.b", text, isDry: false }), /"dry_run":false\}$/);
  });

  it("is made of an object alone, which is looked at before it goes", () => {
    for (const text of ["{}", ' {"a":[]} ']) assert.equal(tests.jsonFault(text), null, text);
    for (const text of ["[]", "null", "7", '"{}"']) assert.equal(tests.jsonFault(text), "object", text);
    for (const text of ["", "{", '{"a":1}}', "undefined"])
      assert.equal(tests.jsonFault(text), "syntax", text);
  });

  it("may be of the types that the endpoint gets, in the version that it gets", () => {
    const placed = [entry("order.placed", 1), entry("order.placed", 2)];
    const merged = entry("customer.merged", 1);
    const names = (events: string[]) =>
      tests.choicesOf({ events }, [...placed, merged]).map(({ name, entry: chosen }) => [name, chosen]);
    assert.deepEqual(names(["*"]), [
      ["order.placed", placed[1]],
      ["customer.merged", merged],
    ]);
    assert.deepEqual(names(["order.placed@1"]), [["order.placed@1", placed[0]]]);
    assert.deepEqual(names(["parcel.sent"]), []);
  });

  it("names the place of a fault as one writes it", () => {
    assert.equal(tests.pathText(["data", "items", 0, "price"]), "data.items[0].price");
    assert.equal(tests.pathText(["data", "items", "10"]), "data.items[10]");
    assert.equal(tests.pathText([]), "");
  });
});
