import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { isNumbered, readMigrations } from "./migration-files.ts";
import { migrate } from "./migrate.ts";
import { findPartial } from "./whole-schema.ts";

const FOLDER = join(import.meta.dirname, "../../../migrations");
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase({ migrated: false });
});
after(() => database.drop());

it("a schema is whole before its first migration, and after each", async () => {
  const migrations = (await readMigrations(FOLDER)).filter(isNumbered);
  for (let count = 0; count <= migrations.length; count++) {
    await migrate(database.pool, migrations.slice(0, count));
    assert.equal(await findPartial(database.pool), null, migrations[count - 1]?.file);
  }
});

// Those of the schema come first in a dump, and those of the tables in the order of their names.
it("a schema is partial where a restore ended among the rights", async () => {
  const { rows } = await database.pool.query<{ text: string }>(
    `SELECT format('REVOKE ALL ON postern.%I FROM postern_worker', tablename) AS text
      FROM pg_tables WHERE schemaname = 'postern' AND tablename > 'stored_objects'`,
  );
  for (const { text } of rows) await database.pool.query(text);
  const partial = await findPartial(database.pool);
  assert.match(
    partial?.detail ?? "whole",
    /^The schema postern lacks rights of postern_worker, as after a restore/,
  );
});
