/** What is stored for a tenant that is erased while a process is about to store it: nothing, since no erasure would find it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, it } from "node:test";
import { makeArtifactKeeper } from "../src/storage/artifacts/artifact-keeper.ts";
import type { Bucket } from "../src/storage/bytes/bucket.ts";
import { runExport } from "../src/storage/exports/export-run.ts";
import { claimExport, insertExport } from "../src/storage/exports/export-store.ts";
import { newDeliveryId, newEndpointId, newExportId } from "../src/shared/id.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { makeMetrics } from "../src/telemetry/metrics.ts";
import { finishErasure, insertErasure } from "../src/tenants/tenant-store.ts";
import { openArtifacts, type Artifacts } from "./support/artifacts.ts";
import { eventually } from "./support/eventually.ts";
import { seedDeliveries } from "./support/exports.ts";
import { tenant } from "./support/two-tenants.ts";

const ACME = tenant("acme");
const LIMITS = { pageRows: 2, pageBodyBytes: 1024 * 1024, partRows: 4, partBytes: 1024 * 1024 };
const LEASE_MS = 60_000;

let artifacts: Artifacts;
before(async () => {
  artifacts = await openArtifacts();
});
beforeEach(() => artifacts.reset());
afterEach(() => artifacts.pool.query("DELETE FROM postern.tenant_erasures"));
after(() => artifacts.close());

async function erase(): Promise<void> {
  await insertErasure(artifacts.pool, ACME);
  await artifacts.pool.query("SELECT postern.erase_tenant_rows($1, 1000, true)", [ACME]);
  const run = { tenantId: ACME, leaseOwner: randomUUID(), requestedAt: new Date() };
  await finishErasure(artifacts.pool, run, { rows: 0, objects: 0 });
}

async function stored(): Promise<{ rows: number; objects: number }> {
  const { rows } = await artifacts.pool.query("SELECT FROM postern.stored_objects");
  const { objects } = await artifacts.services.bucket.list({ after: null, limit: 1000 });
  return { rows: rows.length, objects: objects.length };
}

it("no body that a process has read before the erasure", async () => {
  const { services, pool } = artifacts;
  const [id, endpointId] = [newDeliveryId(), newEndpointId()];
  await seedDeliveries(pool, ACME, [{ id, endpoint_id: endpointId }]);
  let isErased = false;
  const db = services.tenants.of(ACME);
  const query = async (text: string, values: unknown[]) => {
    const result = await db.query(text, values);
    if (!isErased) await erase();
    isErased = true;
    return result;
  };
  const of = () => Object.create(db, { query: { value: query } });
  const tenants = Object.create(services.tenants, { of: { value: of } });
  const parts = { planDays: 30, log: makeLog("silent"), metrics: makeMetrics() };
  const keeper = makeArtifactKeeper({ ...services, ...parts, tenants });
  const noted = { tenantId: ACME, endpointId, id, attempt: 1 };
  await keeper.note(pool, noted, { requestBody: true, responseBody: null, days: null });
  keeper.start();
  await eventually(async () => isErased);
  await keeper.stop();
  assert.deepEqual(await stored(), { rows: 0, objects: 0 });
});

it("no archive of an export that was staged before the erasure", async () => {
  const { services, pool, dataDir } = artifacts;
  const folder = join(dataDir, "staging", randomUUID());
  const run = async (erases: boolean, bucket: Bucket) => {
    await pool.query("UPDATE postern.storage_exports SET lease_until = now() WHERE lease_until IS NOT NULL");
    const leased = await claimExport(pool, randomUUID(), LEASE_MS);
    assert.ok(leased !== null);
    if (erases) await erase();
    const { signal } = new AbortController();
    return runExport({ ...services, bucket, limits: LIMITS, leaseMs: LEASE_MS }, leased, { folder, signal });
  };
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date()];
  const filter = { endpointId: null, eventType: null, deliveryStatus: null };
  const asked = {
    tenantId: ACME,
    id: newExportId(),
    requestedBy: "ada",
    from,
    to,
    formats: ["ndjson" as const],
  };
  assert.ok(await insertExport(pool, { ...asked, ...filter }));
  const away = { ...services.bucket, put: () => Promise.reject(new Error("away")) };
  await assert.rejects(run(false, away), { message: "away" });
  await assert.rejects(run(true, services.bucket));
  await rm(folder, { recursive: true, force: true });
  assert.deepEqual(await stored(), { rows: 0, objects: 0 });
});
