import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { sessions } from "../../test/support/sessions.ts";
import { withAdvisoryLock, type LockOptions } from "./advisory-lock.ts";

let database: TestDatabase;
let options: LockOptions;
before(async () => {
  database = await createTestDatabase({ migrated: false });
  options = { url: database.url, applicationName: "test of locks", connectionTimeoutMs: 5000 };
});
after(() => database.drop());

describe("work that one process at a time does", () => {
  it("is not done while another is at it, but is under another name", async () => {
    const inner = await withAdvisoryLock(options, "one", async () => [
      await withAdvisoryLock(options, "one", async () => "again"),
      await withAdvisoryLock(options, "other", async () => "beside"),
    ]);
    assert.deepEqual(inner, { result: [null, { result: "beside" }] });
  });

  it("can be done again as soon as it has ended, also by an error", async () => {
    for (let n = 0; n < 30; n++) {
      const work = async () => {
        if (n % 2 === 1) throw new Error(`work ${n}`);
        return n;
      };
      const done = withAdvisoryLock(options, "one", work);
      if (n % 2 === 1) await assert.rejects(done, { message: `work ${n}` });
      else assert.deepEqual(await done, { result: n });
    }
    await eventually(async () => (await sessions(database.pool, { name: "test of locks" })).length === 0);
  });
});
