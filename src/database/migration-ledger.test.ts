import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { readAppliedMigrations, readFunctionTexts } from "./migration-ledger.ts";

it("a database that Postern never had has no migration and no function's file", async (test) => {
  const database = await createTestDatabase({ migrated: false });
  test.after(() => database.drop());
  assert.deepEqual(await readAppliedMigrations(database.pool), []);
  assert.deepEqual(await readFunctionTexts(database.pool), new Map());
});
