import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runHere } from "../../test/support/command.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets } from "../config.ts";

const settings = { ...makeSecrets(), DATA_DIR: temporaryPath("data") };

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
        assert.equal(
          errors,
          `Database: ${pathname.slice(1)} on ${host}.\npostern:\n  the database's schema is older than this program: run postern migrate first\n`,
        );
      }
    } finally {
      await database.drop();
    }
  });
});
