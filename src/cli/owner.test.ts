import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { Pool } from "pg";
import { runHere } from "../../test/support/command.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets } from "../config.ts";

const settings = { ...makeSecrets(), DATA_DIR: temporaryPath("data") };

const older = (what: string) =>
  `postern:\n  ${what}'s schema is older than this program: run postern migrate first\n`;

describe("a command for all tenants", () => {
  it("does nothing on a schema that is older than the program, be it by one migration", async () => {
    const database = await createTestDatabase();
    const { host, pathname } = new URL(database.url);
    await database.pool.query(
      "DELETE FROM postern.schema_migrations WHERE version = (SELECT max(version) FROM postern.schema_migrations)",
    );
    try {
      for (const words of [["audit"], ["keys", "status"], ["keys", "rotate"]]) {
        const { code, printed, errors } = await runHere(words, { ...settings, DATABASE_URL: database.url });
        assert.deepEqual([code, printed], [1, ""], words.join(" "));
        assert.equal(errors, `Database: ${pathname.slice(1)} on ${host}.\n${older("the database")}`);
      }
    } finally {
      await database.drop();
    }
  });

  it("does nothing on a database without the schema, and says so", async () => {
    const database = await createTestDatabase({ migrated: false });
    const { host, pathname } = new URL(database.url);
    const named = `${pathname.slice(1)} on ${host}`;
    const SHARDS = `eu1=${database.url}|eu2=${new URL("/other", database.url).href}`;
    try {
      for (const words of [
        ["audit"],
        ["storage", "doctor"],
        ["storage", "own"],
        ["storage", "reconcile", "--dry-run"],
        ["storage", "trash", "list", "--all"],
        ["storage", "adopt", "--dry-run"],
        ["storage", "hold", "--tenant", "acme", "--object", randomUUID()],
        ["storage", "erase", "--tenant", "acme", "--all", "--yes"],
      ]) {
        const { code, printed, errors } = await runHere(words, { ...settings, DATABASE_URL: database.url });
        assert.deepEqual([code, printed], [1, ""], words.join(" "));
        assert.equal(errors, `Database: ${named}.\n${older("the database")}`, words.join(" "));
      }
      const moving = await runHere(["tenants", "move", "acme", "--to", "eu2"], { ...settings, SHARDS });
      assert.deepEqual([moving.code, moving.printed], [1, ""]);
      assert.equal(
        moving.errors,
        `Database: eu1: ${named}; eu2: other on ${host}.\n${older("the shard eu1")}`,
      );
    } finally {
      await database.drop();
    }
  });

  it("is named where the server lists connections, and ends its own", async (test) => {
    const database = await createTestDatabase();
    test.after(() => database.drop());
    const end = test.mock.method(Pool.prototype, "end");
    const ended = () => end.mock.calls.map((call) => Object(call.this).options.application_name);
    for (const [words, name] of [
      [["audit"], "postern audit"],
      [["keys", "status"], "postern keys status"],
      [["keys", "rotate"], "postern keys rotate"],
    ] as const) {
      const { code } = await runHere([...words], { ...settings, DATABASE_URL: database.url });
      assert.equal(code, 0, name);
      assert.ok(ended().includes(name), name);
    }
  });
});
