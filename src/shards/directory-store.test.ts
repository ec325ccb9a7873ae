import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Db } from "../database/pool.ts";
import { isBeingMoved, placeTenants, readHomes, readResidents, settleTenants } from "./directory-store.ts";
import { insertMark } from "./join-store.ts";
import { findMisplaced } from "./misplaced.ts";

const [ACME, GLOBEX, INITECH] = [tenant("acme"), tenant("globex"), tenant("initech")];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
  await insertMark(database.pool, { name: "eu1", directory: null });
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.shard_tenants, postern.shard_directory"));

it("settles tenants in the shard that they were placed in, and not in a database that turns out to be another", async () => {
  await settleTenants(database.pool, "eu2", [ACME]);
  await settleTenants(database.pool, "eu1", [GLOBEX]);
  await database.pool.query("UPDATE postern.shard_tenants SET version = 3");
  await settleTenants(database.pool, "eu1", [INITECH, GLOBEX]);
  const { rows } = await database.pool.query(
    "SELECT tenant_id, version FROM postern.shard_tenants ORDER BY 1",
  );
  assert.deepEqual(rows, [
    { tenant_id: "globex", version: 3 },
    { tenant_id: "initech", version: 1 },
  ]);
});

it("reads residents page by page, without those that a move has fenced", async () => {
  await database.pool.query(
    "INSERT INTO postern.shard_tenants (tenant_id, version, fenced) VALUES ('acme', 1, false), ('globex', 2, true), ('hooli', 4, false), ('initech', 3, false)",
  );
  const [one, hooli] = [
    { tenantId: "acme", version: 1 },
    { tenantId: "hooli", version: 4 },
  ];
  assert.deepEqual(await readResidents(database.pool, "", 2), [one, hooli]);
  assert.deepEqual(await readResidents(database.pool, "hooli", 2), [{ tenantId: "initech", version: 3 }]);
});

it("places a tenant once, in the first shard where it has rows already, and finds those that are asked for", async () => {
  await database.pool.query("INSERT INTO postern.tenant_settings (tenant_id) VALUES ('acme')");
  const toEu2 = [INITECH, GLOBEX, ACME].map((tenantId) => ({ tenantId, shard: "eu2" }));
  await placeTenants(database.pool, "eu1", toEu2);
  await placeTenants(database.pool, "eu1", [{ tenantId: GLOBEX, shard: "eu3" }]);
  await database.pool.query("UPDATE postern.shard_directory SET version = 2 WHERE tenant_id = 'globex'");
  const homes = await readHomes(database.pool, [ACME, GLOBEX, tenant("umbrella")]);
  assert.deepEqual(Object.fromEntries(homes), {
    acme: { shard: "eu1", version: 1 },
    globex: { shard: "eu2", version: 2 },
  });
});

it("knows whether a move of this tenant is under way", async () => {
  await database.pool.query("INSERT INTO postern.tenant_moves VALUES ('acme', 'eu1', 'eu2')");
  assert.deepEqual(
    [await isBeingMoved(database.pool, ACME), await isBeingMoved(database.pool, GLOBEX)],
    [true, false],
  );
});

it("finds no tenant misplaced whose move switches while it looks", async () => {
  const { pool } = database;
  await pool.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('umbrella', 7)");
  const shard = { name: "eu1", db: pool };
  assert.deepEqual(await findMisplaced(pool, shard), [
    { tenantId: "umbrella", shard: "eu1", home: null, isDirectoryOlder: true },
  ]);
  const switching: Db = {
    query: async (text, values) => {
      await pool.query("UPDATE postern.shard_tenants SET fenced = true WHERE tenant_id = 'umbrella'");
      return pool.query(text, values);
    },
  };
  assert.deepEqual(await findMisplaced(switching, shard), []);
});
