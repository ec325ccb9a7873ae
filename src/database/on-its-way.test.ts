import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { notOnItsWay } from "./on-its-way.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("leaves out a tenant that is moving and fenced alone, not one that is but one of the two, lives here or is unknown", async () => {
  await database.pool.query(
    `INSERT INTO postern.shard_tenants (tenant_id, version, moving, fenced)
      VALUES ('here', 1, false, false), ('moving', 1, true, false), ('fenced', 1, false, true), ('both', 1, true, true)`,
  );
  const { rows } = await database.pool.query(
    `SELECT tenant.id FROM unnest($1::text[]) AS tenant (id) WHERE ${notOnItsWay("tenant.id")}`,
    [["unknown", "here", "moving", "fenced", "both"]],
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    ["unknown", "here", "moving", "fenced"],
  );
});
