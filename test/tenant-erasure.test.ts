/** A tenant is erased: every trace of it, of no other, and whoever is killed on the way. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import * as z from "zod";
import { erasureObject, tenantRowsObject } from "../src/api/tenant-schemas.ts";
import { openRolePools } from "../src/database/role-pools.ts";
import { makeErasureWorker } from "../src/tenants/erasure-worker.ts";
import { trashKey } from "../src/storage/bytes/own-keys.ts";
import { storageTenantId } from "../src/storage/rows/storage-ids.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { makeMetrics } from "../src/telemetry/metrics.ts";
import { seedMany, storageOf } from "./support/exports.ts";
import { startOnObjectStore, type OnObjectStore } from "./support/object-store.ts";
import { OPERATOR } from "./support/portal.ts";
import { createTestDatabase } from "./support/postgres.ts";
import { runProgram, sharedSettings, startProgram } from "./support/program.ts";
import type { Claims } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { filesWith, tablesWith } from "./support/traces.ts";
import { seedTwoTenants, snapshot, tenant, TENANT_TABLES } from "./support/two-tenants.ts";
import { prepareVersitygw } from "./support/versitygw.ts";
import { assertRefused, publish, REFUSED, webhooksOf } from "./support/webhooks.ts";

const MARKER = "Xq7Marker";
const TENANT = "erased-tenant";
const AS: Claims = { type: "user", tid: TENANT, sub: `${MARKER} ada`, role: "owner" };
const PUBLISHER: Claims = { type: "service", tid: TENANT, sub: "app", permissions: ["events:write"] };
const unavailable = prepareVersitygw();

const erase = (service: TestService, id: string, query = "") =>
  service.call("DELETE", `/api/tenants/${id}${query}`, { as: OPERATOR });

async function erasureOf(service: TestService, id: string) {
  const answer = await service.call("GET", `/api/tenants/${id}/erasure`, { as: OPERATOR });
  assert.equal(answer.status, 200, answer.text);
  return z.strictObject({ erasure: erasureObject }).parse(answer.body).erasure;
}

const waitForEnd = (service: TestService, id: string) =>
  eventually(async () => {
    const erasure = await erasureOf(service, id);
    return erasure.status === "finished" && erasure;
  });

/** Writes the marker wherever a tenant can write, by the API and by its receiver. */
async function leaveTraces(service: TestService): Promise<void> {
  const webhooks = webhooksOf(service, AS);
  const settings = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: 2 };
  await service.call("PUT", "/api/storage/settings", { as: AS, json: settings });
  const { endpoint } = await webhooks.create({
    url: `${service.receiver.url}/${MARKER}?q=${MARKER}`,
    description: MARKER,
    metadata: { note: MARKER },
    headers: { "X-Note": MARKER, Authorization: MARKER },
  });
  const other = await webhooks.create({ url: `${service.receiver.url}/${MARKER}/disabled` });
  await webhooks.update(other.endpoint.id, { enabled: false });
  await publish(service, { type: "invoice.paid", id: `${MARKER} key`, data: { note: MARKER } }, PUBLISHER);
  await webhooks.test(endpoint.id, "invoice.paid");
  await service.call("POST", "/api/portal/codes", {
    as: OPERATOR,
    json: { tenant_id: TENANT, sub: MARKER, role: "owner" },
  });
  await service.call("GET", `/api/webhooks/${endpoint.id}/${MARKER}`, { as: AS });
  const storage = storageOf(service, AS);
  await storage.waitFor(await storage.request());
  const artifacts = await eventually(async () => {
    const { items } = await storage.library();
    return items.length >= 5 && items;
  });
  const [artifact] = artifacts;
  assert.ok(artifact !== undefined);
  await storage.link(artifact);
}

/** What every place where a trace may be must hold before it is erased, for the search to mean something. */
async function proveErasure(
  service: TestService,
  folder: string,
  soil: (prefix: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const { pool } = service.database;
  await leaveTraces(service);
  await soil(`v1/t/${storageTenantId(tenant(TENANT))}/`);
  const withMarker = await tablesWith(pool, MARKER);
  for (const name of [
    "audit_log",
    "deliveries",
    "endpoints",
    "events",
    "idempotency_keys",
    "portal_sessions",
  ])
    assert.ok(withMarker.includes(name), `${name} has no marker to look for`);
  const uuid = storageTenantId(tenant(TENANT));
  assert.ok((await filesWith(folder, uuid)).length >= 5);
  const counted = await erase(service, TENANT, "?dry_run=true");
  assert.equal(counted.status, 200, counted.text);
  const { rows } = tenantRowsObject.parse(counted.body);
  assert.ok((rows["deliveries"] ?? 0) >= 2 && rows["endpoints"] === 2 && (rows["stored_objects"] ?? 0) >= 5);
  assert.deepEqual(await tablesWith(pool, MARKER), withMarker);

  const answer = await erase(service, TENANT);
  assert.equal(answer.status, 202, answer.text);
  const erasure = await waitForEnd(service, TENANT);
  assert.ok(erasure.rows > 10 && erasure.objects >= 5, JSON.stringify(erasure));
  assert.deepEqual(await tablesWith(pool, MARKER), []);
  assert.deepEqual(await tablesWith(pool, TENANT), ["audit_log", "tenant_erasures"]);
  const { rows: left } = await pool.query(
    "SELECT action, details FROM postern.audit_log WHERE tenant_id = $1",
    [TENANT],
  );
  assert.deepEqual(left, [{ action: "tenant.erased", details: {} }]);
  assert.deepEqual(await filesWith(folder, uuid), []);
  assert.deepEqual(await filesWith(folder, MARKER), []);
  assertRefused(await service.call("GET", `/api/tenants/${TENANT}`, { as: OPERATOR }), REFUSED.notFound);
}

/** Gives an object a later version, so that its own is an old one, and another a copy in the trash. */
async function soil({ client, bucket: Bucket }: OnObjectStore, Prefix: string): Promise<void> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  const [{ Key: one } = {}, { Key: other } = {}] = Contents;
  assert.ok(one !== undefined && other !== undefined);
  for (const Key of [one, trashKey(other, "2026-01-31T10:00:00.000Z")])
    await client.send(new PutObjectCommand({ Bucket, Key, Body: MARKER }));
}

describe("an erased tenant", () => {
  it("leaves no trace in any column of any table, nor in the folder", async () => {
    const service = await startTestService({ respond: () => ({ status: 500, body: MARKER }) });
    try {
      await proveErasure(service, join(service.env["DATA_DIR"] ?? "", "storage"));
    } finally {
      await service.stop();
    }
  });

  it("leaves no version in an object store, nor in its trash", { skip: unavailable ?? false }, async () => {
    const running = await startOnObjectStore({ respond: () => ({ status: 500, body: MARKER }) });
    try {
      await proveErasure(running.service, dirname(running.store.objects), (prefix) => soil(running, prefix));
    } finally {
      await running.stop();
    }
  });

  it("leaves no row in any table that has tenants, and no other tenant loses one", async () => {
    const database = await createTestDatabase();
    const pools = openRolePools(
      { url: database.url, poolSize: 4, applicationName: "postern test", connectionTimeoutMs: 5000 },
      { servesApi: false, works: true, relays: false },
    );
    const { acme, globex } = await seedTwoTenants(database.pool);
    await database.pool.query("DELETE FROM postern.tenant_erasures WHERE tenant_id = 'globex'");
    await database.pool.query(
      `INSERT INTO postern.delivery_stats SELECT tenant_id, endpoint_id, 60, at, cause, count, sent, latency_sum_ms,
        latency_max_ms, first_id, last_id FROM postern.delivery_counts`,
    );
    await database.pool.query(
      `INSERT INTO postern.delivery_totals SELECT tenant_id, 60, at, endpoint_id, 0, count, sent, latency_sum_ms,
        latency_max_ms FROM postern.delivery_counts`,
    );
    await database.pool.query(
      "INSERT INTO postern.newest_attempts SELECT tenant_id, endpoint_id, true, last_id FROM postern.delivery_counts",
    );
    await database.pool.query("UPDATE postern.stored_objects SET state_since = now() - interval '1 hour'");
    const earlier = await snapshot(database.pool, globex.tenantId);
    assert.deepEqual(
      (await tablesWith(database.pool, acme.tenantId)).filter((name) => !name.startsWith("storage_b")),
      [...TENANT_TABLES].sort(),
    );
    const worker = makeErasureWorker({
      db: pools.worker,
      eraseElsewhere: null,
      eraseObjects: async () => ({ erased: 0, trouble: null }),
      log: makeLog("silent"),
      metrics: makeMetrics(),
    });
    worker.start();
    await eventually(async () => {
      const { rows } = await database.pool.query("SELECT status FROM postern.tenant_erasures");
      return rows[0].status === "finished";
    });
    await worker.stop();
    // The job, and where the tenant lives or moves to.
    const left = ["shard_directory", "shard_tenants", "tenant_erasures", "tenant_moves"];
    assert.deepEqual(await tablesWith(database.pool, acme.tenantId), left);
    assert.equal(await snapshot(database.pool, globex.tenantId), earlier);
    await pools.close();
    await database.drop();
  });
});

describe("an erasure", () => {
  const ROWS = 12_000;
  let api: TestService;
  before(async () => {
    api = await startTestService({ roles: ["api"] });
  });
  after(() => api.stop());

  it("whose worker is killed in the middle is finished by another", async () => {
    const { database, receiver } = api;
    const env = {
      ...(await sharedSettings(database.url, receiver.caPem)),
      INTEGRATION_ENCRYPTION_KEY: api.env["INTEGRATION_ENCRYPTION_KEY"],
    };
    await seedMany(database.pool, "killed", ROWS);
    await database.pool.query(
      "INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count) VALUES ('killed', postern.uuid_v7(), 'a', '{}', 0)",
    );
    const holding = await database.pool.connect();
    await holding.query("BEGIN; SELECT FROM postern.events WHERE tenant_id = 'killed' FOR UPDATE");
    assert.equal((await erase(api, "killed")).status, 202);
    const doomed = await startProgram(["worker"], env);
    // The log is gone in steps that were committed, and the event's table cannot be.
    await eventually(async () => (await erasureOf(api, "killed")).rows >= 10_000);
    await doomed.end("SIGKILL");
    await holding.query("ROLLBACK");
    holding.release();
    assert.equal((await erasureOf(api, "killed")).status, "running");
    assert.ok((await tablesWith(database.pool, "killed")).includes("events"));
    await database.pool.query("UPDATE postern.tenant_erasures SET lease_until = now()");
    const heir = await startProgram(["worker"], env);
    await waitForEnd(api, "killed");
    await heir.end("SIGTERM");
    assert.deepEqual(await tablesWith(database.pool, "killed"), ["audit_log", "tenant_erasures"]);
  });

  it("by postern tenants counts, asks, and waits for the end", async () => {
    const { endpoint } = await webhooksOf(api, { ...AS, tid: "by-command" }).create();
    const command = (...args: string[]) =>
      runProgram(["tenants", ...args, "--url", api.url], { ...process.env, ...api.env });
    // As many more as one answer of the API holds.
    await api.database.pool.query(
      `INSERT INTO postern.endpoints
        SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'tenant_id', 'by-sql-' || n))).*
        FROM postern.endpoints e, generate_series(1, 100) n WHERE e.id = $1`,
      [endpoint.id],
    );
    const { printed } = await command("list", "--prefix", "by-");
    assert.match(printed, /^by-command {2}1 endpoints/m);
    assert.equal(new Set(printed.match(/^by-\S+/gm)).size, 101);
    assert.match((await command("show", "--tenant", "by-command", "--json")).output, /"enabled": 1/);
    assert.match((await command("erase", "--tenant", "by-command", "--dry-run")).output, /^endpoints: 1$/m);
    const unasked = await command("erase", "--tenant", "by-command");
    assert.equal(unasked.code, 1, unasked.output);
    assert.ok((await tablesWith(api.database.pool, endpoint.id)).includes("endpoints"));
    const worker = await startTestService({
      database: api.database,
      receiver: api.receiver,
      roles: ["worker"],
    });
    const { code, output } = await command("erase", "--tenant", "by-command", "--yes");
    await worker.stop();
    assert.equal(code, 0, output);
    assert.match(output, /^by-command is erased: [0-9]+ rows, 0 versions/m);
    assert.deepEqual(await tablesWith(api.database.pool, endpoint.id), []);
  });

  it("asked for again while it runs changes nothing, and begins anew once it has finished", async () => {
    const [one, two] = [await erase(api, "again"), await erase(api, "again")];
    assert.deepEqual(one.body, two.body);
    await api.database.pool.query(
      "UPDATE postern.tenant_erasures SET status = 'finished', finished_at = now(), rows_erased = 7 WHERE tenant_id = 'again'",
    );
    await erase(api, "again");
    const { status, rows, finished_at } = await erasureOf(api, "again");
    assert.deepEqual([status, rows, finished_at], ["running", 0, null]);
  });
});
