/** A command that works on the database beside a service says which one it is. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeSecrets } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { runProgram } from "./support/program.ts";

const secrets = makeSecrets();
let database: TestDatabase;
let folder: string;

before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "postern-command-"));
  // Open to the user as whom PostgreSQL runs when the tests run as root.
  await chmod(folder, 0o711);
});
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe("a command on a database", () => {
  it("names it on standard error, so that a script reads no more than the answer", async () => {
    const { host, pathname, password } = new URL(database.url);
    for (const command of [
      ["keys", "status", "--json"],
      ["audit", "--json"],
      ["storage", "trash", "list", "--json"],
    ]) {
      const env = { ...secrets, DATABASE_URL: database.url, DATA_DIR: folder };
      const { code, printed, errors } = await runProgram(command, env);
      assert.equal(code, 0, errors);
      assert.equal(errors, `Database: ${pathname.slice(1)} on ${host}.\n`);
      assert.ok(Array.isArray(JSON.parse(printed)), printed);
      assert.ok(password !== "" && !errors.includes(password));
    }
  });

  it("names an embedded one by its folder before it works on it, and stops its server", async () => {
    const { code, errors } = await runProgram(["keys", "status"], { ...secrets, DATA_DIR: folder });
    assert.equal(code, 1);
    assert.match(errors, new RegExp(`^Database: embedded, in ${folder}/postgres\\.\n`));
    assert.match(errors, /the database's schema is older than this program: run postern migrate first/);
    const migrated = await runProgram(["migrate"], { ...secrets, DATA_DIR: folder });
    assert.equal(migrated.code, 0, migrated.errors);
    assert.match(
      migrated.printed,
      /^Database: embedded, in .+\n(?:applied .+\n)+The schema is now up to date\.\n$/,
    );
    // Its server was started for it alone.
    assert.equal(existsSync(join(folder, "postgres", "data", "postmaster.pid")), false);
  });
});
