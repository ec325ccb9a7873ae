/** DATABASE_URL's user without rights over the server: what an administrator must prepare, and that it is enough. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { EmbeddedPostgres } from "../src/database/embedded/embedded.ts";
import { migrate } from "../src/database/schema/migrate.ts";
import { readMigrations } from "../src/database/schema/migration-files.ts";
import { createPool, type Pool } from "../src/database/pool.ts";
import { join } from "node:path";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import { startTestServer } from "./support/postgres.ts";
import { runProgram, sharedSettings } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService } from "./support/service.ts";

const MIGRATIONS = join(import.meta.dirname, "..", "migrations");

// Roles are the whole server's: this file has one of its own.
let server: EmbeddedPostgres;
let admin: Pool;
const opened: Pool[] = [];

before(async () => {
  server = await startTestServer();
  admin = open(server.url);
  await admin.query("CREATE ROLE plain LOGIN PASSWORD 'plain'");
  await admin.query("CREATE ROLE maker LOGIN CREATEROLE PASSWORD 'maker'");
  await admin.query("CREATE ROLE app LOGIN PASSWORD 'app'");
  for (const [name, owner] of [
    ["plain", "plain"],
    ["maker_1", "maker"],
    ["maker_2", "maker"],
    ["maker_3", "maker"],
  ] as const)
    await admin.query(`CREATE DATABASE ${name} OWNER ${owner}`);
});
after(async () => {
  for (const pool of opened) await pool.end();
  await server.stop();
});

function open(url: string): Pool {
  const pool = createPool({ url, poolSize: 5, applicationName: "owner test", connectionTimeoutMs: 5000 });
  opened.push(pool);
  return pool;
}

function urlOf(user: string, database: string): string {
  const url = new URL(server.url);
  url.username = user;
  url.password = user;
  url.pathname = `/${database}`;
  return url.href;
}

/** The indented statements of the message that a start ended with. */
async function refusedStart(): Promise<string[]> {
  const { code, output } = await runProgram(["migrate"], await sharedSettings(urlOf("plain", "plain"), ""));
  assert.equal(code, 1, output);
  assert.match(output, /postern:\n {2}The database's user may not make the database roles/);
  return output
    .split("\n")
    .filter((line) => line.endsWith(";"))
    .map((line) => line.trim());
}

describe("a user who may create no roles", () => {
  it("is told which statements an administrator must run", async () => {
    const roles = ["owner", "tenant", "publisher", "worker", "producer"];
    assert.deepEqual(await refusedStart(), [
      ...roles.map((role) => `CREATE ROLE postern_${role} NOLOGIN;`),
      ...roles.filter((role) => role !== "producer").map((role) => `GRANT postern_${role} TO plain;`),
    ]);
  });
});

describe("a user with CREATEROLE", () => {
  it("makes the roles, however many databases of the server are migrated at once", async () => {
    const migrations = await readMigrations(MIGRATIONS);
    const applied = await Promise.all(
      ["maker_1", "maker_2", "maker_3"].map((name) => migrate(open(urlOf("maker", name)), migrations)),
    );
    assert.deepEqual(
      applied.map(({ length }) => length),
      Array(3).fill(migrations.length),
    );
  });

  it("finds everything there at the next start", async () => {
    assert.deepEqual(await migrate(open(urlOf("maker", "maker_1")), await readMigrations(MIGRATIONS)), []);
  });
});

describe("a user for whom an administrator prepared the roles", () => {
  it("is asked for no more than is missing, and then migrates, serves, delivers and publishes from SQL", async () => {
    const statements = await refusedStart();
    assert.ok(
      statements.every((statement) => statement.startsWith("GRANT ")),
      statements.join("\n"),
    );
    for (const statement of statements) await admin.query(statement);
    const { code, output } = await runProgram(["migrate"], await sharedSettings(urlOf("plain", "plain"), ""));
    assert.equal(code, 0, output);

    const owner = open(urlOf("plain", "plain"));
    const service = await startTestService({
      database: { url: urlOf("plain", "plain"), pool: owner, drop: async () => {} },
    });
    try {
      const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
      const { id } = await publish(service);
      await admin.query("GRANT postern_producer TO app");
      const app = open(urlOf("app", "plain"));
      const fromSql = await eventually(async () => {
        const { rows } = await app
          .query<{ id: string }>("SELECT postern.publish('acme', 'invoice.paid', '{}', 'key') AS id")
          // Until the worker has announced the catalog.
          .catch(() => ({ rows: [] }));
        return rows[0]?.id;
      });
      for (const eventId of [id, fromSql])
        await eventually(
          async () =>
            (await listDeliveries(service, endpoint.id, `?event_id=${eventId}&status=delivered`))[0],
        );
      await assert.rejects(app.query("SELECT FROM postern.outbox"), /permission denied/);
    } finally {
      await service.stop();
    }
  });

  it("meets all rows as the owner, though row-level security is forced", async () => {
    const owner = open(urlOf("plain", "plain"));
    const { rows } = await owner.query(
      "SELECT (SELECT count(*)::int FROM postern.endpoints) AS endpoints, (SELECT count(*)::int FROM postern.deliveries) AS deliveries",
    );
    assert.deepEqual(rows, [{ endpoints: 1, deliveries: 2 }]);
  });

  it("lets the worker's role make partitions, move rows into them, and drop them", async () => {
    const owner = open(urlOf("plain", "plain"));
    const worker = createPool({
      url: urlOf("plain", "plain"),
      poolSize: 1,
      applicationName: "owner test",
      connectionTimeoutMs: 5000,
      role: "postern_worker",
    });
    opened.push(worker);
    await owner.query(
      `INSERT INTO postern.events
        SELECT 'acme', postern.lowest_id_at(now() - interval '100 days'), 'invoice.paid', '{}', 0`,
    );
    const left = async (): Promise<unknown> =>
      (await owner.query("SELECT count(*)::int AS n FROM postern.events_default")).rows[0]?.["n"];
    assert.equal(await left(), 1);
    await worker.query(
      "SELECT postern.ensure_partitions((now() - interval '101 days')::date, (now() - interval '99 days')::date)",
    );
    assert.equal(await left(), 0);
    for (let count = 0; count < 6; count += 1) {
      const { rows } = await worker.query("SELECT postern.drop_old_partitions(90) AS name");
      assert.equal(rows.length, 1);
    }
    assert.deepEqual((await worker.query("SELECT postern.drop_old_partitions(90)")).rows, []);
  });
});

describe("a role that may bypass row-level security", () => {
  it("stops the start", async () => {
    await admin.query("ALTER ROLE postern_tenant BYPASSRLS");
    await assert.rejects(
      migrate(open(urlOf("plain", "plain")), await readMigrations(MIGRATIONS)),
      /ALTER ROLE postern_tenant NOSUPERUSER NOBYPASSRLS;/,
    );
  });
});
