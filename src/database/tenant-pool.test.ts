import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { openTenantPool, type OpenedTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { isPassing } from "./passing-errors.ts";
import type { Db } from "./pool.ts";
import { isMisrouted } from "./residence.ts";

let database: TestDatabase;
const pools: OpenedTenantPool[] = [];

before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  for (const pool of pools) await pool.end();
  await database.drop();
});

function open(poolSize: number): OpenedTenantPool {
  const pool = openTenantPool(database, poolSize);
  pools.push(pool);
  return pool;
}

const [ACME, GLOBEX] = [tenant("acme"), tenant("globex")];
const METHODS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort", "indexscan", "nestloop"];

async function planningOf(db: Db): Promise<unknown> {
  const { rows } = await db.query(
    `SELECT current_setting('postern.tenant') AS tenant, current_setting('plan_cache_mode') AS mode, current_setting('jit') AS jit,
      array(SELECT method FROM unnest($1::text[]) AS method WHERE current_setting('enable_' || method) = 'off') AS off`,
    [METHODS],
  );
  return rows[0];
}

describe("a tenant's connections", () => {
  it("show the tenant's rows, in a transaction or alone", async () => {
    const pool = open(2);
    const ordinary = { mode: "auto", jit: "off", off: ["seqscan"] };
    assert.deepEqual(await planningOf(pool.of(ACME)), { tenant: "acme", ...ordinary });
    const made = await pool.of(GLOBEX).transaction(planningOf);
    assert.deepEqual(made, { tenant: "globex", ...ordinary });
  });

  it("read by index, planned once", async () => {
    assert.deepEqual(await planningOf(open(2).reading(ACME)), {
      tenant: "acme",
      mode: "force_generic_plan",
      jit: "off",
      off: METHODS.slice(0, 5),
    });
  });

  it("undo what failed", async () => {
    const pool = open(1);
    const set = "SELECT set_config('search_path', 'kept', false)";
    await assert.rejects(
      pool.of(ACME).transaction(async (db) => {
        await db.query(set);
        throw new Error("no");
      }),
      { message: "no" },
    );
    const { rows } = await pool.of(ACME).query("SELECT current_setting('search_path') AS path");
    assert.notEqual(rows[0]?.["path"], "kept");
  });

  it("use a connection again, but for one whose statement failed", async () => {
    const pool = open(1);
    const session = async () => {
      const { rows } = await pool.of(ACME).query("SELECT pg_backend_pid() AS pid");
      return rows[0]?.["pid"];
    };
    const first = await session();
    assert.equal(await session(), first);
    // The answers behind the failure may still be on their way.
    await assert.rejects(pool.of(ACME).query("SELECT 1 / 0"), { code: "22012" });
    assert.notEqual(await session(), first);
  });

  it("are refused where the tenant does not live, under that version, each time", async () => {
    await database.pool.query("INSERT INTO postern.shard_tenants (tenant_id, version) VALUES ('acme', 3)");
    const pool = open(1);
    const residing = (version: number | null) => pool.residing({ versionOf: () => version });
    for (const view of [residing(4), residing(null)]) {
      await assert.rejects(view.of(ACME).query("SELECT 1"), isMisrouted);
      await assert.rejects(view.reading(ACME).query("SELECT 1"), isMisrouted);
      await assert.rejects(
        view.of(ACME).transaction(async () => assert.fail("it has begun")),
        isMisrouted,
      );
    }
    await assert.rejects(residing(3).of(GLOBEX).query("SELECT 1"), isMisrouted);
    assert.equal((await residing(3).of(ACME).query("SELECT 1")).rowCount, 1);
    assert.equal((await pool.of(GLOBEX).query("SELECT 1")).rowCount, 1);
  });
});

/** Reads that wait for as long as the test holds a lock. */
async function hold(work: (waiting: () => Promise<string>) => Promise<void>): Promise<void> {
  const holder = await database.pool.connect();
  await holder.query("SELECT pg_advisory_lock(7), pg_advisory_lock(8), pg_advisory_lock(9)");
  try {
    await work(async () => {
      const { rows } = await database.pool.query<{ waiting: string }>(
        `SELECT string_agg(objid::text, ' ' ORDER BY objid) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows[0]?.waiting ?? "";
    });
  } finally {
    holder.release(true);
  }
}

const held = (lock: number) => `SELECT pg_advisory_xact_lock_shared(${lock})`;

describe("reads of tenants", () => {
  it("have half of the connections each at most, and leave one for other statements", async () => {
    const pool = open(5);
    const reads: Promise<unknown>[] = [];
    await hold(async (waiting) => {
      for (let read = 0; read < 4; read++) reads.push(pool.reading(ACME).query(held(7)));
      await eventually(async () => (await waiting()) === "7 7");
      for (let read = 0; read < 4; read++) reads.push(pool.reading(GLOBEX).query(held(8)));
      await eventually(async () => (await waiting()) === "7 7 8 8");
      reads.push(pool.reading(tenant("initech")).query(held(9)));
      await new Promise(setImmediate);
      assert.equal((await pool.of(ACME).query("SELECT 1")).rowCount, 1);
      assert.equal(await waiting(), "7 7 8 8");
    });
    assert.equal((await Promise.all(reads)).length, 9);
  });

  it("are refused, as by a database that is away, where those before them take 20 seconds", async (test) => {
    const pool = open(3);
    const reads: Promise<unknown>[] = [];
    await hold(async (waiting) => {
      reads.push(pool.reading(ACME).query(held(7)));
      await eventually(async () => (await waiting()) === "7");
      test.mock.timers.enable({ apis: ["setTimeout"] });
      const late = pool.reading(ACME).query("SELECT 1");
      test.mock.timers.tick(20_000);
      test.mock.timers.reset();
      await assert.rejects(late, isPassing);
    });
    await Promise.all(reads);
  });

  it("have the one connection of a pool that has no more", async () => {
    const pool = open(1);
    assert.equal((await pool.reading(ACME).query("SELECT 1")).rowCount, 1);
  });
});
