/** The copy of a tenant that a move makes, while nothing but PostgreSQL works on it. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { createTenantPool } from "../src/database/tenant-pool.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { dropCopy, stopCopy } from "../src/shards/end-copy.ts";
import { compareLog } from "../src/shards/compare-copy.ts";
import { dropSlots } from "../src/shards/copy-slot-store.ts";
import {
  ensureDay,
  fetchPending,
  hasReached,
  hasSlot,
  isFetched,
  isSubscribed,
  publish,
  publishPending,
  readCopyState,
  readDays,
  readEnd,
  readLeftCopies,
  readServerFacts,
  stopApplying,
  subscribe,
  unpublish,
  unsubscribe,
} from "../src/shards/copy-store.ts";
import { HopelessError, requireFreeWorkers } from "../src/shards/hopeless-moves.ts";
import type { DeliveryId, EndpointId, TenantId } from "../src/shared/id.ts";
import { CHANGING, GROWING, PENDING } from "../src/shards/move-tables.ts";
import { startLogicalServer } from "./support/logical-server.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { seedTwoTenants, tenant } from "./support/two-tenants.ts";

const TABLES = [...CHANGING, ...GROWING, ...PENDING];
const acme = tenant("acme");
const globex = tenant("globex");
const copy = { name: "postern_move_test", tenantId: acme };

let server: Awaited<ReturnType<typeof startLogicalServer>>;
let source: TestDatabase;
let target: TestDatabase;
/** What the server logs of statements while a subscription is made. */
let settings: unknown;
/** The same session's, once it is made. */
let settingsLater: unknown;

before(async () => {
  server = await startLogicalServer();
  [source, target] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  for (const { tenantId, endpointId, deliveryId } of Object.values(await seedTwoTenants(source.pool)))
    await seedStatistics(tenantId, endpointId, deliveryId);
  for (const day of await readDays(source.pool)) await ensureDay(target.pool, day);
  // A publication that is not the copy's: the copy must add the dispatches to its own all the same.
  await source.pool.query("CREATE PUBLICATION elsewhere FOR TABLE postern.dispatches");
  await publish(source.pool, copy);
  await inTransaction(target.pool, async (db) => {
    await db.query(
      "SET log_statement = 'all'; SET log_min_error_statement = 'error'; SET log_min_duration_statement = 0",
    );
    await subscribe(db, copy, source.url);
    settings = await readLogSettings(db);
  });
  settingsLater = await readLogSettings(target.pool);
  await publishPending(source.pool, copy);
  await fetchPending(target.pool, copy);
  await eventually(async () => (await readCopyState(target.pool, copy)).unready === 0);
});
after(async () => {
  await endCopy(copy);
  await Promise.all([source.drop(), target.drop()]);
  await server.stop();
});

async function endCopy(ended: typeof copy): Promise<void> {
  const slots = await inTransaction(target.pool, (db) => unsubscribe(db, ended));
  await unpublish(source.pool, ended);
  await eventually(() => dropSlots(source.pool, ended, slots));
}

async function readLogSettings(db: Db): Promise<unknown> {
  const { rows } =
    await db.query(`SELECT pg_backend_pid() AS session, current_setting('log_statement') AS statement,
    current_setting('log_min_error_statement') AS error, current_setting('log_min_duration_statement') AS slow`);
  return rows[0];
}

async function seedStatistics(...ids: [TenantId, EndpointId, DeliveryId]): Promise<void> {
  await source.pool.query("INSERT INTO postern.newest_attempts VALUES ($1, $2, true, $3)", ids);
  await source.pool.query(
    `INSERT INTO postern.delivery_stats VALUES ($1, $2, 10, date_trunc('hour', now()), 'timeout', 1, 1, 1, 1, $3, $3)`,
    ids,
  );
  await source.pool.query(
    `INSERT INTO postern.delivery_totals VALUES ($1, 10, date_trunc('hour', now()), $2, 0, 1, 1, 1, 1)`,
    ids.slice(0, 2),
  );
}

it("the copy is begun by a statement with a password, which the server's log never shows", () => {
  const { session } = Object(settings);
  assert.deepEqual(settings, { session, statement: "none", error: "panic", slow: "-1" });
  assert.deepEqual(settingsLater, { session, statement: "all", error: "error", slow: "0" });
});

it("the copy is refused to who may not subscribe, and may not change what is logged either", async () => {
  const begun = inTransaction(target.pool, async (db) => {
    await db.query("CREATE ROLE postern_test_nobody; SET LOCAL ROLE postern_test_nobody");
    await subscribe(db, { ...copy, name: "postern_move_other" }, source.url);
  });
  await assert.rejects(begun, /subscription/);
});

describe("a copied row", () => {
  it("is seen in the target by its own tenant alone", async () => {
    const { rows } = await target.pool.query<{ name: string; count: number }>(
      `SELECT name, count FROM postern.count_tenant_rows($1, 1000)
        WHERE has_any_column_privilege('postern_tenant', 'postern.' || name, 'SELECT')`,
      [acme],
    );
    const names = new Set(rows.map(({ name }) => name));
    for (const name of ["deliveries", "dispatches", "endpoints", "events", "header_sets"])
      assert.ok(names.has(name), `${name} was not copied`);
    const options = { poolSize: 2, applicationName: "copies", connectionTimeoutMs: 30_000 };
    const tenants = createTenantPool({ url: target.url, ...options });
    try {
      for (const { name, count } of rows) {
        const sql = `SELECT 1 FROM postern.${name}`;
        assert.equal((await tenants.of(acme).query(sql)).rowCount, count, name);
        assert.equal((await tenants.of(globex).query(sql)).rowCount, 0, name);
      }
    } finally {
      await tenants.end();
    }
    assert.deepEqual((await target.pool.query("SELECT FROM postern.endpoints")).rowCount, 1);
  });
});

describe("while a tenant is copied", () => {
  for (const table of TABLES) {
    it(`other tenants' rows of ${table} are changed and deleted as ever`, async () => {
      const where = `FROM postern.${table} WHERE tenant_id = $1`;
      const { rowCount } = await source.pool.query(`SELECT ${where}`, [globex]);
      const updated = await source.pool.query(
        `UPDATE postern.${table} SET tenant_id = tenant_id WHERE tenant_id = $1`,
        [globex],
      );
      assert.equal(updated.rowCount, rowCount);
      const deleted = await source.pool.query(`DELETE ${where}`, [globex]);
      assert.equal(deleted.rowCount, rowCount);
      assert.notEqual(rowCount, 0, `${table} has no rows`);
    });
  }
});

const sites = () => ({
  source: { name: "eu1", db: source.pool },
  target: { name: "eu2", db: target.pool },
});

async function catchUp(): Promise<void> {
  const end = await readEnd(source.pool);
  await eventually(() => hasReached(source.pool, copy, end));
}

async function drop(database: TestDatabase): Promise<string[]> {
  const dropped = await database.pool.query<{ partition: string }>(
    "SELECT partition FROM postern.drop_past_partitions(90)",
  );
  return dropped.rows.map(({ partition }) => partition);
}

/** An event and a delivery of 100 days ago. */
async function addOld(): Promise<void> {
  for (const { pool } of [source, target])
    await pool.query("SELECT postern.ensure_partitions(current_date - 100, current_date - 100)");
  for (const table of ["events", "deliveries"])
    await source.pool.query(
      `INSERT INTO postern.${table} SELECT (jsonb_populate_record(r,
          jsonb_build_object('id', postern.lowest_id_at(now() - interval '100 days')))).*
        FROM postern.${table} r WHERE tenant_id = $1 LIMIT 1`,
      [acme],
    );
  await catchUp();
}

describe("the comparison of both logs", () => {
  for (const [which, database] of [
    ["the target", () => target],
    ["the source", () => source],
  ] as const) {
    it(`is made anew where ${which} has dropped a day meanwhile, and leaves that day out`, async () => {
      await addOld();
      let calls = 0;
      await compareLog(sites(), acme, async () => {
        calls++;
        if (calls > 1) return;
        const dropped = [...(await drop(database())), ...(await drop(database()))];
        assert.deepEqual(dropped.map((name) => name.replace(/_.*/, "")).toSorted(), ["deliveries", "events"]);
      });
      assert.equal(calls, 2);
      for (const one of [source, target]) while ((await drop(one)).length > 0);
    });
  }

  it("says how many rows of the days that both keep the copy lacks", async () => {
    await compareLog(sites(), acme, catchUp);
    await target.pool.query("DELETE FROM postern.deliveries WHERE tenant_id = $1", [acme]);
    await assert.rejects(
      compareLog(sites(), acme, catchUp),
      /The copy in eu2 lacks 1 of 1 deliveries\.\n.*--undo/,
    );
  });
});

it("takes a slot and a sender of the source's server, whose rest is told", async () => {
  await eventually(async () => {
    const facts = await readServerFacts(source.pool);
    return facts.maxSlots - facts.freeSlots === 1 && facts.maxSenders - facts.freeSenders === 1;
  });
});

describe("a copy beside what somebody else has on its servers", () => {
  const other = { name: "other", tenantId: acme };

  before(async () => {
    await source.pool.query("CREATE PUBLICATION other");
    await source.pool.query("SELECT pg_create_logical_replication_slot('other', 'pgoutput')");
    await target.pool.query(`CREATE SUBSCRIPTION other CONNECTION 'dbname=other' PUBLICATION other
      WITH (connect = false, slot_name = NONE, enabled = false, create_slot = false)`);
  });
  after(async () => {
    await source.pool.query("DROP PUBLICATION other");
    await source.pool.query("SELECT pg_drop_replication_slot('other')");
    await target.pool.query("DROP SUBSCRIPTION other");
  });

  it("has the state of its own subscription", async () => {
    assert.equal((await readCopyState(target.pool, copy)).enabled, true);
    assert.equal((await readCopyState(target.pool, other)).enabled, false);
    assert.equal(await stopApplying(target.pool, other), true);
  });

  it("goes on with the workers that it has where other moves have the rest, and a new one has none", async () => {
    const { rows } = await source.pool.query(
      "SELECT current_setting('max_logical_replication_workers') AS most",
    );
    const others = Array.from({ length: Number(rows[0].most) - 2 }, (_, n) => `other_${n}`);
    for (const name of others)
      await source.pool.query(
        `CREATE SUBSCRIPTION ${name} CONNECTION 'dbname=none' PUBLICATION none WITH (connect = false);
        ALTER SUBSCRIPTION ${name} ENABLE`,
      );
    const site = { name: "eu2", db: target.pool };
    await requireFreeWorkers(site, copy);
    await assert.rejects(requireFreeWorkers(site, { name: "new", tenantId: globex }), HopelessError);
    for (const name of others)
      await source.pool.query(
        `ALTER SUBSCRIPTION ${name} DISABLE; ALTER SUBSCRIPTION ${name} SET (slot_name = NONE); DROP SUBSCRIPTION ${name}`,
      );
  });

  it("is taken back, with a slot that would keep the source's log for ever, before anything subscribed", async () => {
    const unused = { name: "postern_move_unused", tenantId: globex };
    const partsOf = ({ name }: typeof copy) => [
      `publication ${name}`,
      `publication ${name}_log`,
      `slot ${name}`,
    ];
    for (let times = 0; times < 2; times++) await publish(source.pool, unused);
    assert.deepEqual(await readLeftCopies(source.pool), [...partsOf(copy), ...partsOf(unused)].toSorted());
    for (let times = 0; times < 2; times++) {
      await unpublish(source.pool, unused);
      assert.equal(await dropSlots(source.pool, unused, null), true);
    }
    assert.deepEqual(await readLeftCopies(source.pool), partsOf(copy));
    assert.deepEqual(await readLeftCopies(target.pool), [`subscription ${copy.name}`]);
  });
});

it("has the dispatches also where a command was killed before the target knew of them", async () => {
  const half = { name: "postern_move_half", tenantId: globex };
  await publish(source.pool, half);
  await inTransaction(target.pool, (db) => subscribe(db, half, source.url));
  await source.pool.query(
    `ALTER PUBLICATION ${half.name} ADD TABLE postern.dispatches WHERE (tenant_id = 'globex')`,
  );
  await publishPending(source.pool, half);
  await fetchPending(target.pool, half);
  await eventually(async () => (await readCopyState(target.pool, half)).unready === 0);
  const { rowCount } = await target.pool.query(
    `SELECT FROM pg_subscription_rel JOIN pg_subscription s ON s.oid = srsubid
      WHERE subname = $1 AND srrelid = 'postern.dispatches'::regclass`,
    [half.name],
  );
  assert.equal(rowCount, 1);
  await endCopy(half);
});

it("ends in the target without an answer from the source, also while a table is being copied", async (test) => {
  const silenced = { name: "postern_move_silenced", tenantId: globex };
  const url = new URL(source.url);
  const proxy = await startTcpProxy(Number(url.port));
  test.after(() => proxy.close());
  url.port = String(proxy.port);
  const client = await target.pool.connect();
  test.after(() => client.release(true));
  await client.query("BEGIN; LOCK TABLE postern.header_sets IN EXCLUSIVE MODE");
  await publish(source.pool, silenced);
  await inTransaction(target.pool, (db) => subscribe(db, silenced, url.href));
  await eventually(async () => (await readCopyState(target.pool, silenced)).unready === 1);
  proxy.pause();
  await client.query("ROLLBACK");
  const slots = await inTransaction(target.pool, (db) => unsubscribe(db, silenced));
  assert.equal(await isSubscribed(target.pool, silenced), false);
  await unpublish(source.pool, silenced);
  await proxy.close();
  await eventually(() => dropSlots(source.pool, silenced, slots));
});

it("leaves no slot of a table where a command was killed once the target had let go, and none else goes", async () => {
  const ended = { name: "postern_move_killed", tenantId: globex };
  const { rows } = await target.pool.query<{ living: string; server: string }>(
    `SELECT (SELECT oid::text FROM pg_subscription WHERE subname = $1) AS living, system_identifier::text AS server
      FROM pg_control_system()`,
    [copy.name],
  );
  const [{ living, server: system } = { living: "", server: "" }] = rows;
  const [dead, ...others] = [`pg_1_sync_2_${system}`, `pg_${living}_sync_2_${system}`, "pg_1_sync_2_3"];
  for (const name of [dead, ...others])
    await source.pool.query("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
  const sites = {
    directory: target.pool,
    source: { name: "eu1", db: source.pool },
    target: { name: "eu2", db: target.pool },
  };
  await dropCopy(sites, ended, await stopCopy(sites, ended));
  const left = await source.pool.query<{ name: string }>(
    "SELECT slot_name AS name FROM pg_replication_slots WHERE slot_name LIKE 'pg\\_%' ORDER BY slot_name",
  );
  assert.deepEqual(
    left.rows.map(({ name }) => name),
    others.toSorted(),
  );
  assert.equal(await hasSlot(source.pool, copy), true);
  for (const name of others) await source.pool.query("SELECT pg_drop_replication_slot($1)", [name]);
});

it("is known to the database that subscribed, and not to another of the same server", async () => {
  assert.equal(await isSubscribed(target.pool, copy), true);
  assert.equal(await isSubscribed(source.pool, copy), false);
  const other = { ...copy, name: "postern_move_other" };
  assert.equal(await isSubscribed(target.pool, other), false);
  assert.equal(await hasSlot(source.pool, other), false);
  assert.equal(await hasReached(source.pool, other, "0/0"), false);
  assert.equal(await hasReached(source.pool, copy, "FFFFFFFF/0"), false);
});

it("keeps a slot that is in use when it is no longer published", async () => {
  await eventually(() => isFetched(source.pool, copy));
  await unpublish(source.pool, copy);
  assert.equal(await dropSlots(source.pool, copy, null), false);
  assert.equal(await hasSlot(source.pool, copy), true);
  assert.equal(await isFetched(source.pool, { ...copy, name: "postern_move_other" }), false);
});

it("has no slot any more whose log the source's server gave up, though it still lists it", async () => {
  assert.equal(await hasSlot(source.pool, copy), true);
  await target.pool.query(`ALTER SUBSCRIPTION ${copy.name} DISABLE`);
  await source.pool.query("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'");
  await source.pool.query("SELECT pg_reload_conf()");
  await eventually(async () => {
    await source.pool.query(
      "SELECT pg_switch_wal() FROM (SELECT pg_logical_emit_message(false, '', '')) AS written",
    );
    await source.pool.query("CHECKPOINT");
    const { rows } = await source.pool.query(
      "SELECT wal_status FROM pg_replication_slots WHERE slot_name = $1",
      [copy.name],
    );
    return rows[0]?.wal_status === "lost";
  });
  assert.equal(await hasSlot(source.pool, copy), false);
});
