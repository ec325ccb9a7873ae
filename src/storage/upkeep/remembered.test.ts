import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { addBucket, readDestroyed, recordDestroyed } from "./owner-store.ts";
import { readStorageTroubles, writeCursor } from "./reconcile-store.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describe("what was destroyed in a bucket", () => {
  it("counts for a day in all passes, and in its own however long that takes", async () => {
    const { pool } = database;
    const [earlier, own] = [randomUUID(), randomUUID()];
    await addBucket(pool, "artifacts");
    const record = async (runId: string, number: number, age: string) => {
      await recordDestroyed(pool, "artifacts", { runId, number });
      await pool.query(
        `UPDATE postern.storage_destroyed SET at = now() - $2::interval WHERE number = $1 AND bucket = 'artifacts'`,
        [number, age],
      );
    };
    await record(earlier, 1, "25 h");
    await record(earlier, 2, "23 h");
    await record(own, 4, "3 d");
    await recordDestroyed(pool, "other", { runId: own, number: 8 });
    await recordDestroyed(pool, "artifacts", { runId: own, number: 16 });
    assert.deepEqual(await readDestroyed(pool, "artifacts", own), { inPass: 20, inDay: 18, known: 0 });
  });
});

describe("a pass that waits for an operator", () => {
  it("is shown to wait since it was halted first, and no more once it goes on", async () => {
    const { pool } = database;
    const halted = { runId: randomUUID(), afterKey: null, haltedReason: "too much" };
    await writeCursor(pool, "artifacts", halted);
    await pool.query(`UPDATE postern.storage_cursor SET halted_at = now() - interval '2 h'`);
    const since = (await readStorageTroubles(pool, "artifacts")).haltedAt;
    await writeCursor(pool, "artifacts", { ...halted, haltedReason: "far too much" });
    const { haltedAt, haltedReason } = await readStorageTroubles(pool, "artifacts");
    assert.deepEqual([haltedAt, haltedReason], [since, "far too much"]);
    await writeCursor(pool, "artifacts", { ...halted, haltedReason: null });
    assert.equal((await readStorageTroubles(pool, "artifacts")).haltedAt, null);
  });
});
