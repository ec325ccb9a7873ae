import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { openSession } from "./session.ts";

it(
  "a session has ended once the database has ended it, and once it was closed",
  { timeout: 20_000 },
  async (test) => {
    const database = await createTestDatabase();
    test.after(() => database.drop());
    const open = () =>
      openSession({ url: database.url, role: "postern_worker", applicationName: "test of a session" });
    const [ended, closed] = [await open(), await open()];
    const { rows } = await ended.query("SELECT pg_backend_pid() AS pid, current_user AS name");
    assert.equal(rows[0]?.["name"], "postern_worker");
    await database.pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.["pid"]]);
    await ended.ended;
    await closed.close();
    await closed.ended;
  },
);
