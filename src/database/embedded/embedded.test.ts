import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { cp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { placeServer, type RootMode } from "./embedded-account.ts";
import { findBinaries } from "./embedded-binaries.ts";
import { readState, stopServer, untilGone } from "./embedded-cluster.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.ts";

const isRoot = process.getuid?.() === 0;
const folders: string[] = [];
const children: ChildProcess[] = [];

function makeFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-embedded-"));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

type Lines = { log: { info(message: string): void; warn(message: string): void }; lines: string[] };

function collect(): Lines {
  const lines: string[] = [];
  const add = (message: string): void => void lines.push(message);
  return { lines, log: { info: add, warn: add } };
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  // A killed server reports that between queries too.
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(sql);
    return result.rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

/** A service in a process of its own: starts the database, prints its address, then waits to be ended. */
function serviceOf(dataDir: string): ChildProcess {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL("embedded.ts", import.meta.url).href)};
    const log = { info() {}, warn() {} };
    const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log });
    process.on("SIGINT", () => {}); // It drains.
    process.on("SIGTERM", () => server.stop().then(() => process.exit(0)));
    console.log(server.url);
    // Ends with the test that started it, should that be killed.
    process.stdin.resume().on("end", () => process.exit(1));`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  children.push(child);
  return child;
}

async function startElsewhere(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = serviceOf(dataDir);
  assert.ok(child.stdout);
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return { child, url: String(line).trim() };
}

function clusterOf(dataDir: string): string {
  return join(dataDir, "postgres", "data");
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

async function remove(folder: string): Promise<void> {
  await stopServer(clusterOf(folder));
  await rm(folder, { recursive: true, force: true });
}

after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(folders.map(remove));
});

describe("the embedded database", () => {
  it("starts on an empty folder and finds its rows again at the next start", async () => {
    const dataDir = makeFolder();
    const { log } = collect();
    const first = await startEmbeddedPostgres({ dataDir, log });
    await query(first.url, "CREATE TABLE kept AS SELECT 7 AS n");
    assert.deepEqual(await query(first.url, "SELECT split_part(version(), ' ', 2) LIKE '18.%'"), [true]);
    assert.deepEqual(await query(first.url, "SHOW fsync"), ["on"]);
    assert.deepEqual(await query(first.url, "SHOW server_encoding"), ["UTF8"]);
    await first.stop();
    await assert.rejects(query(first.url, "SELECT 1"), { code: "ECONNREFUSED" });
    // A log that has grown begins anew.
    const serverLog = join(dataDir, "postgres", "server.log");
    await writeFile(serverLog, "x".repeat(4 * 1024 * 1024 + 1));
    const second = await startEmbeddedPostgres({ dataDir, log });
    assert.deepEqual(await query(second.url, "SELECT n FROM kept"), [7]);
    assert.equal(new URL(second.url).port, new URL(first.url).port);
    assert.ok(statSync(serverLog).size < 100_000);
    await second.stop();
  });

  it("is stopped where it cannot be owned, and the start says why", async () => {
    const dataDir = makeFolder();
    const { log } = collect();
    // In the file's place, which cannot be written then.
    mkdirSync(join(dataDir, "postgres", "owner"), { recursive: true });
    await assert.rejects(startEmbeddedPostgres({ dataDir, log }), { code: "EISDIR" });
    assert.equal(readState(clusterOf(dataDir)), undefined);
  });

  it("refuses connections without the password, which only the service's user can read", async () => {
    const dataDir = makeFolder();
    const server = await startEmbeddedPostgres({ dataDir, log: collect().log });
    const wrong = new URL(server.url);
    wrong.password = "guess";
    await assert.rejects(query(wrong.href, "SELECT 1"), { code: "28P01" });
    const file = join(dataDir, "postgres", "password");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const hba = readFileSync(join(clusterOf(dataDir), "pg_hba.conf"), "utf8");
    assert.doesNotMatch(hba.replaceAll(/^#.*$/gm, ""), /trust/);
    await server.stop();
  });

  it("starts once when several processes ask at the same time, and ends with its owner", async () => {
    const dataDir = makeFolder();
    const all = await Promise.all([1, 2, 3].map(() => startElsewhere(dataDir)));
    assert.equal(new Set(all.map(({ url }) => url)).size, 1);
    const owner = JSON.parse(readFileSync(join(dataDir, "postgres", "owner"), "utf8")).pid;
    const joined = all.filter(({ child }) => child.pid !== owner);
    assert.equal(joined.length, 2);
    for (const { child, url } of joined) {
      await kill(child, "SIGTERM");
      assert.deepEqual(await query(url, "SELECT 1"), [1]);
    }
    for (const { child } of all) if (child.pid === owner) await kill(child, "SIGTERM");
    assert.equal(readState(clusterOf(dataDir)), undefined);
  });
});

describe("the embedded database when something is killed", () => {
  it("does not end on a Ctrl-C that its service is still draining after", async () => {
    const dataDir = makeFolder();
    const { child, url } = await startElsewhere(dataDir);
    assert.ok(child.pid);
    // As a terminal does: to every process of the service's group.
    process.kill(-child.pid, "SIGINT");
    await sleep(200);
    assert.deepEqual(await query(url, "SELECT 1"), [1]);
    await kill(child, "SIGTERM");
    assert.equal(readState(clusterOf(dataDir)), undefined);
  });

  it("ends by itself after its service is killed with kill -9", async () => {
    const dataDir = makeFolder();
    const { child } = await startElsewhere(dataDir);
    await kill(child, "SIGKILL");
    assert.equal(await untilGone(clusterOf(dataDir), 10_000), true);
  });

  it("ends by itself after its service is killed while it starts", async () => {
    const dataDir = makeFolder();
    const child = serviceOf(dataDir);
    const file = join(clusterOf(dataDir), "postmaster.pid");
    while (!existsSync(file)) await new Promise(setImmediate);
    await kill(child, "SIGKILL");
    assert.equal(await untilGone(clusterOf(dataDir), 10_000), true);
  });

  it("is taken over, and stopped, by the next start while it outlives its service", async () => {
    const dataDir = makeFolder();
    const { child, url } = await startElsewhere(dataDir);
    // The watchdog takes a moment. Stand in for one that was killed too: name a dead owner.
    const file = join(dataDir, "postgres", "owner");
    const owner = readFileSync(file, "utf8");
    await writeFile(file, JSON.stringify({ pid: process.pid, startedAt: "0" }));
    const { log, lines } = collect();
    const server = await startEmbeddedPostgres({ dataDir, log });
    assert.equal(server.url, url);
    assert.match(lines.join("\n"), /Taking over/);
    assert.notEqual(readFileSync(file, "utf8"), owner);
    await server.stop();
    assert.equal(readState(clusterOf(dataDir)), undefined);
    await kill(child, "SIGKILL");
  });

  it("recovers committed rows after the server itself is killed with kill -9", async () => {
    const dataDir = makeFolder();
    const { log } = collect();
    const first = await startEmbeddedPostgres({ dataDir, log });
    await query(first.url, "CREATE TABLE kept AS SELECT 7 AS n");
    const state = readState(clusterOf(dataDir));
    assert.ok(state);
    process.kill(state.pid, "SIGKILL");
    await untilGone(clusterOf(dataDir), 5000);
    assert.ok(existsSync(join(clusterOf(dataDir), "postmaster.pid")));
    await first.ended;
    const second = await startEmbeddedPostgres({ dataDir, log });
    assert.deepEqual(await query(second.url, "SELECT n FROM kept"), [7]);
    await second.stop();
  });

  it("starts while a session of a killed server still ends", async () => {
    const dataDir = makeFolder();
    const { log } = collect();
    const first = await startEmbeddedPostgres({ dataDir, log });
    const state = readState(clusterOf(dataDir));
    assert.ok(state);
    // It looks whether its server lives only once it has counted.
    const counting = query(first.url, "SELECT count(*) FROM generate_series(1, 10000000)").catch(() => null);
    while (!(await isCounting(first.url))) await sleep(20);
    process.kill(state.pid, "SIGKILL");
    await first.ended;
    const second = await startEmbeddedPostgres({ dataDir, log });
    assert.deepEqual(await query(second.url, "SELECT 7"), [7]);
    await counting;
    await second.stop();
  });
});

async function isCounting(url: string): Promise<boolean> {
  const found = await query(
    url,
    "SELECT count(*)::int FROM pg_stat_activity WHERE query ^@ 'SELECT count(*) FROM generate_series' AND state = 'active'",
  );
  return found[0] === 1;
}

async function startAs(dataDir: string, rootMode: RootMode): Promise<EmbeddedPostgres & { lines: string[] }> {
  const { log, lines } = collect();
  const openFolder = join(folders[0] ?? tmpdir(), "open");
  return { ...(await startEmbeddedPostgres({ dataDir, log, rootMode, openFolder })), lines };
}

describe("the embedded database for root", { skip: isRoot ? false : "needs root" }, () => {
  it("runs as nobody in a folder that others may enter", async () => {
    const dataDir = makeFolder();
    const server = await startAs(dataDir, "auto");
    assert.equal(statSync(clusterOf(dataDir)).uid, 65534);
    await server.stop();
  });

  it("starts below a closed folder, in a user namespace or elsewhere", async () => {
    const dataDir = join(makeFolder(0o700), "app", "data");
    const server = await startAs(dataDir, "auto");
    assert.deepEqual(await query(server.url, "SELECT 1"), [1]);
    await server.stop();
  });

  it("moves the cluster out of a closed folder where namespaces are not allowed, and keeps its rows", async () => {
    const parent = makeFolder();
    const dataDir = join(parent, "data");
    const open = await startAs(dataDir, "auto");
    await query(open.url, "CREATE TABLE kept AS SELECT 7 AS n");
    await open.stop();
    chmodSync(parent, 0o700);
    const closed = await startAs(dataDir, "elsewhere");
    assert.match(closed.lines.join("\n"), /The embedded database lies in .*postern-/);
    assert.deepEqual(await query(closed.url, "SELECT n FROM kept"), [7]);
    await closed.stop();
    const again = await startAs(dataDir, "auto");
    assert.deepEqual(await query(again.url, "SELECT n FROM kept"), [7]);
    await again.stop();
  });

  it("copies binaries that lie in a closed folder", async () => {
    const found = await findBinaries(makeFolder());
    const native = join(makeFolder(0o700), "native");
    await cp(found.native, native, { recursive: true, verbatimSymlinks: true });
    const home = makeFolder();
    const binaries = { native, version: found.version };
    const { log } = collect();
    const placement = await placeServer({ home, binaries, rootMode: "nobody", openFolder: home, log });
    assert.equal(placement.account, "nobody");
    assert.ok(placement.native.startsWith(home));
  });
});
