import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { readAppliedMigrations, readFunctionTexts } from "./migration-ledger.ts";

it("a database that Postern never had has no migration and no function's file", async (test) => {
  const database = await createTestDatabase({ migrated: false });
  test.after(() => database.drop());
  assert.deepEqual(await readAppliedMigrations(database.pool), []);
  assert.deepEqual(await readFunctionTexts(database.pool), new Map());
});

it("tells the applied migrations by their numbers and the texts of a function by their age, not as their rows lie", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  const read = await readAppliedMigrations(database.pool);
  await database.pool.query(
    `INSERT INTO postern.schema_migrations (version, name, sha256) VALUES (9001, 'late', ''), (0, 'early', '')`,
  );
  assert.deepEqual(await readAppliedMigrations(database.pool), [
    { version: 0, name: "early", sha256: "" },
    ...read,
    { version: 9001, name: "late", sha256: "" },
  ]);
  await database.pool.query(
    `INSERT INTO postern.schema_functions (id, file, sha256) OVERRIDING SYSTEM VALUE
      VALUES (9002, 'f.sql', 'second'), (9001, 'f.sql', 'first')`,
  );
  assert.deepEqual((await readFunctionTexts(database.pool)).get("f.sql"), ["first", "second"]);
});
