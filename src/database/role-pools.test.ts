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
    assert.deepEqual(sharesOf(5, { ...api, works: true }), { worker: 2, publisher: 1, tenants: 2 });
    assert.deepEqual(sharesOf(7, { ...worker, relays: true }), { worker: 5, publisher: 1, tenants: 1 });
    assert.deepEqual(sharesOf(1, { ...api, works: true }), { worker: 1, publisher: 1, tenants: 1 });
    assert.deepEqual(sharesOf(1, { ...worker, relays: true }), { worker: 1, publisher: 1, tenants: 1 });
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

  it("are named for the process, and that for its status apart, which has one connection", async () => {
    const { rows } = await pools.status.query("SELECT current_setting('application_name') AS name");
    assert.deepEqual(rows, [{ name: "roles test status" }]);
    assert.deepEqual(
      [pools.status, pools.worker, pools.publisher].map(({ options }) => options.max),
      [1, 1, 1],
    );
    const named = await pools.worker.query("SELECT current_setting('application_name') AS name");
    assert.deepEqual(named.rows, [{ name: "roles test" }]);
  });

  it("ask whether a tenant lives there only where there are several databases, and are all closed", async () => {
    const options = { url: database.url, poolSize: 3, applicationName: "several", connectionTimeoutMs: 5000 };
    const one = openRolePools(options, api);
    assert.equal(one.residents, one.tenants);
    const several = openRolePools(options, api, { versionOf: () => null });
    await assert.rejects(several.residents.of(tenant("acme")).query("SELECT 1"), { code: "PS001" });
    assert.equal((await several.tenants.of(tenant("acme")).query("SELECT 1")).rowCount, 1);
    for (const opened of [one, several]) {
      await opened.close();
      for (const pool of [opened.publisher, opened.worker, opened.status]) assert.equal(pool.ended, true);
      await assert.rejects(opened.tenants.of(tenant("acme")).query("SELECT 1"), /after calling end/);
    }
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
