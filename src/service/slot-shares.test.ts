import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { pretend } from "../../test/support/pretended-server.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { readSlotShares } from "./slot-shares.ts";

let database: TestDatabase;
/** Of a server that did not start just now: a worker without its lock is gone. */
let db: Pool;
before(async () => {
  database = await createTestDatabase();
  const aDayAgo = "FUNCTION pg_postmaster_start_time() RETURNS timestamptz RETURN now() - interval '1 day'";
  const { url } = await pretend(database, [aDayAgo]);
  db = createPool({ url, poolSize: 1, applicationName: "postern test", connectionTimeoutMs: 5000 });
});
after(async () => {
  await db.end();
  await database.drop();
});

it("the slots that each living worker has are counted, the most first, and those that none has", async () => {
  // They are read in this order.
  const [few = "", gone = "", many = ""] = [randomUUID(), randomUUID(), randomUUID()].toSorted();
  assert.deepEqual(await readSlotShares(db), { parts: [], unowned: 256 });
  await database.pool.query(
    "INSERT INTO postern.workers (first_lease_id, takes_slots) SELECT unnest($1::uuid[]), true",
    [[few, many, gone]],
  );
  await database.pool.query(
    "UPDATE postern.slots SET owner = CASE WHEN slot < 50 THEN $1 WHEN slot < 200 THEN $2 WHEN slot < 250 THEN $3 END::uuid",
    [few, many, gone],
  );
  assert.deepEqual(await readSlotShares(db), { parts: [150, 50, 50], unowned: 6 });
  await database.pool.query(
    "UPDATE postern.workers SET session_at = now() - interval '1 h' WHERE first_lease_id = $1",
    [gone],
  );
  assert.deepEqual(await readSlotShares(db), { parts: [150, 50], unowned: 56 });
});
