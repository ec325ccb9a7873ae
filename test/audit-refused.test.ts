/** The audit log of a tenant whose callers try ids that it does not have, or do what they may not. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createEndpoint } from "./support/api.ts";
import { newTenant } from "./support/audit.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import type { Claims } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { UNKNOWN_ID } from "./support/webhooks.ts";

const HERE = "127.0.0.1";
let database: TestDatabase;
let reader: TestService;

before(async () => {
  database = await createTestDatabase();
  reader = await startTestService({ database, roles: ["api"] });
});
after(async () => {
  await reader.stop();
  await database.drop();
});

/** What a process has added to the tenant's log of refused calls, once it has stopped: all of one minute. */
async function refusedCalls(
  calls: (service: TestService, tenant: ReturnType<typeof newTenant>) => Promise<void>,
) {
  const tenant = newTenant(reader);
  const service = await startTestService({ database, roles: ["api"] });
  await calls(service, tenant);
  await service.stop();
  const entries = await tenant.entries("?action=access.refused&limit=100");
  const brief = entries.map(({ actor, address, details, endpoint_id, outcome }) => {
    const { route, status, count, first_at, last_at, ...more } = details;
    assert.deepEqual([endpoint_id, outcome, more], [null, "refused", {}]);
    assert.ok(String(first_at) <= String(last_at));
    return [actor.sub, address, route, status, count];
  });
  return { tenant, entries, brief: brief.sort((left, right) => (text(left) < text(right) ? -1 : 1)) };
}

const text = (value: unknown): string => JSON.stringify(value);

/** Statuses of these calls as a caller, in order. */
async function statuses(service: TestService, as: Claims, calls: readonly (readonly [string, string])[]) {
  const found: number[] = [];
  for (const [method, path] of calls) found.push((await service.call(method, path, { as })).status);
  return found;
}

describe("calls that are refused", () => {
  it("for another tenant's ids are one entry of the caller's tenant per route, the same as for ids of nobody", async () => {
    const other = newTenant(reader);
    const { endpoint } = await createEndpoint(reader, { url: reader.receiver.url }, { as: other.owner });
    const { tenant, entries, brief } = await refusedCalls(async (service, { owner }) => {
      const probes = [endpoint.id, UNKNOWN_ID, randomUUID(), "no-id"].map(
        (id) => ["GET", `/api/webhooks/${id}`] as const,
      );
      assert.deepEqual(await statuses(service, owner, probes), [404, 404, 404, 404]);
      const others = [
        ["POST", `/api/webhooks/${endpoint.id}/deliveries/${UNKNOWN_ID}/retry`],
        ["GET", `/api/storage/exports/${UNKNOWN_ID}`],
      ] as const;
      assert.deepEqual(await statuses(service, owner, others), [404, 404]);
      const [from, to] = ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"];
      const json = { endpoint_id: endpoint.id, from, to };
      assert.equal((await service.call("POST", "/api/replays", { as: owner, json })).status, 404);
    });
    assert.deepEqual(brief, [
      ["ada", HERE, "GET /api/storage/exports/:export_id", 404, 1],
      ["ada", HERE, "GET /api/webhooks/:id", 404, 4],
      ["ada", HERE, "POST /api/replays", 404, 1],
      ["ada", HERE, "POST /api/webhooks/:id/deliveries/:did/retry", 404, 1],
    ]);
    for (const id of [endpoint.id, UNKNOWN_ID]) assert.ok(!text(entries).includes(id), id);
    assert.deepEqual(await other.told(), [["endpoint.created", (await other.entries())[0]?.details]]);
    const { rows } = await database.pool.query(
      "SELECT DISTINCT tenant_id FROM postern.audit_log WHERE action = 'access.refused'",
    );
    assert.deepEqual(rows, [{ tenant_id: tenant.tid }]);
  });

  it("since a member does an owner's work, or a backend has no permission, are told with who it was", async () => {
    const { brief } = await refusedCalls(async (service, { tid, owner }) => {
      const { endpoint } = await createEndpoint(service, { url: service.receiver.url }, { as: owner });
      const member: Claims = { type: "user", tid, sub: "max", role: "member" };
      const admin: Claims = { type: "user", tid, sub: "eve", role: "admin" };
      const work = [
        ["DELETE", `/api/webhooks/${endpoint.id}`],
        ["DELETE", `/api/webhooks/${UNKNOWN_ID}`],
        ["GET", "/api/audit"],
        ["HEAD", "/api/audit"],
        ["HEAD", "/api/audit/"],
      ] as const;
      assert.deepEqual(await statuses(service, member, work), [403, 403, 403, 403, 403]);
      const rotation = [["POST", `/api/webhooks/${endpoint.id}/rotate-secret`]] as const;
      assert.deepEqual(await statuses(service, admin, rotation), [403]);
      const backend: Claims = { type: "service", tid, sub: "app", permissions: [] };
      assert.deepEqual(await statuses(service, backend, [["POST", "/api/events"]]), [403]);
    });
    assert.deepEqual(brief, [
      ["eve", HERE, "POST /api/webhooks/:id/rotate-secret", 403, 1],
      ["max", HERE, "DELETE /api/webhooks/:id", 403, 2],
      ["max", HERE, "GET /api/audit", 403, 1],
      ["max", HERE, "HEAD /api/audit", 403, 2],
      [null, HERE, "POST /api/events", 403, 1],
    ]);
  });

  it("are not counted for unknown paths, wrong methods, bad input and failed authentications", async () => {
    const { entries } = await refusedCalls(async (service, { owner }) => {
      const calls = [
        ["GET", "/api/webhooks/x/y/z"],
        ["PUT", "/api/webhooks"],
        ["POST", "/api/webhooks"],
      ] as const;
      assert.deepEqual(await statuses(service, owner, calls), [404, 405, 400]);
      assert.equal((await service.call("GET", `/api/webhooks/${UNKNOWN_ID}`, { as: null })).status, 401);
    });
    assert.deepEqual(entries, []);
  });

  it("by very many callers share an entry, and none is uncounted", async () => {
    const { brief } = await refusedCalls(async (service, { tid }) => {
      for (let number = 0; number < 70; number++) {
        const member: Claims = { type: "user", tid, sub: `member-${number}`, role: "member" };
        assert.deepEqual(await statuses(service, member, [["GET", "/api/audit"]]), [403]);
      }
    });
    assert.equal(brief.length, 51);
    assert.deepEqual(
      brief.filter(([sub]) => sub === null),
      [[null, null, "GET /api/audit", 403, 20]],
    );
  });
});
