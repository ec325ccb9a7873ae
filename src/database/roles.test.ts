import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestDatabase } from "../../test/support/postgres.ts";
import type { Db } from "./pool.ts";
import { ensureRoles } from "./roles.ts";

it("goes on after another process that makes the same roles at the same moment", async () => {
  const database = await createTestDatabase();
  let looks = 0;
  // At its first look, as it was before the other had made them.
  const before: Db = {
    async query(text, values) {
      const found = await database.pool.query(text, values);
      if (looks++ === 0) for (const row of found.rows) Object.assign(row, { exists: false });
      return found;
    },
  };
  await ensureRoles(before);
  assert.equal(looks, 2, "it looks again after what was there already");
  await database.drop();
});
