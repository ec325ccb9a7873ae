/** SQL that the program never sends, as each of its database roles: what a faulty query could do at worst. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createPool, type Db, type Pool } from "../src/database/pool.ts";
import type { ServingRole } from "../src/database/session-settings.ts";
import { createTenantPool, type TenantPool } from "../src/database/tenant-pool.ts";
import type { TenantId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { seedTwoTenants, snapshot, TENANT_TABLES, tenant, type Rows } from "./support/two-tenants.ts";

const DENIED = /^error: (permission denied|must be owner|.* violates row-level security policy)/;
const NEW_ENDPOINT = (tenantId: string): string =>
  `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
    VALUES (${tenantId}, gen_random_uuid(), 'https://example.com/', '{*}', '', now(), now())`;

let database: TestDatabase;
let tenants: TenantPool;
const raw = new Map<ServingRole, Pool>();
let acme: Rows;
let globex: Rows;

before(async () => {
  database = await createTestDatabase();
  const options = { url: database.url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 };
  tenants = createTenantPool(options);
  for (const role of ["postern_tenant", "postern_publisher", "postern_worker"] as const) {
    raw.set(role, createPool({ ...options, role }));
  }
  ({ acme, globex } = await seedTwoTenants(database.pool));
});
after(async () => {
  for (const pool of [tenants, ...raw.values()]) await pool.end();
  await database.drop();
});

function poolOf(role: ServingRole): Pool {
  const pool = raw.get(role);
  assert.ok(pool !== undefined);
  return pool;
}

async function assertDenied(db: Db, sql: string): Promise<void> {
  const earlier = await snapshot(database.pool, null);
  await assert.rejects(db.query(sql), (error) => {
    assert.match(String(error), DENIED, sql);
    return true;
  });
  assert.equal(await snapshot(database.pool, null), earlier);
}

/** What nobody but the owner may do. */
const OWNERS_ALONE = [
  "DROP TABLE postern.endpoints",
  "DROP SCHEMA postern CASCADE",
  "ALTER TABLE postern.endpoints DISABLE ROW LEVEL SECURITY",
  "ALTER TABLE postern.endpoints NO FORCE ROW LEVEL SECURITY",
  "DROP POLICY tenant ON postern.endpoints",
  "CREATE POLICY more ON postern.endpoints USING (true)",
  "CREATE TABLE postern.more (n int)",
  "TRUNCATE postern.deliveries",
  "UPDATE postern.deliveries SET error = 'none'",
  "UPDATE postern.audit_log SET action = 'nothing'",
  "UPDATE postern.audit_log SET tenant_id = 'globex'",
  "DELETE FROM postern.audit_log",
  "TRUNCATE postern.audit_log",
  "UPDATE postern.events SET body = '{}'",
  "DELETE FROM postern.events",
  "DELETE FROM postern.endpoints",
  "UPDATE postern.endpoints SET tenant_id = 'globex'",
  "UPDATE postern.schema_migrations SET sha256 = ''",
  "SELECT * FROM postern.events_default",
  "SELECT * FROM postern.deliveries_default",
  "INSERT INTO postern.events_default VALUES ('acme', gen_random_uuid(), 'invoice.paid', '{}', 0)",
  "SELECT postern.publish('globex', 'invoice.paid', '{}')",
];

for (const role of ["postern_tenant", "postern_publisher", "postern_worker"] as const) {
  describe(`the role ${role}`, () => {
    for (const sql of OWNERS_ALONE) {
      it(`may not ${sql}`, async () => {
        await assertDenied(role === "postern_tenant" ? tenants.of(acme.tenantId) : poolOf(role), sql);
      });
    }

    it("deletes no row of the log, and reads none of a partition", async () => {
      const db = role === "postern_tenant" ? tenants.of(acme.tenantId) : poolOf(role);
      await assertDenied(db, "DELETE FROM postern.deliveries");
      const { rows } = await database.pool.query<{ name: string }>(
        "SELECT 'postern.' || c.relname AS name FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent IN ('postern.events'::regclass, 'postern.deliveries'::regclass)",
      );
      assert.ok(rows.length > 10);
      for (const { name } of rows) await assertDenied(db, `SELECT FROM ${name}`);
    });
  });
}

describe("the tenant role", () => {
  it("sees its own rows alone without a WHERE", async () => {
    for (const table of ["endpoints", "events", "dispatches", "deliveries", "audit_log"]) {
      const { rows } = await tenants
        .of(acme.tenantId)
        .query(`SELECT DISTINCT tenant_id FROM postern.${table}`);
      assert.deepEqual(rows, [{ tenant_id: "acme" }], table);
    }
  });

  it("changes its own rows alone without a WHERE", async () => {
    const earlier = await snapshot(database.pool, globex.tenantId);
    const db = tenants.of(acme.tenantId);
    const changed = await db.query("UPDATE postern.endpoints SET description = 'all mine'");
    assert.equal(changed.rowCount, 1);
    assert.equal((await db.query("UPDATE postern.dispatches SET held = false")).rowCount, 5);
    assert.equal((await db.query("DELETE FROM postern.dispatches")).rowCount, 5);
    assert.equal(await snapshot(database.pool, globex.tenantId), earlier);
  });

  it("inserts for itself and not for another", async () => {
    const db = tenants.of(acme.tenantId);
    assert.equal((await db.query(NEW_ENDPOINT("'acme'"))).rowCount, 1);
    await assertDenied(db, NEW_ENDPOINT("'globex'"));
  });

  it("joins its rows to no one else's", async () => {
    const { rows } = await tenants
      .of(acme.tenantId)
      .query(
        "SELECT d.id FROM postern.deliveries d FULL JOIN postern.events e ON true WHERE 'globex' IN (d.tenant_id, e.tenant_id)",
      );
    assert.deepEqual(rows, []);
  });

  for (const [name, setting] of [
    ["none", "RESET postern.tenant"],
    ["an empty", "SET postern.tenant = ''"],
    ["a made-up", "SET postern.tenant = '*'"],
  ] as const) {
    it(`sees and inserts nothing with ${name} tenant set`, async () => {
      const client = await poolOf("postern_tenant").connect();
      try {
        await client.query(setting);
        for (const table of ["endpoints", "events", "dispatches", "deliveries"]) {
          assert.equal((await client.query(`SELECT FROM postern.${table}`)).rowCount, 0, table);
        }
        assert.equal((await client.query("UPDATE postern.endpoints SET enabled = enabled")).rowCount, 0);
        for (const tenantId of ["'acme'", "''"]) await assertDenied(client, NEW_ENDPOINT(tenantId));
      } finally {
        client.release(true);
      }
    });
  }

  it("inserts unleased dispatches of its own alone, and may not see keys and the outbox", async () => {
    const db = tenants.of(acme.tenantId);
    await assertDenied(db, "INSERT INTO postern.dispatches SELECT * FROM postern.dispatches");
    const columns = "tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, once";
    const values = "gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a', 1, now(), now(), true";
    await assertDenied(db, `INSERT INTO postern.dispatches (${columns}) VALUES ('globex', ${values})`);
    await assertDenied(
      db,
      `INSERT INTO postern.dispatches (${columns}, lease_owner) VALUES ('acme', ${values}, gen_random_uuid())`,
    );
    await assertDenied(db, "SELECT FROM postern.idempotency_keys");
    await assertDenied(db, "SELECT FROM postern.outbox");
    await assertDenied(db, "SELECT postern.drop_old_partitions(90)");
  });
});

describe("the publisher role", () => {
  for (const sql of [
    "SELECT secret FROM postern.endpoints",
    "SELECT previous_secret FROM postern.endpoints",
    "SELECT url FROM postern.endpoints",
    "SELECT headers FROM postern.endpoints",
    "SELECT * FROM postern.endpoints",
    "SELECT FROM postern.endpoints FOR SHARE",
    "UPDATE postern.endpoints SET enabled = false",
    NEW_ENDPOINT("'acme'"),
    "SELECT body FROM postern.events",
    "SELECT id FROM postern.deliveries",
    "INSERT INTO postern.deliveries SELECT * FROM postern.deliveries",
    "SELECT id FROM postern.dispatches",
    "DELETE FROM postern.dispatches",
    "DELETE FROM postern.idempotency_keys",
    "SELECT FROM postern.outbox",
    "SELECT postern.drop_old_partitions(90)",
  ]) {
    it(`may not ${sql}`, () => assertDenied(poolOf("postern_publisher"), sql));
  }
});

describe("the worker role", () => {
  for (const sql of [
    NEW_ENDPOINT("'acme'"),
    "UPDATE postern.endpoints SET url = 'https://example.org/'",
    "UPDATE postern.endpoints SET secret = ''",
    "UPDATE postern.endpoints SET deleted_at = now()",
    "SELECT metadata FROM postern.endpoints",
    "SELECT id FROM postern.deliveries",
    "UPDATE postern.dispatches SET tenant_id = 'acme'",
    "UPDATE postern.dispatches SET event_id = gen_random_uuid()",
    "UPDATE postern.outbox SET body = '{}'",
    "UPDATE postern.idempotency_keys SET event_id = gen_random_uuid()",
  ]) {
    it(`may not ${sql}`, () => assertDenied(poolOf("postern_worker"), sql));
  }

  for (const call of [
    "drop_past_partitions(0)",
    "drop_past_partitions(NULL)",
    "drop_old_partitions(-100)",
    "drop_old_partitions(0)",
    "drop_old_partitions(NULL)",
    "forget_old_storage(0)",
    "forget_old_storage(NULL)",
    "ensure_partitions(current_date - 50, current_date + 51)",
    "ensure_partitions(current_date, current_date + 62)",
    "ensure_partitions(current_date - 402, current_date - 400)",
    "ensure_partitions(current_date, NULL)",
    "ensure_partitions('-infinity', 'infinity')",
    "stage_partitions('endpoints', current_date, current_date)",
    "stage_partitions('events', current_date - 402, current_date - 400)",
    "stage_partitions('events', current_date, NULL)",
    "copy_staged_rows('endpoints', 0, 1)",
    "copy_staged_rows(NULL, 0, 1)",
    "attach_staged('endpoints')",
  ]) {
    it(`is refused ${call}, and nothing comes or goes`, async () => {
      const days = async () =>
        (await database.pool.query("SELECT relname FROM pg_class WHERE relkind = 'r' ORDER BY 1")).rows;
      const earlier = await days();
      const rows = await snapshot(database.pool, null);
      await assert.rejects(poolOf("postern_worker").query(`SELECT postern.${call}`), { code: "22023" });
      assert.deepEqual(await days(), earlier);
      assert.equal(await snapshot(database.pool, null), rows);
    });
  }
});

describe("the producer role", () => {
  it("publishes, and touches no table", async () => {
    await database.pool.query(
      "INSERT INTO postern.event_types VALUES ('invoice.paid') ON CONFLICT DO NOTHING",
    );
    const client = await database.pool.connect();
    try {
      await client.query("SET ROLE postern_producer");
      await client.query("SELECT postern.publish('acme', 'invoice.paid', '{}', 'a key')");
      for (const table of [...TENANT_TABLES, "event_types", "schema_migrations", "storage_cursor"]) {
        await assertDenied(client, `SELECT FROM postern.${table}`);
      }
      await assertDenied(client, "SELECT postern.uuid_v7()");
    } finally {
      client.release(true);
    }
    const { rowCount } = await database.pool.query(
      "SELECT FROM postern.idempotency_keys k JOIN postern.outbox o ON o.id = k.event_id WHERE k.key = 'a key'",
    );
    assert.equal(rowCount, 1);
  });

  it("does not lead postern.publish astray by a search path of its own", async () => {
    const client = await database.pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(
        "CREATE FUNCTION pg_temp.to_json(text) RETURNS json LANGUAGE sql AS $$ SELECT '0'::json $$",
      );
      await client.query("CREATE TEMP TABLE pg_class (n int)");
      await client.query("SET LOCAL search_path = pg_temp, postern, pg_catalog");
      await client.query("SET LOCAL ROLE postern_producer");
      const { rows } = await client.query<{ id: string }>(
        "SELECT postern.publish('acme', 'invoice.paid', '{}') AS id",
      );
      await client.query("RESET ROLE");
      const { rows: sent } = await client.query(
        "SELECT body::json ->> 'event' AS type FROM postern.outbox WHERE id = $1",
        [rows[0]?.id],
      );
      assert.deepEqual(sent, [{ type: "invoice.paid" }]);
    } finally {
      client.release(true);
    }
  });
});

describe("a connection of the tenant pool", () => {
  it("serves two tenants in turn, each its own rows alone", async () => {
    await seedTwoTenants(database.pool);
    const names = Array.from({ length: 40 }, (_, n) => (n % 3 === 0 ? "globex" : "acme"));
    const answers = await Promise.all(
      names.map((name) =>
        tenants.of(tenant(name)).query("SELECT tenant_id, pg_backend_pid() AS pid FROM postern.endpoints"),
      ),
    );
    assert.deepEqual(
      answers.map(({ rows }) => rows.map((row) => row["tenant_id"])),
      names.map((name) => [name]),
    );
    assert.equal(new Set(answers.map(({ rows }) => rows[0]?.["pid"])).size, 1);
  });

  it("keeps no tenant when a query, or a transaction, is over or has failed", async () => {
    // Ends its own transaction, and then looks with what is left of it.
    const afterwards = async (): Promise<unknown[]> => {
      const answers: unknown = await tenants
        .of(acme.tenantId)
        .query("COMMIT; SELECT current_setting('postern.tenant', true) AS tenant FROM postern.endpoints");
      assert.ok(Array.isArray(answers));
      return answers.at(-1).rows;
    };
    await tenants.of(globex.tenantId).query("SELECT 1");
    assert.deepEqual(await afterwards(), []);
    await assert.rejects(tenants.of(globex.tenantId).query("SELECT 1 / 0"), /division by zero/);
    assert.deepEqual(await afterwards(), []);
    await tenants.of(globex.tenantId).transaction((transaction) => transaction.query("SELECT 1"));
    assert.deepEqual(await afterwards(), []);
    await assert.rejects(
      tenants.of(globex.tenantId).transaction((transaction) => transaction.query("SELECT 1 / 0")),
      /division by zero/,
    );
    assert.deepEqual(await afterwards(), []);
  });

  it("undoes a change whose query fails, and one whose transaction does", async () => {
    const db = tenants.of(acme.tenantId);
    const change = "UPDATE postern.endpoints SET description = 'undone'";
    await assert.rejects(
      db.transaction(async (transaction) => {
        await transaction.query(change);
        throw new Error("changed my mind");
      }),
      /changed my mind/,
    );
    await assert.rejects(
      db.query(`WITH c AS (${change} RETURNING 1) SELECT 1 / (count(*) - count(*)) FROM c`),
    );
    const { rows } = await db.query("SELECT FROM postern.endpoints WHERE description = 'undone'");
    assert.deepEqual(rows, []);
  });

  it("takes any text as a tenant's name and nothing else from it", async () => {
    for (const name of ["a'; RESET ROLE; --", "a\\'; RESET ROLE; --", "*"]) {
      assert.ok(passesAsTenant(name));
      const { rows } = await tenants
        .of(name)
        .query("SELECT current_user AS role, postern.current_tenant() AS name");
      assert.deepEqual(rows, [{ role: "postern_tenant", name }]);
    }
  });
});

/** Untrue: it hands over what no parser would let through. */
function passesAsTenant(name: string): name is TenantId {
  return name !== "";
}
