import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { temporaryPath } from "../../test/support/temporary.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { idTimeMs, newEventId } from "../shared/id.ts";
import { Refusal, type Issue } from "../shared/refusal.ts";
import { loadCatalog } from "./catalog.ts";
import { checkEvents, sizeOfBodies } from "./checked-events.ts";

const shown = { title: "T", description: "D", group: "G", payloadShape: {} };
const file = temporaryPath("checked.json");
await writeFile(
  file,
  JSON.stringify([
    { type: "order.paid", version: 1, ...shown },
    { type: "order.paid", version: 2, ...shown },
    { type: "order.sent", ...shown },
  ]),
);
const catalog = await loadCatalog(file);
const acme = tenant("acme");
const SENT = { type: "order.sent", data: { a: 1 } };

type Given = Parameters<typeof checkEvents>;

function refusalOf(input: Given[0], sessionTenant: Given[1]): Refusal {
  try {
    checkEvents(input, sessionTenant, catalog);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return error;
  }
  return assert.fail("it was accepted");
}

function issuesOf(input: Given[0], sessionTenant: Given[1] = acme): Issue[] {
  const { code, issues = [] } = refusalOf(input, sessionTenant);
  assert.equal(code, "validation_failed");
  return issues;
}

describe("an event that a producer sent", () => {
  it("is written as each attempt will send it, with its id and the time of that", () => {
    const id = newEventId();
    const created_at = new Date(idTimeMs(id)).toISOString();
    assert.deepEqual(
      checkEvents({ ...SENT, id: "key" }, acme, catalog, () => id),
      [
        {
          id,
          body: JSON.stringify({ id, event: "order.sent", created_at, data: { a: 1 } }),
          tenantId: "acme",
          type: "order.sent",
          patterns: ["*", "order.*", "order.sent", "order.sent@1"],
          version: 1,
          others: null,
          idempotencyKey: "key",
        },
      ],
    );
  });

  it("has a body for each of its versions, of which the newest is its own", () => {
    const [event, ...rest] = checkEvents(
      { type: "order.paid", data: { v: 2 }, versions: { "1": { v: 1 } } },
      acme,
      catalog,
    );
    assert.ok(event !== undefined);
    assert.deepEqual(rest, []);
    const { body, others, version, patterns, idempotencyKey } = event;
    assert.deepEqual([version, Object.keys(others ?? {}), idempotencyKey], [2, ["1"], null]);
    const [newest, former] = [JSON.parse(body), JSON.parse(others?.["1"] ?? "")];
    assert.deepEqual([newest.data, former], [{ v: 2 }, { ...newest, data: { v: 1 } }]);
    assert.deepEqual(patterns, ["*", "order.*", "order.paid", "order.paid@1", "order.paid@2"]);
  });

  it("is the session's tenant's, which it may name", () => {
    const events = checkEvents([SENT, { ...SENT, tenant_id: "acme" }], acme, catalog);
    assert.deepEqual(
      events.map(({ tenantId }) => tenantId),
      ["acme", "acme"],
    );
    const { code, reason } = refusalOf([SENT, { ...SENT, tenant_id: "globex" }], acme);
    assert.deepEqual([code, reason], ["forbidden", "the tenant of an event is not the tid of the token"]);
  });

  it("names its tenant in a session of all", () => {
    const events = checkEvents(
      [
        { ...SENT, tenant_id: "globex" },
        { ...SENT, tenant_id: "acme" },
      ],
      null,
      catalog,
    );
    assert.deepEqual(
      events.map(({ tenantId }) => tenantId),
      ["globex", "acme"],
    );
    const missing = { message: "is required for this session", code: "required" };
    assert.deepEqual(issuesOf(SENT, null), [{ path: ["tenant_id"], ...missing }]);
    assert.deepEqual(issuesOf([{ ...SENT, tenant_id: "acme" }, SENT], null), [
      { path: [1, "tenant_id"], ...missing },
    ]);
  });
});

describe("events of one request", () => {
  it("get their ids by their places, in their order", () => {
    const ids = [newEventId(), newEventId()];
    const events = checkEvents(
      [SENT, { ...SENT, id: "key" }],
      acme,
      catalog,
      (place) => ids[place] ?? newEventId(),
    );
    assert.deepEqual(
      events.map(({ id, idempotencyKey }) => [id, idempotencyKey]),
      [
        [ids[0], null],
        [ids[1], "key"],
      ],
    );
    const own = checkEvents([SENT, SENT], acme, catalog);
    assert.equal(new Set(own.map(({ id }) => id)).size, 2);
  });

  it("are refused together, with every fault and its place", () => {
    const unknown = { message: "unknown_event_type", code: "unknown_event_type" };
    assert.deepEqual(issuesOf({ type: "order.none", data: {} }), [{ path: ["type"], ...unknown }]);
    assert.deepEqual(issuesOf([{ type: "order.none", data: {} }, SENT, { type: "order.paid", data: {} }]), [
      { path: [0, "type"], ...unknown },
      { path: [2, "versions", "1"], message: "is required", code: "required" },
    ]);
  });

  it("are refused for data nested too deep, however deep", () => {
    let data: unknown = {};
    for (let n = 0; n < 20_000; n++) data = { a: data };
    assert.deepEqual(issuesOf({ ...SENT, data: { data } }), [
      { path: ["data"], message: "too_deep", code: "too_deep" },
    ]);
  });
});

it("the size of an event is that of all its bodies", () => {
  assert.equal(sizeOfBodies({ body: "1234", others: null }), 4);
  assert.equal(sizeOfBodies({ body: "1234", others: { "1": "12", "3": "1" } }), 7);
});
