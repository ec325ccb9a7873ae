/** What the schema itself must keep to, whoever adds to it: read from PostgreSQL's catalog. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

/** Tables without tenants. Anything else in the schema needs row-level security. */
const TENANTLESS = [
  "event_types",
  "heartbeats",
  "schema_functions",
  "schema_migrations",
  "storage_buckets",
  "storage_cursor",
  "storage_destroyed",
  "shard",
  "slots",
  "workers",
];

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** Each fault of a table or partition as one line. */
async function faultsOfTables(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>(
    `SELECT c.relname || ': ' || fault AS fault FROM pg_class c CROSS JOIN LATERAL (VALUES
        ('row-level security is not enabled', NOT c.relrowsecurity),
        ('row-level security is not forced', NOT c.relforcerowsecurity AND NOT c.relispartition),
        ('has no policy', NOT c.relispartition AND NOT EXISTS (
          SELECT FROM pg_policy p WHERE p.polrelid = c.oid)),
        ('has no policy for its owner', NOT c.relispartition AND NOT EXISTS (
          SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND 'postern_owner'::regrole = ANY (p.polroles))),
        ('has a policy for everyone', EXISTS (
          SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND 0::oid = ANY (p.polroles))),
        ('shows the tenant role more than one tenant', EXISTS (
          SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND 'postern_tenant'::regrole = ANY (p.polroles)
            AND (p.polwithcheck IS NOT NULL OR replace(pg_get_expr(p.polqual, p.polrelid), 'postern.', '')
              IS DISTINCT FROM '(tenant_id = current_tenant())'))),
        ('has no tenant_id', NOT EXISTS (
          SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')),
        ('is a partition with grants of its own', c.relispartition AND EXISTS (
          SELECT FROM aclexplode(c.relacl) acl WHERE acl.grantee <> c.relowner))
      ) AS faults (fault, is_there)
      WHERE c.relnamespace = 'postern'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND is_there
        AND c.relname <> ALL ($1)
      ORDER BY 1`,
    [TENANTLESS],
  );
  return rows.map(({ fault }) => fault);
}

/** Runs SQL that is undone afterwards, and answers what the catalog says meanwhile. */
async function faultsAfter(sql: string): Promise<string[]> {
  const client = await database.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(sql);
    return await faultsOfTables(client);
  } finally {
    client.release(true);
  }
}

describe("every table of the schema", () => {
  it("has forced row-level security and policies, or is known to hold no tenant's rows", async () => {
    assert.deepEqual(await faultsOfTables(database.pool), []);
  });

  it("is covered when it is a partition made later", async () => {
    assert.deepEqual(
      await faultsAfter(
        "SELECT postern.ensure_partitions((now() + interval '30 days')::date, (now() + interval '31 days')::date)",
      ),
      [],
    );
  });

  it("is emptied by an erasure in an order in which nothing comes back: what makes rows first, endpoints last", async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      "SELECT name FROM postern.tables_of_tenants()",
    );
    const names = rows.map(({ name }) => name);
    assert.deepEqual(names.slice(0, 3), ["outbox", "handovers", "dispatches"]);
    assert.ok(names.indexOf("dispatches") < names.indexOf("deliveries"));
    assert.equal(names.at(-1), "endpoints");
  });

  const seeded: [string, string, RegExp][] = [
    [
      "a new table",
      "CREATE TABLE postern.seeded (tenant_id text NOT NULL)",
      /^seeded: row-level security is not enabled$/m,
    ],
    [
      "one that is not forced",
      "CREATE TABLE postern.seeded (tenant_id text NOT NULL); ALTER TABLE postern.seeded ENABLE ROW LEVEL SECURITY",
      /^seeded: row-level security is not forced$/m,
    ],
    [
      "one without a policy",
      "CREATE TABLE postern.seeded (tenant_id text NOT NULL); ALTER TABLE postern.seeded ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
      /^seeded: has no policy$/m,
    ],
    [
      "one without tenants that nobody listed",
      "CREATE TABLE postern.seeded (n int)",
      /^seeded: has no tenant_id$/m,
    ],
    [
      "a view, which would read with its owner's rights",
      "CREATE VIEW postern.seeded AS SELECT * FROM postern.endpoints",
      /^seeded: row-level security is not enabled$/m,
    ],
    [
      "a wider policy",
      "CREATE POLICY wide ON postern.endpoints TO postern_tenant USING (true)",
      /^endpoints: shows the tenant role more than one tenant$/m,
    ],
    [
      "a policy for everyone",
      "CREATE POLICY wide ON postern.endpoints USING (true)",
      /^endpoints: has a policy for everyone$/m,
    ],
    [
      "a grant on a partition",
      "GRANT SELECT ON postern.events_default TO postern_tenant",
      /^events_default: is a partition with grants of its own$/m,
    ],
  ];
  for (const [name, sql, fault] of seeded) {
    it(`is missed when it is ${name}`, async () => {
      assert.match((await faultsAfter(sql)).join("\n"), fault);
    });
  }
});

describe("every grant", () => {
  it("leaves deliveries to be added to and read, and names none but the known roles", async () => {
    const { rows } = await database.pool.query<{ role: string; privileges: string }>(
      `SELECT acl.grantee::regrole::text AS role, string_agg(acl.privilege_type, ', ' ORDER BY acl.privilege_type) AS privileges
        FROM pg_class c, aclexplode(c.relacl) acl
        WHERE c.oid = 'postern.deliveries'::regclass AND acl.grantee <> c.relowner GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(rows, [
      { role: "postern_tenant", privileges: "INSERT, SELECT" },
      { role: "postern_worker", privileges: "INSERT" },
    ]);
    const { rows: grantees } = await database.pool.query(
      `SELECT DISTINCT acl.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) acl
        WHERE c.relnamespace = 'postern'::regnamespace AND acl.grantee <> c.relowner ORDER BY 1`,
    );
    assert.deepEqual(
      grantees.map((row) => row["role"]),
      ["postern_publisher", "postern_tenant", "postern_worker"],
    );
  });

  it("lets nobody else create in the schema", async () => {
    const { rows } = await database.pool.query(
      `SELECT acl.grantee::regrole::text AS role FROM pg_namespace n, aclexplode(n.nspacl) acl
        WHERE n.nspname = 'postern' AND acl.privilege_type = 'CREATE' AND acl.grantee <> n.nspowner`,
    );
    assert.deepEqual(rows, []);
  });
});

describe("every function of the schema", () => {
  it("is closed to PUBLIC, and has a fixed search path where it runs with its owner's rights", async () => {
    const { rows } = await database.pool.query<{ name: string; is_open: boolean; is_loose: boolean }>(
      `SELECT p.proname AS name,
          p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) acl WHERE acl.grantee = 0) AS is_open,
          p.prosecdef AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) AS is_loose
        FROM pg_proc p WHERE p.pronamespace = 'postern'::regnamespace`,
    );
    assert.ok(rows.length >= 7);
    assert.deepEqual(
      rows.filter((row) => row.is_open || row.is_loose),
      [],
    );
  });

  // Many of them see every tenant: the role that calls them is the one thing that keeps a tenant from it.
  it("may be called by the roles that need it alone", async () => {
    const { rows } = await database.pool.query<{ role: string; names: string }>(
      `SELECT acl.grantee::regrole::text AS role, string_agg(p.proname, ' ' ORDER BY p.proname COLLATE "C") AS names
        FROM pg_proc p, aclexplode(p.proacl) acl
        WHERE p.pronamespace = 'postern'::regnamespace AND acl.grantee <> p.proowner GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(Object.fromEntries(rows.map(({ role, names }) => [role, names])), {
      postern_producer: "publish publish_versions",
      postern_publisher:
        "content_fingerprint count_tenant_rows list_tenants lives_here lock_holds require_here still_held uuid_v7 versions_fingerprint",
      postern_tenant: "body_of_version current_tenant is_erasing require_here uuid_v7",
      postern_worker:
        "attach_staged body_of_version content_fingerprint copy_staged_rows drop_old_partitions " +
        "drop_past_partitions ensure_partitions erase_tenant_rows forget_deleted_endpoints forget_header_sets " +
        "forget_old_audit forget_old_storage is_erasing lowest_id_at stage_partitions still_held uuid_v7 versions_fingerprint",
    });
  });
});

describe("every role", () => {
  it("can neither log in nor pass by row-level security", async () => {
    const { rows } = await database.pool.query(
      `SELECT rolname AS name,
          rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS is_strong
        FROM pg_roles WHERE rolname LIKE 'postern\\_%' ORDER BY 1`,
    );
    assert.deepEqual(
      rows,
      ["owner", "producer", "publisher", "tenant", "worker"].map((name) => {
        return { name: `postern_${name}`, is_strong: false };
      }),
    );
  });
});
