/** Who may fetch and acknowledge, by what, and what is refused before anything changes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { callWith, openPortal } from "./support/portal.ts";
import { clientOf, type Client, type Lease } from "./support/pull.ts";
import { MEMBER, OTHER_OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const LEASE_ENDED = [409, { error: "The lease has ended" }] as const;
const NOT_PULL = [409, { error: "Endpoint is not of mode pull" }] as const;

let service: TestService;
let webhooks: Webhooks;
let client: Client;
let lease: Lease;
let eventId: string;

before(async () => {
  service = await startTestService({ refusesAsDocumented: true, env: { RATE_LIMIT_FETCHES: "0" } });
  webhooks = webhooksOf(service);
  client = clientOf(service, (await webhooks.create({ mode: "pull" })).endpoint.id);
  for (let n = 0; n < 2; n++) await publish(service, { type: "invoice.paid" });
  lease = await client.lease({ limit: 1 });
  eventId = first(lease.events).id;
});
after(() => service.stop());

const leases = (json: unknown, as = {}) =>
  webhooks.call("POST", `/${client.endpointId}/leases`, { json, ...as });
const acks = (json: unknown, as = {}) => webhooks.call("POST", `/${client.endpointId}/acks`, { json, ...as });

/** All that a call could change. */
async function state(): Promise<unknown[]> {
  const { rows } = await service.database.pool.query(
    `SELECT to_jsonb(d) AS row FROM postern.dispatches d
      UNION ALL SELECT to_jsonb(l) FROM postern.deliveries l
      UNION ALL SELECT to_jsonb(e) FROM postern.endpoints e ORDER BY 1`,
  );
  return rows;
}

describe("POST /api/webhooks/:id/leases", () => {
  const invalid: [unknown, string][] = [
    [{ limit: 0 }, "limit"],
    [{ limit: 1001 }, "limit"],
    [{ limit: 1.5 }, "limit"],
    [{ limit: "10" }, "limit"],
    [{ wait_s: -1 }, "wait_s"],
    [{ wait_s: 31 }, "wait_s"],
    [{ wait_s: "20" }, "wait_s"],
    [{ waitS: 1 }, "waitS"],
    [{ timeout: 1 }, "timeout"],
    [{ max_messages: 1 }, "max_messages"],
    [{ colour: "red" }, ""],
    [[], ""],
    [null, ""],
    ["x", ""],
  ];
  for (const [json, path] of invalid) {
    it(`answers Validation failed to ${JSON.stringify(json)}`, async () => {
      const earlier = await state();
      const found = issuesOf(await leases(json));
      assert.ok(path in found, JSON.stringify(found));
      assert.deepEqual(await state(), earlier);
    });
  }

  it("takes nothing without a body, or with one that is no JSON", async () => {
    const earlier = await state();
    for (const raw of ["", "{"]) {
      const answer = await webhooks.call("POST", `/${client.endpointId}/leases`, { raw });
      assert.deepEqual(issuesOf(answer), { "": "the body is missing, or is not JSON" });
    }
    assert.deepEqual(await state(), earlier);
  });

  it("takes nothing from a push endpoint, one that is deleted, unknown or malformed, or of another tenant", async () => {
    const push = (await webhooks.create({ events: ["document.signed"] })).endpoint.id;
    const gone = (await webhooks.create({ mode: "pull", events: ["document.signed"] })).endpoint.id;
    await webhooks.remove(gone);
    const earlier = await state();
    assertRefused(await webhooks.call("POST", `/${push}/leases`, { json: { wait_s: 30 } }), NOT_PULL);
    for (const id of [gone, UNKNOWN_ID, "x", "%00"]) {
      for (const json of [{}, { wait_s: 30 }])
        assertRefused(await webhooks.call("POST", `/${id}/leases`, { json }), REFUSED.notFound);
    }
    assertRefused(await leases({}, { as: OTHER_OWNER }), REFUSED.notFound);
    assert.deepEqual(await state(), earlier);
    await webhooks.remove(push);
  });

  it("takes nothing for whoever may only read: members, read-only sessions, backends, and by GET", async () => {
    const earlier = await state();
    const { token } = await openPortal(service, { role: "owner", read_only: true });
    for (const path of ["leases", "acks"]) {
      const route = `/api/webhooks/${client.endpointId}/${path}`;
      assertRefused(await service.call("POST", route, { as: MEMBER, json: {} }), REFUSED.forbidden);
      assertRefused(await callWith(service, token, ["POST", route], {}), REFUSED.forbidden);
      for (const as of [PRODUCER, null])
        assertRefused(await service.call("POST", route, { as, json: {} }), REFUSED.unauthorized);
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await service.call(method, route);
        assertRefused(answer, REFUSED.methodNotAllowed);
        assert.equal(answer.headers.get("allow"), "POST");
      }
      assert.equal((await service.call("HEAD", route)).status, 405);
    }
    assert.deepEqual(await state(), earlier);
  });

  it("takes nothing while the endpoint's secret does not open", async () => {
    const { endpoint } = await webhooks.create({ mode: "pull", events: ["document.signed"] });
    await publish(service, { type: "document.signed" });
    const { pool } = service.database;
    await pool.query("UPDATE postern.endpoints SET secret = 'x' WHERE id = $1", [endpoint.id]);
    const earlier = await state();
    const answer = await webhooks.call("POST", `/${endpoint.id}/leases`, { json: {} });
    assertRefused(answer, [500, { error: "The endpoint's signing secret cannot be decrypted" }]);
    assert.deepEqual(await state(), earlier);
    await webhooks.remove(endpoint.id);
  });
});

const ok = () => ({ lease_id: lease.lease_id, acks: [{ id: eventId }] });

describe("POST /api/webhooks/:id/acks", () => {
  const invalid: [string, () => unknown, string][] = [
    ["no lease", () => ({ acks: [{ id: eventId }] }), "lease_id"],
    ["a lease that is no id", () => ({ ...ok(), lease_id: "x" }), "lease_id"],
    ["no acks", () => ({ lease_id: lease.lease_id }), "acks"],
    ["empty acks", () => ({ ...ok(), acks: [] }), "acks"],
    ["1,001 acks", () => ({ ...ok(), acks: Array.from({ length: 1001 }, () => ({ id: eventId })) }), "acks"],
    [
      "an event named twice",
      () => ({ ...ok(), acks: [{ id: eventId }, { id: eventId, error: "x" }] }),
      "acks",
    ],
    ["an id that is none", () => ({ ...ok(), acks: [{ id: "x" }] }), "acks.0.id"],
    ["an id alone", () => ({ ...ok(), acks: [eventId] }), "acks.0"],
    ["an empty error", () => ({ ...ok(), acks: [{ id: eventId, error: "" }] }), "acks.0.error"],
    ["an error with NUL", () => ({ ...ok(), acks: [{ id: eventId, error: "a\u0000" }] }), "acks.0.error"],
    ["a long error", () => ({ ...ok(), acks: [{ id: eventId, error: "x".repeat(1001) }] }), "acks.0.error"],
    ["an unknown member of an ack", () => ({ ...ok(), acks: [{ id: eventId, status: 500 }] }), "acks.0"],
    ["a slip", () => ({ lease: lease.lease_id, acks: [{ id: eventId }] }), "lease"],
    ["another slip", () => ({ lease_id: lease.lease_id, ack: [{ id: eventId }] }), "ack"],
    ["no object", () => [], ""],
  ];
  for (const [what, json, path] of invalid) {
    it(`answers Validation failed to ${what}`, async () => {
      const earlier = await state();
      const found = issuesOf(await acks(json()));
      assert.ok(path in found, JSON.stringify(found));
      assert.deepEqual(await state(), earlier);
    });
  }

  it("changes nothing by a lease that is another's, of another endpoint or of another tenant", async () => {
    const { endpoint } = await webhooks.create({ mode: "pull", events: ["document.signed"] });
    const globex = webhooksOf(service, OTHER_OWNER);
    const theirs = (await globex.create({ mode: "pull" })).endpoint.id;
    const earlier = await state();
    assertRefused(await acks({ ...ok(), lease_id: UNKNOWN_ID }), LEASE_ENDED);
    assertRefused(await acks({ ...ok(), acks: [{ id: UNKNOWN_ID }] }), LEASE_ENDED);
    assertRefused(await webhooks.call("POST", `/${endpoint.id}/acks`, { json: ok() }), LEASE_ENDED);
    assertRefused(await acks(ok(), { as: OTHER_OWNER }), REFUSED.notFound);
    assertRefused(await globex.call("POST", `/${theirs}/acks`, { json: ok() }), LEASE_ENDED);
    for (const id of [UNKNOWN_ID, "x"])
      assertRefused(await webhooks.call("POST", `/${id}/acks`, { json: ok() }), REFUSED.notFound);
    assert.deepEqual(await state(), earlier);
    assert.deepEqual(await client.ack(lease, [{ id: eventId }]), { delivered: 1, failed: 0, late: [] });
  });

  it("keeps what a client said as it was, but for what no text can be", async () => {
    const next = await client.lease();
    const { id } = first(next.events);
    await client.ack(next, [{ id, error: `süß 🍰 ${"x".repeat(990)}` }]);
    const failed = await webhooks.delivery(client.endpointId, id);
    assert.equal(failed.response_body, `süß 🍰 ${"x".repeat(990)}`);
  });
});

describe("mode", () => {
  it("is push or pull, and a slip is told", async () => {
    for (const mode of ["poll", "", null, 1]) {
      const json = { url: service.receiver.url, mode };
      assert.ok("mode" in issuesOf(await webhooks.call("POST", "", { json })));
      assert.ok(
        "mode" in issuesOf(await webhooks.call("PATCH", `/${client.endpointId}`, { json: { mode } })),
      );
    }
    for (const name of ["Mode", "delivery_mode", "modee"]) {
      const json = { url: service.receiver.url, [name]: "pull" };
      const found = issuesOf(await webhooks.call("POST", "", { json }));
      assert.deepEqual(found, { [name]: 'did you mean "mode"?' });
    }
    const temp = await webhooks.call("POST", "", { json: { url: service.receiver.url, Temporary: true } });
    assert.deepEqual(issuesOf(temp), { Temporary: 'did you mean "temporary"?' });
  });

  it("leaves the URL required and checked", async () => {
    assert.ok("url" in issuesOf(await webhooks.call("POST", "", { json: { mode: "pull" } })));
    const unsafe = await webhooks.call("POST", "", { json: { mode: "pull", url: "https://10.0.0.1/" } });
    assertRefused(unsafe, REFUSED.unsafeUrl);
  });

  it("is told in the audit log", async () => {
    const { endpoint } = await webhooks.create({ events: ["document.signed"] });
    await webhooks.update(endpoint.id, { mode: "pull" });
    const { body } = await service.call("GET", `/api/audit?endpoint_id=${endpoint.id}`);
    const [updated] = Object(body).entries;
    assert.deepEqual([updated.action, updated.details], ["endpoint.updated", { fields: ["mode"] }]);
  });
});
