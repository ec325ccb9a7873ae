import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { settleTenants } from "./directory-store.ts";
import { insertMark } from "./join-store.ts";

it("settles tenants in the shard that they were placed in, and not in a database that turns out to be another", async () => {
  const database = await createTestDatabase();
  await insertMark(database.pool, { name: "eu1", directory: null });
  await settleTenants(database.pool, "eu2", [tenant("acme")]);
  await settleTenants(database.pool, "eu1", [tenant("globex")]);
  const { rows } = await database.pool.query("SELECT tenant_id, version FROM postern.shard_tenants");
  assert.deepEqual(rows, [{ tenant_id: "globex", version: 1 }]);
  await database.drop();
});
