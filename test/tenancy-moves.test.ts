/** What a move asks of a shard, asked by a tenant's connection. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTenantPool } from "./support/tenant-pool.ts";
import type { TenantPool } from "../src/database/tenant-pool.ts";
import { isOfServer, ofMove } from "./support/move-queries.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { seedTwoTenants, snapshot } from "./support/two-tenants.ts";

let database: TestDatabase;
let tenants: TenantPool;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

describe("a query of a move", () => {
  for (const [name, run] of Object.entries(ofMove)) {
    it(`${name} changes nothing of another tenant and tells nothing of it`, async () => {
      const { acme, globex } = await seedTwoTenants(database.pool);
      const earlier = await snapshot(database.pool, acme.tenantId);
      // Most are refused.
      const answer = await run(tenants.of(globex.tenantId), acme.tenantId).catch(() => null);
      assert.equal(await snapshot(database.pool, acme.tenantId), earlier);
      const told = JSON.stringify(answer) ?? "";
      assert.ok(isOfServer(name) || ["", "null", "[]", "false", '"[]"'].includes(told), told);
    });
  }
});
