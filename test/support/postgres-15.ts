/**
 * The oldest PostgreSQL that Postern supports, from npm and with its shipped
 * settings, in a folder of its own. Installed when tests or benchmarks first
 * ask for it: whoever only runs Postern never fetches it.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  commandFor,
  ownerOf,
  placeServer,
  type Placement,
} from "../../src/database/embedded/embedded-account.ts";
import { findBinaries } from "../../src/database/embedded/embedded-binaries.ts";
import { readState, stopServer } from "../../src/database/embedded/embedded-cluster.ts";
import { createPool } from "../../src/database/pool.ts";
import type { KeyAndCertificate } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { makeCluster } from "./new-cluster.ts";
import { installOwnPackages } from "./own-packages.ts";
import { serverFolder } from "./server-folder.ts";

export type Server = {
  /** Of a superuser, in a database `postern` of its own. */
  url: string;
  /** The process whose children are the server's. */
  readPid: () => number;
  stop: () => Promise<void>;
  /** Ends it as a power cut would, and starts it again on the same rows and port. */
  crash: () => Promise<void>;
};

const FOLDER = join(import.meta.dirname, "..", "postgres-15");
const START_LIMIT_MS = 60_000;
const USER = "postern";

/** `say` is told before it takes its time. */
export async function installPostgres15(say: (message: string) => void): Promise<void> {
  await installOwnPackages(FOLDER, () => say("Installing PostgreSQL 15 for the tests (once, 60 MB) …"));
}

/**
 * Starts a server on a new cluster with PostgreSQL's own defaults but for
 * `settings`; the rows go with it. With `tls` it offers TLS by that certificate.
 */
export async function startPostgres15(
  settings: Record<string, string>,
  tls: KeyAndCertificate | null = null,
): Promise<Server> {
  const home = await mkdtemp(join(serverFolder(), "postern-15-"));
  await chmod(home, 0o711);
  const binaries = await findBinaries(home, join(FOLDER, "package.json"));
  // Without it, node_modules above would be looked into.
  assert.match(binaries.version, /^15\./, "PostgreSQL 15 is not installed: run npm test");
  const log = { info: () => undefined, warn: (message: string) => console.error(message) };
  const placement = await placeServer({ home, binaries, rootMode: "auto", openFolder: home, log });
  await makeCluster(placement, USER);
  if (tls !== null) await offerTls(placement, tls);
  const port = await freePort();
  let server = await start(placement, port, settings);
  await createDatabase(port);
  return {
    url: urlOf(port, USER),
    readPid: () => readState(placement.cluster)?.pid ?? 0,
    async stop() {
      await stopServer(placement.cluster);
      await server.ended;
      await rm(home, { recursive: true, force: true });
    },
    async crash() {
      process.kill(readState(placement.cluster)?.pid ?? 0, "SIGKILL");
      await server.ended;
      server = await start(placement, port, settings);
    },
  };
}

/** By the files that PostgreSQL looks for when `ssl` is on. */
async function offerTls({ account, cluster }: Placement, tls: KeyAndCertificate): Promise<void> {
  const owner = ownerOf(account);
  for (const [name, pem] of [
    ["server.crt", tls.certPem],
    ["server.key", tls.keyPem],
  ] as const) {
    const file = join(cluster, name);
    await writeFile(file, pem, { mode: 0o600 });
    if (owner !== undefined) await chown(file, owner, owner);
  }
  await appendFile(join(cluster, "postgresql.conf"), "ssl = on\n");
}

/** Resolves once it takes connections, with the promise of its end. */
async function start(
  { account, native, cluster }: Placement,
  port: number,
  settings: Record<string, string>,
): Promise<{ ended: Promise<unknown> }> {
  const given = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port),
    ...settings,
  };
  const args = [
    "-D",
    cluster,
    ...Object.entries(given).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const command = commandFor(account, join(native, "bin", "postgres"), args);
  await rm(join(cluster, "postmaster.pid"), { force: true });
  const server = spawn(command.file, command.args, {
    ...command.options,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  server.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString("utf8")).slice(-4000)));
  process.once("exit", () => server.kill("SIGQUIT"));
  const deadline = performance.now() + START_LIMIT_MS;
  while (readState(cluster)?.ready !== true) {
    assert.ok(
      server.exitCode === null && performance.now() < deadline,
      `PostgreSQL 15 did not start: ${said}`,
    );
    await delay(20);
  }
  return { ended: once(server, "exit") };
}

async function createDatabase(port: number): Promise<void> {
  const admin = createPool({
    url: urlOf(port, "postgres"),
    poolSize: 1,
    applicationName: "postern test",
    connectionTimeoutMs: 5000,
  });
  await admin.query(`CREATE DATABASE ${USER}`);
  await admin.end();
}

function urlOf(port: number, database: string): string {
  return `postgres://${USER}@127.0.0.1:${port}/${database}`;
}
