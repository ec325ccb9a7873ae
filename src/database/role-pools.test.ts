import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Db } from "./pool.ts";
import { openRolePools, sharesOf, type RolePools } from "./role-pools.ts";

const api = { servesApi: true, works: false, relays: false };
const worker = { servesApi: false, works: true, relays: false };

describe("the connections of a process", () => {
  it("are shared out by what it does", () => {
    assert.deepEqual(sharesOf(20, api), { worker: 1, publisher: 9, tenants: 10 });
    assert.deepEqual(sharesOf(20, { ...api, works: true }), { worker: 10, publisher: 5, tenants: 5 });
    assert.deepEqual(sharesOf(20, worker), { worker: 19, publisher: 1, tenants: 1 });
    assert.deepEqual(sharesOf(20, { ...worker, relays: true }), { worker: 14, publisher: 5, tenants: 1 });
  });

  it("are never more than its pool's size, from the least that gives each one", () => {
    for (let size = 3; size <= 100; size++) {
      const { worker: own, publisher, tenants } = sharesOf(size, { ...worker, relays: true });
      assert.equal(own + publisher + tenants, size);
    }
  });
});

async function ask(db: Db): Promise<{ role: string; pid: number } | undefined> {
  const { rows } = await db.query<{ role: string; pid: number }>(
    "SELECT current_user AS role, pg_backend_pid() AS pid",
  );
  return rows[0];
}

describe("the pools of a process", () => {
  let database: TestDatabase;
  let pools: RolePools;

  before(async () => {
    database = await createTestDatabase();
    pools = openRolePools(
      // Of which tenants have one.
      { url: database.url, poolSize: 3, applicationName: "roles test", connectionTimeoutMs: 5000 },
      { servesApi: true, works: true, relays: false },
    );
  });
  after(async () => {
    await pools.close();
    await database.drop();
  });

  it("each serve under their own role, and none under the user of DATABASE_URL", async () => {
    const { publisher, worker, status, tenants } = pools;
    const roles = await Promise.all(
      [publisher, worker, status, tenants.of(tenant("acme"))].map(async (db) => (await ask(db))?.role),
    );
    assert.deepEqual(roles, ["postern_publisher", "postern_worker", "postern_worker", "postern_tenant"]);
  });

  it("keep what a tenant's query did", async () => {
    const db = pools.tenants.of(tenant("acme"));
    await db.query("SELECT set_config('search_path', 'kept', false)");
    const { rows } = await db.query("SELECT current_setting('search_path') AS path");
    await db.query("SELECT set_config('search_path', '', false)");
    assert.deepEqual(rows, [{ path: "kept" }]);
  });

  it("use no tenant's connection again on which something failed", async () => {
    const db = pools.tenants.of(tenant("acme"));
    const before = await ask(db);
    assert.deepEqual(await ask(db), before);
    await assert.rejects(db.query("SELECT 1 / 0"), { code: "22012" });
    assert.notEqual((await ask(db))?.pid, before?.pid);
  });
});
