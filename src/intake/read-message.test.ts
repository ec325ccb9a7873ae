import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import { idTimeMs, newEventId, parseTenantId } from "../shared/id.ts";
import { writeAccepted } from "./accepted-message.ts";
import { messageSchema } from "./message-schema.ts";
import { readMessage, type Reading } from "./read-message.ts";
import { ACCEPTED_SUBJECT } from "./stream.ts";

const catalog = (await openCatalog(undefined)).current();
const STORED_AT = Date.parse("2026-11-23T12:00:00Z");
const EVENT = { type: "invoice.paid", data: { n: 1 } };

type Given = { subject?: string; sequence?: number; storedAtMs?: number; traceparent?: string };

function read(body: unknown, given: Given = {}, of = catalog): Reading {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  const message = { subject: "postern.events.acme", sequence: 7, storedAtMs: STORED_AT, ...given };
  return readMessage({ traceparent: undefined, ...message, bytes }, of);
}

function eventsOf(reading: Reading) {
  assert.equal(reading.kind, "events", JSON.stringify(reading));
  return reading.events;
}

function refusalOf(reading: Reading): string {
  assert.equal(reading.kind, "refused", JSON.stringify(reading));
  return reading.reason;
}

const idsOf = (given: Given = {}) => eventsOf(read([EVENT, EVENT], given)).map(({ id }) => id);

describe("a message of a producer", () => {
  it("is one event, or several, of the tenant in its subject", () => {
    const [event] = eventsOf(read({ ...EVENT, id: "key 1" }));
    assert.deepEqual(
      [event?.tenantId, event?.type, event?.idempotencyKey, event?.version, event?.others],
      ["acme", "invoice.paid", "key 1", 1, null],
    );
    assert.deepEqual(JSON.parse(event?.body ?? ""), {
      id: event?.id,
      event: "invoice.paid",
      created_at: "2026-11-23T12:00:00.000Z",
      data: { n: 1 },
    });
    assert.equal(eventsOf(read([EVENT, EVENT, EVENT])).length, 3);
  });

  it("gives its events the same ids whenever it is read, and no other message those", () => {
    const ids = idsOf();
    assert.deepEqual(idsOf(), ids);
    assert.deepEqual(ids.map(idTimeMs), [STORED_AT, STORED_AT]);
    const others = [idsOf({ sequence: 8 }), idsOf({ storedAtMs: STORED_AT + 1 })].flat();
    assert.equal(new Set([...ids, ...others]).size, 6);
    assert.deepEqual([...ids, ...others].sort(), [...ids, ...others]);
  });

  it("may be as large as a request", () => {
    assert.equal(eventsOf(read(Buffer.from(JSON.stringify(EVENT).padEnd(1024 * 1024)))).length, 1);
  });

  it("keeps each digit of its numbers", () => {
    const [event] = eventsOf(read(Buffer.from('{"type":"invoice.paid","data":{"n":12345678901234567890}}')));
    assert.match(event?.body ?? "", /"n":12345678901234567890\}/);
  });

  it("continues the trace of its header", () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    assert.equal(eventsOf(read(EVENT, { traceparent }))[0]?.traceparent, traceparent);
  });

  for (const [what, body] of Object.entries<unknown>({
    "no UTF-8": Buffer.from('{"type":"invoice.paid","data":{"a":"ä"}}', "latin1"),
    "no JSON": Buffer.from("{"),
    empty: Buffer.from(""),
    null: null,
    "a number": 5,
    "an empty list": [],
    "a list in a list": [[EVENT]],
    "an event without a type": { data: {} },
    "an event with a member that there is not": { ...EVENT, tenant: "acme" },
    "data that are a list": { type: "invoice.paid", data: [] },
    "a key with NUL": { ...EVENT, id: "a\u0000" },
    "nested brackets": Buffer.from("[".repeat(100_000)),
    "more than the API takes in a request": Buffer.from(JSON.stringify(EVENT).padEnd(1024 * 1024 + 1)),
    "more events than one request may have": Array.from({ length: 1001 }, () => EVENT),
  })) {
    it(`is refused as malformed: ${what}`, () => assert.equal(refusalOf(read(body)), "malformed"));
  }

  for (const subject of [
    "postern.events",
    "postern.events.",
    "postern.events.a.b",
    "postern.events.ä",
    "postern.events.$SYS",
    `postern.events.${"a".repeat(65)}`,
    "postern.other",
    "x.postern.accepted",
  ]) {
    it(`is refused for its tenant at ${subject.slice(0, 24)}`, () => {
      assert.equal(refusalOf(read(EVENT, { subject })), "tenant");
    });
  }

  it("is refused when an event names another tenant than its subject", () => {
    assert.equal(refusalOf(read({ ...EVENT, tenant_id: "globex" })), "tenant");
    assert.equal(eventsOf(read({ ...EVENT, tenant_id: "acme" })).length, 1);
  });

  it("is refused whole for the data of one event", () => {
    const lone = Buffer.from(
      '[{"type":"invoice.paid","data":{}},{"type":"invoice.paid","data":{"a":"\\ud800"}}]',
    );
    const reading = read(lone);
    assert.equal(refusalOf(reading), "data");
    assert.deepEqual(reading.kind === "refused" && reading.issues[0]?.path, [1, "data"]);
  });

  it("is refused with what is wrong where", () => {
    const malformed = { kind: "refused", reason: "malformed" };
    const reading = read([EVENT, { data: {} }]);
    assert.ok(reading.kind === "refused");
    const [{ message, ...found } = { message: "" }, ...others] = reading.issues;
    assert.deepEqual([found, others], [{ path: [1, "type"], code: "invalid_type" }, []]);
    assert.match(message, /string/);
    const large = Buffer.from(JSON.stringify(EVENT).padEnd(1024 * 1024 + 1));
    const tooLarge = { path: [], message: "must be at most 1 MiB", code: "too_big" };
    assert.deepEqual(read(large), { ...malformed, issues: [tooLarge] });
    assert.deepEqual(read(Buffer.from("{")), { ...malformed, issues: [] });
    assert.deepEqual(read(EVENT, { subject: "postern.other" }), {
      kind: "refused",
      reason: "tenant",
      issues: [],
    });
    const unknown = read([EVENT, { type: "no.such", data: {} }]);
    assert.ok(unknown.kind === "unknown");
    assert.deepEqual(
      unknown.issues.map(({ path, code }) => [path, code]),
      [[[1, "type"], "unknown_event_type"]],
    );
  });

  it("is not refused for a failure of Postern's own", () => {
    const broken: typeof catalog = {
      ...catalog,
      faultsOf: () => assert.fail("the catalog is broken"),
    };
    assert.throws(() => read(EVENT, {}, broken), /the catalog is broken/);
  });

  it("waits for a type or a version that the catalog lacks", () => {
    assert.equal(read({ type: "no.such", data: {} }).kind, "unknown");
    assert.equal(read([EVENT, { type: "no.such", data: {} }]).kind, "unknown");
    assert.equal(read({ ...EVENT, versions: { "9": {} } }).kind, "unknown");
    assert.equal(refusalOf(read([{ type: "invoice.paid" }, { type: "no.such", data: {} }])), "data");
  });
});

describe("docs/intake-message.schema.json", () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../docs/intake-message.schema.json"), "utf8"),
  );
  const isValid = new Ajv2020({ strict: false }).compile(schema);

  it("is what the relay reads", () => assert.deepEqual(schema, messageSchema()));

  for (const [what, message, valid] of [
    ["an event", EVENT, true],
    ["several", [EVENT, { ...EVENT, id: "key", tenant_id: "acme" }], true],
    ["no event", {}, false],
    ["an empty list", [], false],
    ["an unknown member", { ...EVENT, tenant: "acme" }, false],
  ] as const) {
    it(`says of ${what} what the relay says`, () => {
      assert.equal(isValid(message), valid);
      assert.equal(read(message).kind === "events", valid);
    });
  }
});

describe("a message of Postern's own", () => {
  const tenantId = parseTenantId("acme");
  const own = { subject: ACCEPTED_SUBJECT };
  const [event] = checkEvents({ ...EVENT, id: "key" }, tenantId, catalog);
  assert.ok(event !== undefined);
  const traced = {
    ...event,
    id: newEventId(),
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    others: { "2": "{}" },
    idempotencyKey: null,
  };

  it("may be larger than a request, which it quotes", () => {
    const large = { ...event, body: JSON.stringify("a".repeat(1024 * 1024)) };
    assert.equal(eventsOf(read(writeAccepted([large]), own)).length, 1);
  });

  it("gives back the events that were written", () => {
    assert.deepEqual(eventsOf(read(writeAccepted([event]), own)), [event]);
    const [second] = eventsOf(read(writeAccepted([traced]), own));
    assert.deepEqual(second, {
      ...traced,
      patterns: ["*", "invoice.*", "invoice.paid", "invoice.paid@1", "invoice.paid@2"],
    });
  });

  it("asks no catalog: its events were accepted", () => {
    const written = { ...event, type: "gone.since" };
    assert.equal(eventsOf(read(writeAccepted([written]), own))[0]?.type, "gone.since");
  });

  const valid = JSON.parse(Buffer.from(writeAccepted([event])).toString());
  const changed = (change: object) => ({ ...valid, events: [{ ...valid.events[0], ...change }] });
  for (const [what, body] of Object.entries<unknown>({
    "an event of a producer": EVENT,
    "no events": { ...valid, events: [] },
    "another format": { ...valid, format: 2 },
    "an id that is none": changed({ id: "x" }),
    "a tenant that is none": changed({ tenant: "a,b" }),
    "a type that would be several patterns": changed({ type: "a,b" }),
    "a body that the database cannot hold": changed({ body: "\u0000" }),
    "version 0": changed({ version: 0 }),
    "version 1000": changed({ version: 1000 }),
    "a part of a version": changed({ version: 1.5 }),
    "a body of version 0": changed({ others: { "0": "{}" } }),
    "a body of version 1000": changed({ others: { "1000": "{}" } }),
    "another body that the database cannot hold": changed({ others: { "2": "\u0000" } }),
    "a key that the database cannot hold": changed({ key: "\u0000" }),
    "a traceparent that is none": changed({ traceparent: "00-\u0000" }),
  })) {
    it(`is refused as malformed: ${what}`, () => assert.equal(refusalOf(read(body, own)), "malformed"));
  }
});
