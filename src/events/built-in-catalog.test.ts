import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { builtInCatalog, isServiceType, serviceEvents } from "./built-in-catalog.ts";
import { makeDataCheckCompiler } from "./data-check.ts";

const compile = makeDataCheckCompiler();

/** The texts in an example, however deep. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe("each type that is built in", () => {
  it("has a title, a sentence, a group and an example, none of them empty", () => {
    for (const { type, title, description, payloadShape, ...entry } of [
      ...builtInCatalog,
      ...serviceEvents,
    ]) {
      assert.match(title, /^[A-Z][a-z]+( [a-z]+)+$/, type);
      assert.match(description, /^[A-Z].+\.$/, type);
      assert.ok(Object.keys(payloadShape).length >= 2, type);
      for (const text of textsIn(payloadShape)) assert.notEqual(text, "", type);
      assert.deepEqual([entry.version, entry.preview, entry.deprecated], [1, false, false], type);
    }
  });

  it("is in the group that it is shown in", () => {
    const groups = Map.groupBy([...builtInCatalog, ...serviceEvents], ({ group }) => group);
    const types = [...groups].map(([group, entries]) => [group, entries.map(({ type }) => type)]);
    assert.deepEqual(types, [
      ["Invoices", ["invoice.created", "invoice.sent", "invoice.paid", "invoice.overdue"]],
      ["Payments", ["payment.succeeded", "payment.failed", "payment.refunded"]],
      ["Customers", ["customer.created", "customer.updated"]],
      ["Documents", ["document.uploaded", "document.signed", "document.deleted"]],
      [
        "Postern",
        [
          "endpoint.failing",
          "endpoint.recovered",
          "endpoint.disabled",
          "delivery.exhausted",
          "replay.finished",
          "storage.export.ready",
          "storage.object.missing",
          "storage.object.quarantined",
          "storage.object.healed",
        ],
      ],
    ]);
  });
});

/** What no member may be, by what it is for. */
const WRONG = { id: [1], time: [1], text: [1], count: ["1", -1, 1.5], enum: ["other"] };
/** Which readers of the schema may check, though Postern does not. */
const FORMATS = new Map([
  ["id", "uuid"],
  ["time", "date-time"],
]);

const ENDPOINT = { endpoint_id: "id", url: "text" } as const;
const ARTIFACT = { object_id: "id", delivery_id: "id", attempt: "count", kind: "enum" } as const;
const MEMBERS: Record<string, Record<string, keyof typeof WRONG>> = {
  "endpoint.failing": { ...ENDPOINT, failing_since: "time", disabled_after: "time" },
  "endpoint.recovered": { ...ENDPOINT, failing_since: "time" },
  "endpoint.disabled": { ...ENDPOINT, reason: "enum" },
  "delivery.exhausted": {
    ...ENDPOINT,
    count: "count",
    delivery_id: "id",
    event_id: "id",
    event_type: "text",
  },
  "replay.finished": {
    replay_id: "id",
    endpoint_id: "id",
    status: "enum",
    sent: "count",
    delivered: "count",
    failed: "count",
    skipped: "count",
  },
  "storage.export.ready": { export_id: "id", object_id: "id", expires_at: "time" },
  "storage.object.missing": ARTIFACT,
  "storage.object.quarantined": ARTIFACT,
  "storage.object.healed": ARTIFACT,
};
/** The other values of an enumeration than that of the example, and the least count where it is not 0. */
const ALSO: Record<string, Record<string, unknown[]>> = {
  "endpoint.disabled": { reason: ["failing", "gone"] },
  "replay.finished": { status: ["finished", "failed"], sent: [0], delivered: [0], failed: [0], skipped: [0] },
  "delivery.exhausted": { count: [1] },
};
const OF_ARTIFACT = { attempt: [1], kind: ["export", "request_body", "response_body"] };

describe("the schema of an own event", () => {
  for (const { type, payloadShape, schema } of serviceEvents) {
    it(`says that ${type} always has its members, each of its kind`, () => {
      const check = compile(schema ?? {});
      const faultsOf = (data: unknown) => check(data).map(({ path }) => path.join("."));
      const members = MEMBERS[type] ?? {};
      assert.deepEqual(Object.keys(payloadShape), Object.keys(members));
      assert.deepEqual([schema?.["type"], schema?.["required"]], ["object", Object.keys(members)]);
      assert.deepEqual(faultsOf(payloadShape), []);
      for (const [name, kind] of Object.entries(members)) {
        const { [name]: _, ...without } = payloadShape;
        assert.equal(faultsOf(without).length, 1, `without ${name}`);
        const { format } = Object(Object(schema?.["properties"])[name]);
        assert.equal(format, FORMATS.get(kind), name);
        for (const value of WRONG[kind]) {
          assert.deepEqual(faultsOf({ ...payloadShape, [name]: value }), [name], `${name} ${String(value)}`);
        }
        const also = type.startsWith("storage.object.") ? OF_ARTIFACT : ALSO[type];
        for (const value of Object.entries(also ?? {}).find(([member]) => member === name)?.[1] ?? []) {
          assert.deepEqual(faultsOf({ ...payloadShape, [name]: value }), [], `${name} ${String(value)}`);
        }
      }
    });
  }

  it("of what counts from 1 refuses 0, and tells what its members are for", () => {
    for (const [type, member] of [
      ["delivery.exhausted", "count"],
      ["storage.object.missing", "attempt"],
    ] as const) {
      const entry = serviceEvents.find((one) => one.type === type);
      assert.equal(compile(entry?.schema ?? {})({ ...entry?.payloadShape, [member]: 0 }).length, 1);
    }
    const told = serviceEvents.flatMap(({ type, schema }) =>
      Object.entries(Object(schema?.["properties"])).flatMap(([name, member]) =>
        "description" in Object(member) ? [`${type} ${name} ${Object(member).description}`] : [],
      ),
    );
    assert.deepEqual(told, [
      "endpoint.failing disabled_after The first failure after this disables the endpoint.",
      "delivery.exhausted count Such events of the endpoint since the last notice.",
      "delivery.exhausted delivery_id Of the newest of them.",
      ...["missing", "quarantined", "healed"].map(
        (what) => `storage.object.${what} delivery_id For an export, the export's id.`,
      ),
    ]);
  });
});

it("a type is Postern's own by its whole name", () => {
  assert.ok(isServiceType("endpoint.failing"));
  assert.ok(isServiceType("storage.object.healed"));
  for (const type of ["invoice.paid", "endpoint", "endpoint.failing.more", ""])
    assert.ok(!isServiceType(type));
});
