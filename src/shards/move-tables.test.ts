import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { AT_SWITCH, CHANGING, GROWING, LEFT, PENDING } from "./move-tables.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describe("the tables of a move", () => {
  it("are all that have rows of tenants, each once", async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      "SELECT DISTINCT name FROM postern.tables_of_tenants()",
    );
    assert.deepEqual(
      [...CHANGING, ...GROWING, ...PENDING, ...AT_SWITCH, ...LEFT].toSorted(),
      rows.map(({ name }) => name).toSorted(),
    );
  });

  it("have the tenant in their key where changes are copied, in partitions that are made later too", async () => {
    await database.pool.query("SELECT postern.ensure_partitions(current_date - 3, current_date + 3)");
    const { rows } = await database.pool.query<{ place: string }>(
      `SELECT t.place::text AS place FROM postern.tables_of_tenants() t JOIN pg_class c ON c.oid = t.place
        WHERE t.name = ANY ($1) AND NOT (c.relreplident = 'd' AND EXISTS (
          SELECT FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
          WHERE k.conrelid = t.place AND k.contype = 'p' AND a.attname = 'tenant_id'))`,
      [[...CHANGING, ...PENDING]],
    );
    assert.deepEqual(rows, []);
  });

  it("have no ids that two shards could give out twice", async () => {
    const { rows } = await database.pool.query(
      `SELECT t.place::text FROM postern.tables_of_tenants() t JOIN pg_attribute a ON a.attrelid = t.place
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE t.name = ANY ($1) AND (a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%')`,
      [[...CHANGING, ...GROWING, ...PENDING, ...AT_SWITCH]],
    );
    assert.deepEqual(rows, []);
  });
});
