/**
 * A database whose restore ended half-way. A dump ends with what lets the roles
 * in, and has not the roles themselves: where these are missing, or where the
 * restore is cut off, there are all rows and all migrations, and no rights.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeSecrets, type Environment } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";
import { temporaryPath } from "./support/temporary.ts";

const CAUSE =
  /lacks rights of postern_tenant, postern_publisher, postern_worker, as after a restore that ended half-way/;
const REMEDY =
  /Drop the database, create an empty one, and restore the whole backup.*the roles must be there before/;

describe("a database whose restore ended half-way", () => {
  let database: TestDatabase;
  let env: Environment;
  before(async () => {
    database = await createTestDatabase();
    env = { ...makeSecrets(), DATABASE_URL: database.url, DATA_DIR: temporaryPath("data"), PORT: "0" };
    const { rows } = await database.pool.query<{ text: string }>(
      `SELECT format('DROP POLICY %I ON postern.%I', policyname, tablename) AS text
        FROM pg_policies WHERE schemaname = 'postern'`,
    );
    for (const { text } of rows) await database.pool.query(text);
    await database.pool.query(
      `REVOKE ALL ON SCHEMA postern FROM postern_tenant, postern_publisher, postern_worker, postern_producer`,
    );
  });
  after(() => database.drop());

  for (const command of ["up", "migrate"]) {
    it(`is refused by \`postern ${command}\`, with what to do`, async () => {
      const { code, output } = await runProgram([command], env);
      assert.equal(code, 1, output);
      assert.match(output, CAUSE);
      assert.match(output, REMEDY);
    });
  }

  it("is found by `postern doctor`", async () => {
    const { code, printed } = await runProgram(["doctor"], env);
    assert.equal(code, 1);
    assert.match(printed, /^fail {2}schema: The schema postern lacks rights of postern_tenant, /m);
    assert.match(printed, CAUSE);
    assert.match(printed, REMEDY);
  });

  it("is refused by its tables where not even the record of its migrations came", async () => {
    await database.pool.query("TRUNCATE postern.schema_migrations");
    const { code, output } = await runProgram(["migrate"], env);
    assert.equal(code, 1, output);
    assert.match(
      output,
      /has tables, and no record of their migrations, as after a restore that ended half-way/,
    );
    assert.match(output, REMEDY);
  });
});
