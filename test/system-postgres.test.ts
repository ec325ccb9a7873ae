/** The system's own PostgreSQL, where there is one: every migration, and an event's whole way. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { commandFor } from "../src/database/embedded-account.ts";
import { migrate } from "../src/database/migrate.ts";
import { readMigrations } from "../src/database/migration-files.ts";
import { createPool, type Pool } from "../src/database/pool.ts";
import { createEndpoint, listDeliveries, publish } from "./support/api.ts";
import type { TestDatabase } from "./support/postgres.ts";
import { eventually, startTestService } from "./support/service.ts";
import { listen } from "./support/tls-receiver.ts";

const NOBODY = 65_534;
// The server refuses to run as root.
const ACCOUNT = process.getuid?.() === 0 ? "nobody" : "self";
const binaries = findBinaries();

function findBinaries(): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "postgres"));
  const found = [...globSync("/usr/lib/postgresql/*/bin/postgres"), ...onPath].map(dirname);
  return found.find((folder) => existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb")));
}

async function startSystemPostgres(folder: string): Promise<TestDatabase> {
  const home = await mkdtemp(join(tmpdir(), "postern-system-"));
  if (ACCOUNT === "nobody") await chown(home, NOBODY, NOBODY);
  const data = join(home, "data");
  const initdb = commandFor(ACCOUNT, join(folder, "initdb"), ["-D", data, "-U", "postern", "-E", "UTF8"]);
  const made = spawnSync(initdb.file, initdb.args, { ...initdb.options, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const probe = createServer();
  const port = await listen(probe);
  probe.close();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const args = ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
  const command = commandFor(ACCOUNT, join(folder, "postgres"), args);
  const server = spawn(command.file, command.args, { ...command.options, stdio: "ignore" });
  const exited = once(server, "exit");
  process.once("exit", () => server.kill("SIGQUIT"));
  const admin = open(`postgres://postern@127.0.0.1:${port}/postgres`);
  await eventually(() =>
    admin.query("SELECT 1").then(
      () => true,
      () => false,
    ),
  );
  // As docs/operating.md has it: a user of few rights.
  await admin.query("CREATE ROLE operator LOGIN CREATEROLE");
  await admin.query("CREATE DATABASE postern OWNER operator");
  await admin.end();
  const url = `postgres://operator@127.0.0.1:${port}/postern`;
  const pool = open(url);
  const drop = async (): Promise<void> => {
    await pool.end();
    server.kill("SIGINT");
    await exited;
    await rm(home, { recursive: true, force: true });
  };
  return { url, pool, drop };
}

function open(url: string): Pool {
  return createPool({ url, poolSize: 5, applicationName: "postern test", connectionTimeoutMs: 5000 });
}

describe("the system's PostgreSQL", () => {
  const skip = binaries === undefined ? "no PostgreSQL is installed on this system" : false;
  it(
    "takes every migration from a user who is no superuser, and leads events from HTTP and SQL to their deliveries",
    { skip },
    async (context) => {
      const database = await startSystemPostgres(binaries ?? "");
      context.after(() => database.drop());
      const migrations = await readMigrations(join(import.meta.dirname, "..", "migrations"));
      assert.equal((await migrate(database.pool, migrations)).length, migrations.length);
      const { rows: versions } = await database.pool.query("SELECT version()");
      context.diagnostic(String(versions[0]?.version));

      const service = await startTestService({ database });
      try {
        const { endpoint } = await createEndpoint(service, { url: service.receiver.url });
        const { id } = await publish(service);
        // The worker announces the catalog to SQL after its start.
        await eventually(
          async () =>
            (await database.pool.query("SELECT FROM postern.event_types WHERE type = 'invoice.paid'"))
              .rowCount,
        );
        const { rows } = await database.pool.query(
          "SELECT postern.publish('acme', 'invoice.paid', '{}') AS id",
        );
        for (const eventId of [id, String(rows[0]?.id)]) {
          await eventually(
            async () =>
              (await listDeliveries(service, endpoint.id, `?event_id=${eventId}&status=delivered`))[0],
          );
        }
      } finally {
        await service.stop();
      }
    },
  );
});
