/** What is done for the operator, of any tenant: see tenancy-queries.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/database/pool.ts";
import * as tenants from "../../src/tenants/tenant-store.ts";
import * as shardQueries from "./shard-queries.ts";
import { LEASE_OWNER, tenant } from "./two-tenants.ts";

const run = { tenantId: tenant("acme"), leaseOwner: LEASE_OWNER, requestedAt: new Date() };

export const forServices: Record<string, (db: Db) => Promise<unknown>> = {
  ...shardQueries.forServices,
  listTenants: async (db) => {
    const page = await tenants.listTenants(db, { prefix: "", after: "acme", limit: 5 });
    assert.deepEqual(
      page.map(({ id }) => id),
      ["globex"],
    );
  },
  countTenantRows: async (db) => {
    const counted = await tenants.countTenantRows(db, run.tenantId, 10);
    assert.equal(counted.get("deliveries"), 1);
    assert.equal(counted.get("endpoints"), 1);
  },
  insertErasure: async (db) => {
    assert.equal(await tenants.insertErasure(db, run.tenantId), false);
    assert.equal(await tenants.insertErasure(db, tenant("initech")), true);
  },
  insertErasurePart: async (db) => {
    const of = { ...run, tenantId: tenant("initech") };
    await tenants.insertErasurePart(db, of, { name: "eu1", directory: randomUUID() });
    // This database is no shard.
    assert.equal(await tenants.findErasure(db, of.tenantId), null);
  },
  reopenErasurePart: async (db) => {
    const requestedAt = new Date("2026-01-01T00:00:00Z");
    await db.query(
      "UPDATE postern.tenant_erasures SET status = 'finished', requested_at = $1, finished_at = now()",
      [requestedAt],
    );
    await tenants.reopenErasurePart(db, { tenantId: run.tenantId, requestedAt });
    assert.equal((await tenants.findErasure(db, run.tenantId))?.status, "running");
    assert.equal((await tenants.findErasure(db, tenant("globex")))?.status, "finished");
  },
  lockHolds: async (db) => {
    assert.equal((await tenants.lockHolds(db, run.tenantId)).count, 0);
  },
  findErasure: async (db) => {
    assert.equal((await tenants.findErasure(db, run.tenantId))?.status, "running");
  },
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  ...shardQueries.acrossTenants,
  claimErasure: (db) => tenants.claimErasure(db, LEASE_OWNER, 1000),
  lockErasure: (db) => tenants.lockErasure(db, run),
  eraseTenantRows: (db) => tenants.eraseTenantRows(db, run.tenantId, { most: 3, withObjects: true }),
  isHandingOver: async (db) => {
    assert.equal(await tenants.isHandingOver(db, run.tenantId), true);
    assert.equal(await tenants.isHandingOver(db, tenant("initech")), false);
  },
  isUploading: (db) => tenants.isUploading(db, run.tenantId, 60),
  listBucketsOf: (db) => tenants.listBucketsOf(db, run.tenantId),
  releaseErasure: (db) => tenants.releaseErasure(db, run, { delayMs: 0, objects: 0, trouble: null }),
  finishErasure: (db) => tenants.finishErasure(db, run, { rows: 0, objects: 0 }),
};
