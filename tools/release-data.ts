/**
 * `node tools/release-data.ts <version> <tag or commit>`: data as that release
 * leaves them, into test/releases/<version>. Run it once for each release
 * (docs/how-to/release.md). Needs git's history and `pg_dump` 15 or newer.
 *
 * The release's own program makes them, on the oldest PostgreSQL: deliveries,
 * tests and retries, kept bodies, an export, a rotated secret, a held and a
 * scheduled dispatch; then events that only an api accepted, and one from SQL.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { makeSecrets, type Environment } from "../src/config.ts";
import { createPool } from "../src/database/pool.ts";
import { installPostgres15, startPostgres15 } from "../test/support/postgres-15.ts";
import { type Program, sharedSettings, startProgram } from "../test/support/program.ts";
import { bringRelease, type Release, RELEASES } from "../test/support/releases.ts";
import { PRODUCER } from "../test/support/calls.ts";
import { eventually } from "../test/support/eventually.ts";
import { startReceiver } from "../test/support/tls-receiver.ts";
import { compress, packFiles } from "./release/archive.ts";
import { readFiles } from "./release/contents.ts";

const KEEP_ALL = { keep_request_bodies: true, keep_response_bodies: true, artifact_days: null };

/** Of another release's answers, the members that are used here. */
const created = z.object({ endpoint: z.object({ id: z.string() }), secret: z.string() });
const log = z.object({ deliveries: z.array(z.object({ id: z.string() })) });
const rotated = z.object({ secret: z.string() });
const requested = z.object({ id: z.string() });
const exported = z.object({ status: z.string() });
const library = z.object({ items: z.array(z.unknown()) });

/** Nothing of it may have ended when a test restores it, years later. */
const LONG = { RETENTION_DAYS: "3650", ARTIFACT_DAYS: "3650", RETRY_SCHEDULE: "0s,1h" };

const { version, revision } = readArguments();
await makeData();

function readArguments(): { version: string; revision: string } {
  const [given, of] = process.argv.slice(2);
  assert.ok(given !== undefined && of !== undefined, "node tools/release-data.ts <version> <tag or commit>");
  return { version: given, revision: of };
}

async function makeData(): Promise<void> {
  const program = bringRelease({ version, revision }, console.log);
  if ("missing" in program) throw new Error(program.missing);
  await installPostgres15(console.log);
  const server = await startPostgres15({});
  const receiver = await startReceiver({
    respond: ({ path }) => ({
      status: path === "/fails" ? 500 : 200,
      body: `answer of ${path} `.repeat(100),
    }),
  });
  const dataDir = await mkdtemp(join(tmpdir(), "postern-release-data-"));
  const secrets = makeSecrets();
  const env = {
    ...(await sharedSettings(server.url, receiver.caPem)),
    ...secrets,
    ...LONG,
    DATA_DIR: dataDir,
  };
  try {
    const origin = new URL(receiver.url).origin;
    const done = await useService(program.main, env, origin);
    const pending = await leavePending(program.main, env);
    const endpoints = [...done.endpoints, await leaveHeld(program.main, env, origin)];
    const release: Release = { version, revision, secrets, receiver: origin, ...done, endpoints, pending };
    await store(release, server.url, dataDir);
  } finally {
    await receiver.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** With both roles: everything that is over when it stops. */
async function useService(main: string, env: Environment, origin: string) {
  const program = await startProgram(["up"], env, main);
  await ask(program, "PUT", "/api/storage/settings", KEEP_ALL);
  const works = await createEndpoint(program, `${origin}/works`);
  const fails = await createEndpoint(program, `${origin}/fails`);
  const rotation = await ask(program, "POST", `/api/webhooks/${works.id}/rotate-secret`, {
    grace_seconds: 3600,
  });
  works.secret = rotated.parse(rotation).secret;
  for (let n = 0; n < 3; n++) await publish(program, `over ${n}`);
  const listed = async (id: string, status: string) =>
    log.parse(await ask(program, "GET", `/api/webhooks/${id}/deliveries?status=${status}`)).deliveries;
  const failedDelivery = await eventually(async () => {
    const failed = await listed(fails.id, "failed");
    return (await listed(works.id, "delivered")).length === 3 && failed.length === 3 && failed[0]?.id;
  });
  await ask(program, "POST", `/api/webhooks/${works.id}/test`, { event_type: "invoice.paid" });
  await ask(program, "POST", `/api/webhooks/${fails.id}/deliveries/${failedDelivery}/retry`);
  const hour = 3_600_000;
  const range = { from: new Date(Date.now() - hour).toISOString(), to: new Date().toISOString() };
  const { id: exportId } = requested.parse(await ask(program, "POST", "/api/storage/exports", range));
  await eventually(
    async () =>
      exported.parse(await ask(program, "GET", `/api/storage/exports/${exportId}`)).status === "ready",
  );
  // Request and answer of the three delivered events at least, and the export.
  await eventually(
    async () => library.parse(await ask(program, "GET", "/api/storage/library?limit=100")).items.length >= 7,
  );
  const deliveries = await countDeliveries(env);
  assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  return { endpoints: [works, fails], failedDelivery, deliveries, exportId };
}

async function createEndpoint(program: Program, url: string): Promise<Release["endpoints"][number]> {
  const { pathname: path } = new URL(url);
  const authorization = `Bearer of-${path.slice(1)}`;
  const input = { url, events: ["invoice.*"], headers: { authorization } };
  const { endpoint, secret } = created.parse(await ask(program, "POST", "/api/webhooks", input));
  return { id: endpoint.id, path, secret, authorization };
}

/** Calls the API; throws for an answer that is no success. */
async function ask(program: Program, method: string, path: string, json?: unknown): Promise<unknown> {
  const { status, text, body } = await program.call(method, path, json === undefined ? {} : { json });
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
  return body;
}

async function publish(program: Program, note: string): Promise<void> {
  const { status, text } = await program.call("POST", "/api/events", {
    as: PRODUCER,
    json: { type: "invoice.paid", data: { note } },
  });
  assert.equal(status, 202, text);
}

/** With an api alone, and from SQL: nobody attempts them. */
async function leavePending(main: string, env: Environment): Promise<Release["pending"]> {
  const program = await startProgram(["api"], env, main);
  await publish(program, "pending");
  const db = openPool(env);
  try {
    await db.query("SELECT postern.publish('acme', 'invoice.paid', $1)", [{ note: "from SQL" }]);
  } finally {
    await db.end();
  }
  assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  return ["pending", "from SQL"].flatMap((note) => ["/works", "/fails"].map((path) => ({ path, note })));
}

/** An endpoint that is disabled while an event is pending for it. */
async function leaveHeld(main: string, env: Environment, origin: string) {
  const program = await startProgram(["api"], env, main);
  const held = await createEndpoint(program, `${origin}/held`);
  await publish(program, "held");
  await ask(program, "PATCH", `/api/webhooks/${held.id}`, { enabled: false });
  assert.deepEqual(await program.end("SIGTERM"), { code: 0, signal: null });
  return held;
}

async function countDeliveries(env: Environment): Promise<number> {
  const db = openPool(env);
  try {
    const { rows } = await db.query("SELECT count(*)::int AS deliveries FROM postern.deliveries");
    return Number(rows[0]?.deliveries);
  } finally {
    await db.end();
  }
}

function openPool(env: Environment) {
  return createPool({
    url: env["DATABASE_URL"] ?? "",
    poolSize: 1,
    applicationName: "postern release data",
    connectionTimeoutMs: 5000,
  });
}

async function store(release: Release, databaseUrl: string, dataDir: string): Promise<void> {
  const args = ["--schema=postern", "--no-owner", "--inserts", "--rows-per-insert=100", databaseUrl];
  const dump = spawnSync("pg_dump", args, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  assert.equal(dump.status, 0, dump.error?.message ?? dump.stderr);
  // psql's own commands, which a server does not know.
  const lines = dump.stdout.split("\n").filter((line) => !line.startsWith("\\"));
  const folder = join(RELEASES, version);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "database.sql"), lines.join("\n"));
  await writeFile(join(folder, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
  const files = await readFiles(dataDir, ["storage/**"]);
  await writeFile(join(folder, "storage.tar.gz"), compress(await packFiles(files, Date.now() / 1000)));
  console.log(`Wrote ${folder}`);
}
