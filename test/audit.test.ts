/** The audit log: each thing that is done or refused leaves its entry, and no secret. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { auditExample } from "../src/api/examples.ts";
import { newTenant } from "./support/audit.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { steered } from "./support/receivers.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  issuesOf,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
} from "./support/webhooks.ts";

const AUTHORIZATION = "Bearer the-receivers-own-token";

const receiver = steered();
let database: TestDatabase;
let service: TestService;

before(async () => {
  database = await createTestDatabase();
  service = await startTestService({
    database,
    respond: receiver.respond,
    env: { RETRY_SCHEDULE: "0s,1h", DISABLE_AFTER: "1h" },
  });
});
after(async () => {
  await service.stop();
  await database.drop();
});

describe("what a user does", () => {
  it("is told once each, with who did it, where from and under which request", async () => {
    const { entries, webhooks, owner, tid } = newTenant(service);
    const created = await webhooks.call("POST", "", { json: { url: service.receiver.url } });
    assert.equal(created.status, 201);
    const [entry, ...others] = await entries();
    assert.deepEqual(others, []);
    const { id, at, endpoint_id, ...rest } = entry ?? {};
    assert.equal(endpoint_id, first(await webhooks.list()).id);
    assert.ok(id !== undefined && Math.abs(Date.parse(at ?? "") - Date.now()) < 60_000);
    assert.deepEqual(rest, {
      actor: { type: "user", sub: owner.sub },
      action: "endpoint.created",
      outcome: "done",
      details: { url: service.receiver.url, events: ["*"], enabled: true },
      request_id: created.headers.get("x-request-id"),
      address: "127.0.0.1",
    });
    const { rows } = await database.pool.query("SELECT tenant_id FROM postern.audit_log WHERE id = $1", [id]);
    assert.deepEqual(rows, [{ tenant_id: tid }]);
  });

  it("is told by its action, with the names of what changed and not their values", async () => {
    const { told, entries, webhooks } = newTenant(service);
    const { endpoint } = await webhooks.create();
    const url = `${service.receiver.url}in?token=abc`;
    await webhooks.update(endpoint.id, {
      url,
      headers: { Authorization: AUTHORIZATION },
      metadata: {},
      rate_limit: 5,
    });
    await webhooks.update(endpoint.id, { enabled: false, events: ["*"] });
    await webhooks.update(endpoint.id, { enabled: true });
    await webhooks.update(endpoint.id, {});
    await webhooks.rotate(endpoint.id, { grace_seconds: 60 });
    await webhooks.remove(endpoint.id);
    assert.deepEqual((await told()).slice(1), [
      [
        "endpoint.updated",
        { fields: ["headers", "metadata", "rate_limit", "url"], url: `${service.receiver.url}in?…` },
      ],
      // As the reference shows it.
      [auditExample.action, auditExample.details],
      ["endpoint.disabled", { reason: "manual" }],
      ["endpoint.enabled", {}],
      ["secret.rotated", { grace_seconds: 60 }],
      ["endpoint.deleted", {}],
    ]);
    assert.deepEqual([...new Set((await entries()).map(({ endpoint_id }) => endpoint_id))], [endpoint.id]);
  });

  it("includes tests and retries, with what came of them", async () => {
    const { told, webhooks } = newTenant(service);
    const { endpoint } = await webhooks.create();
    receiver.answer = () => {
      service.receiver.dropConnections();
      return undefined;
    };
    await webhooks.test(endpoint.id, "invoice.paid");
    receiver.answer = () => ({});
    const failed = first(await webhooks.deliveries(endpoint.id));
    const retried = await webhooks.retry(endpoint.id, failed.id);
    assert.deepEqual((await told()).slice(1), [
      ["endpoint.tested", { delivery_id: failed.id, event_type: "invoice.paid", status: "failed" }],
      ["delivery.retried", { delivery_id: failed.id, retry_id: retried.id, status: "delivered" }],
    ]);
  });

  it("is not told when nothing was done", async () => {
    const { told, webhooks, owner } = newTenant(service);
    assertRefused(await webhooks.call("DELETE", `/${UNKNOWN_ID}`), REFUSED.notFound);
    assertRefused(await webhooks.call("POST", `/${UNKNOWN_ID}/rotate-secret`), REFUSED.notFound);
    const json = { event_type: "invoice.paid" };
    assertRefused(await webhooks.call("POST", `/${UNKNOWN_ID}/test`, { json }), REFUSED.notFound);
    issuesOf(await webhooks.call("POST", "", { json: {} }));
    const member = { ...owner, role: "member" };
    assertRefused(await webhooks.call("POST", "", { as: member, json: {} }), REFUSED.forbidden);
    assert.deepEqual(await told(), []);
  });

  it("is told of a subject that no column would take as it is", async () => {
    const { tid, entries } = newTenant(service);
    const sub = `\u0000\ud800${"x".repeat(1000)}`;
    const as = { type: "user", tid, sub, role: "owner" };
    await webhooksOf(service, as).create();
    assert.equal(first(await entries()).actor.sub, `\uFFFD\uFFFD${"x".repeat(254)}`);
  });
});

describe("what is refused", () => {
  it("includes URLs that are not public, by operation and rule", async () => {
    const { told, webhooks } = newTenant(service);
    const { endpoint, secret } = await webhooks.create();
    for (const url of [`https://ada:${secret}@10.0.0.1/x?key=${secret}`, "https://10.0.0.1/\u0000\ud800"]) {
      assertRefused(await webhooks.call("POST", "", { json: { url } }), REFUSED.unsafeUrl);
    }
    const json = { url: "https://169.254.169.254/latest" };
    assertRefused(await webhooks.call("PATCH", `/${endpoint.id}`, { json }), REFUSED.unsafeUrl);
    await database.pool.query("UPDATE postern.endpoints SET url = 'https://10.0.0.1/in' WHERE id = $1", [
      endpoint.id,
    ]);
    const test = { event_type: "invoice.paid" };
    assertRefused(await webhooks.call("POST", `/${endpoint.id}/test`, { json: test }), REFUSED.unsafeUrl);
    const refused = (await told()).slice(1);
    assert.deepEqual(
      refused.map(([action]) => action),
      Array.from({ length: 4 }, () => "url.refused"),
    );
    const details = refused.map(([, detail]) => Object(detail));
    assert.deepEqual(
      details.map(({ operation, url }) => [operation, url]),
      [
        ["create", "https://…@10.0.0.1/x?…"],
        ["create", "https://10.0.0.1/\uFFFD"],
        ["update", "https://169.254.169.254/latest"],
        ["test", "https://10.0.0.1/in"],
      ],
    );
    assert.ok(details.every(({ rule }) => typeof rule === "string" && rule !== ""));
    assert.equal(details[2].rule, "metadata_address");
  });

  it("is counted where it may be frequent: failed authentications, limits, attempts at private addresses", async (test) => {
    const { tid, owner } = newTenant(service);
    // Of its own: the other service's worker would make the attempts too.
    const counted = await createTestDatabase();
    test.after(() => counted.drop());
    const counting = await startTestService({
      database: counted,
      receiver: service.receiver,
      env: {
        ...service.env,
        DATABASE_URL: counted.url,
        RATE_LIMIT_WRITES: "1",
        RATE_LIMIT_AUTH: "2",
        RETRY_SCHEDULE: "0s,1ms,1ms",
      },
    });
    const webhooks = webhooksOf(counting, owner);
    const { endpoint } = await webhooks.create();
    for (let again = 0; again < 3; again++) await webhooks.call("DELETE", `/${UNKNOWN_ID}`);
    for (let again = 0; again < 5; again++) await counting.call("GET", "/api/webhooks", { as: null });
    await counted.pool.query("UPDATE postern.endpoints SET url = 'https://10.0.0.1/in' WHERE id = $1", [
      endpoint.id,
    ]);
    await publish(
      counting,
      { type: "invoice.paid" },
      { type: "service", tid, permissions: ["events:write"] },
    );
    await webhooks.waitFor(endpoint.id, "failed", 3);
    await counting.stop();

    const { rows } = await counted.pool.query(
      `SELECT tenant_id, action, actor_type, endpoint_id, outcome, address, details - 'first_at' - 'last_at' AS details
        FROM postern.audit_log
        WHERE action IN ('authentication.failed', 'limit.reached') OR (action = 'url.refused' AND tenant_id = $1)
        ORDER BY action, details ->> 'limit' DESC`,
      [tid],
    );
    const unknown = { actor_type: "unknown", endpoint_id: null, outcome: "refused", address: "127.0.0.1" };
    const authentications = { limit: "authentications", count: 3 };
    assert.deepEqual(rows, [
      { ...unknown, tenant_id: null, action: "authentication.failed", details: { count: 5 } },
      { ...unknown, tenant_id: tid, action: "limit.reached", details: { limit: "writes", count: 3 } },
      { ...unknown, tenant_id: null, action: "limit.reached", details: authentications },
      {
        tenant_id: tid,
        action: "url.refused",
        actor_type: "postern",
        endpoint_id: endpoint.id,
        outcome: "refused",
        address: null,
        details: { operation: "attempt", url: "https://10.0.0.1/in" },
      },
    ]);
  });
});

describe("what Postern does by itself", () => {
  it("includes disabling an endpoint, once, with the reason", async () => {
    const { tid, webhooks, entries } = newTenant(service);
    const producer = { type: "service", tid, permissions: ["events:write"] };
    const gone = await webhooks.create({ events: ["invoice.paid"] });
    receiver.answer = () => ({ status: 410 });
    await publish(service, { type: "invoice.paid" }, producer);
    await eventually(async () => !(await webhooks.detail(gone.endpoint.id)).endpoint.enabled);
    const failing = await webhooks.create({ events: ["document.signed"] });
    await database.pool.query(
      "UPDATE postern.endpoints SET failing_since = now() - interval '2 hours' WHERE id = $1",
      [failing.endpoint.id],
    );
    receiver.answer = () => ({ status: 500 });
    await publish(service, { type: "document.signed" }, producer);
    await eventually(async () => !(await webhooks.detail(failing.endpoint.id)).endpoint.enabled);
    receiver.answer = () => ({});
    const found = (await entries("?action=endpoint.disabled")).toReversed();
    assert.deepEqual(
      found.map(({ actor, endpoint_id, outcome, details, address, request_id }) => {
        return { actor, endpoint_id, outcome, details, address, request_id };
      }),
      [[gone, "gone"] as const, [failing, "failing"] as const].map(([{ endpoint }, reason]) => ({
        actor: { type: "postern", sub: null },
        endpoint_id: endpoint.id,
        outcome: "done",
        details: { reason, url: service.receiver.url },
        address: null,
        request_id: null,
      })),
    );
  });
});

describe("the audit log", () => {
  it("holds no secret after all of this", async () => {
    const { webhooks } = newTenant(service);
    const { endpoint, secret } = await webhooks.create({ headers: { Authorization: AUTHORIZATION } });
    const rotated = await webhooks.rotate(endpoint.id);
    const token = await service.token({ type: "user", tid: "acme", sub: "ada", role: "owner" });
    for (const url of [`https://${secret}@x.example.com/`, `https://10.0.0.1/${rotated}?${secret}`]) {
      await webhooks.call("POST", "", { json: { url } });
    }
    await service.call("GET", "/api/webhooks", { as: null, headers: { authorization: `Bearer ${token}x` } });
    const { rows } = await database.pool.query("SELECT to_jsonb(a)::text AS text FROM postern.audit_log a");
    const text = rows.map((row) => String(row["text"])).join("\n");
    assert.ok(rows.length >= 20, String(rows.length));
    const keys = [service.env["INTEGRATION_ENCRYPTION_KEY"], service.env["SESSION_JWT_SECRET"], token];
    for (const hidden of [secret, rotated, secret.slice(6), rotated.slice(6), AUTHORIZATION, ...keys]) {
      assert.ok(hidden !== undefined && !text.includes(hidden), hidden);
    }
  });

  it("forgets what is older than a year, and nothing younger", async () => {
    const { tid, entries, webhooks } = newTenant(service);
    await webhooks.create();
    const add = (age: string) =>
      database.pool.query(
        `INSERT INTO postern.audit_log
          SELECT $1, (left(postern.lowest_id_at(now() - $2::interval)::text, 13)
            || right(gen_random_uuid()::text, 23))::uuid, now() - $2::interval, 'user', 'old', 'endpoint.created',
            NULL, 'done', '{}'`,
        [tid, age],
      );
    await add("366 days");
    await add("364 days");
    assert.equal((await entries()).length, 3);
    const { rows } = await database.pool.query("SELECT postern.forget_old_audit() AS removed");
    assert.deepEqual(rows, [{ removed: 1 }]);
    assert.equal((await entries()).length, 2);
  });
});
