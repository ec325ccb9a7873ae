import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from "node:test";
import { holdWaits, releaseWaits } from "../../../test/support/held-waits.ts";
import { listen } from "../../../test/support/tls-receiver.ts";
import { ownMark, parseMark } from "./embedded-process.ts";
import { type EmbeddedOptions, startEmbeddedPostgres } from "./embedded.ts";

const START_LIMIT_MS = 90_000;
const isRoot = process.getuid?.() === 0;

let folder: string;
let dataDir: string;
let home: string;
let cluster: string;
/** Stands in for a server: a program with the folder among its words. */
let child: ChildProcess;
let listening: Server[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-running-"));
  await chmod(folder, 0o755);
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, "data-"));
  await chmod(dataDir, 0o755);
  home = join(dataDir, "postgres");
  cluster = join(home, "data");
  await mkdir(cluster, { recursive: true });
  // A start that goes on as though no server ran fails by this.
  await writeFile(join(cluster, "PG_VERSION"), "17\n");
});
afterEach(() => {
  releaseWaits();
  child?.kill("SIGKILL");
  for (const server of listening.splice(0)) server.close();
});
after(() => rm(folder, { recursive: true }));

const ANOTHER_VERSION = /was made by PostgreSQL 17/;
/** To a client that logs in: messages of PostgreSQL's protocol. */
const LET_IN = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))]);
const refusal = (code: string) => message("E", Buffer.from(`SFATAL\0C${code}\0Mno\0\0`));

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}0000`);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** A server runs on the cluster, and does this with each client. */
async function run(serve: (socket: Socket) => void, state = "ready"): Promise<number> {
  const program = "process.stdin.resume(); console.log()";
  child = spawn(process.execPath, ["-e", program, "--", "-D", cluster], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  if (child.stdout !== null) await once(child.stdout, "data");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => serve(socket));
  });
  listening.push(server);
  const port = await listen(server);
  await say(port, state);
  return port;
}

/** In the file by which the server tells how it is. */
function say(port: number, state: string): Promise<void> {
  const lines = [child.pid, cluster, "1769853600", port, "", "127.0.0.1", "  1 2", `${state}   `, ""];
  return writeFile(join(cluster, "postmaster.pid"), lines.join("\n"));
}

function start(more: Partial<EmbeddedOptions> = {}) {
  const lines: string[] = [];
  const log = { info: (line: string) => void lines.push(line), warn: assert.fail };
  return startEmbeddedPostgres({ dataDir, log, openFolder: folder, ...more }).then((server) => ({
    ...server,
    lines,
  }));
}

/** A program that takes the server over. */
function owning(): string {
  const options = JSON.stringify({ dataDir, openFolder: folder });
  return `
    import { startEmbeddedPostgres } from ${JSON.stringify(import.meta.resolve("./embedded.ts"))};
    const log = { info() {}, warn() {} };
    await startEmbeddedPostgres({ ...${options}, log });`;
}

function stopClock({ mock }: TestContext): { passMs: (ms: number) => void } {
  const startMs = performance.now();
  let nowMs = startMs;
  mock.method(performance, "now", () => nowMs);
  return { passMs: (ms) => (nowMs = startMs + ms) };
}

describe("a server of the cluster that runs already", () => {
  it("is waited for while it lets nobody in, and no more once it is gone", async (test) => {
    const clock = stopClock(test);
    await run((socket) => {
      clock.passMs(START_LIMIT_MS);
      child.kill("SIGKILL");
      socket.end(refusal("57P03"));
    });
    await assert.rejects(start(), ANOTHER_VERSION);
  });

  it("is not asked to let anybody in before it says that it is ready", async () => {
    let asked = 0;
    const port = await run((socket) => {
      asked++;
      socket.write(LET_IN);
    }, "starting");
    const waits = holdWaits("all");
    const starting = start();
    while (waits.length === 0) await new Promise(setImmediate);
    assert.equal(asked, 0);
    await say(port, "ready");
    waits[0]?.end();
    const { stop } = await starting;
    assert.equal(asked, 1);
    releaseWaits();
    await stop();
  });

  it("is waited for no longer than a start may take", async (test) => {
    const clock = stopClock(test);
    await run((socket) => {
      clock.passMs(START_LIMIT_MS + 1);
      socket.destroy();
    });
    await assert.rejects(start(), {
      message: `The server of ${cluster} (process ${child.pid}) runs but accepts no connection. End it and start again.`,
    });
  });

  it("says at once that it refuses the password of the data folder", async () => {
    await run((socket) => socket.end(refusal("28P01")));
    await assert.rejects(start(), {
      message:
        "The embedded database refuses the password of this data folder: the file `password` was replaced. Restore it.",
    });
  });

  it("is joined, and left alone, where the process that owns it runs", async () => {
    const port = await run((socket) => socket.write(LET_IN));
    await writeFile(join(home, "owner"), JSON.stringify(ownMark()));
    const { url, joined, lines, stop } = await start();
    const password = await readFile(join(home, "password"), "utf8");
    assert.match(password, /^[A-Za-z0-9_-]{32}$/);
    assert.equal(url, `postgres://postern:${password}@127.0.0.1:${port}/postern`);
    assert.deepEqual([joined, lines], [cluster, []]);
    await stop();
    assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
    assert.ok(existsSync(join(home, "owner")));
  });

  it(
    "keeps its cluster where it is, also where a start would move it",
    { skip: isRoot ? false : "needs root" },
    async () => {
      await run((socket) => socket.write(LET_IN));
      await writeFile(join(home, "owner"), JSON.stringify(ownMark()));
      const { joined } = await start({ rootMode: "elsewhere" });
      assert.equal(joined, cluster);
      assert.deepEqual((await readdir(home)).toSorted(), ["data", "owner", "password"]);
    },
  );

  it("is taken over, and ended, where that process is gone or not known", async () => {
    const gone = JSON.stringify({ ...ownMark(), startedAt: "0" });
    for (const owner of [null, gone, "torn"]) {
      await run((socket) => socket.write(LET_IN));
      if (owner !== null) await writeFile(join(home, "owner"), owner, { mode: 0o600 });
      const { joined, lines, stop } = await start();
      assert.deepEqual(
        [joined, lines],
        [null, ["Taking over the embedded database: the process that started it is gone."]],
      );
      assert.deepEqual(parseMark(await readFile(join(home, "owner"), "utf8")), ownMark());
      assert.equal((await stat(join(home, "owner"))).mode & 0o777, 0o600);
      const ended = once(child, "exit");
      await Promise.all([stop(), stop()]);
      assert.deepEqual(await ended, [null, "SIGINT"]);
      assert.equal(existsSync(join(home, "owner")), false);
    }
  });

  it("leaves the file of a process that owns the next server by then", async () => {
    await run((socket) => socket.write(LET_IN));
    const { stop } = await start();
    const next = JSON.stringify({ ...ownMark(), pid: process.ppid });
    await writeFile(join(home, "owner"), next);
    await stop();
    assert.equal(await readFile(join(home, "owner"), "utf8"), next);
  });

  it("keeps no process alive that took it over, and ends with it", async () => {
    await run((socket) => socket.write(LET_IN));
    const ended = once(child, "exit");
    const owner = spawn(process.execPath, ["--input-type=module", "--eval", owning()], { stdio: "inherit" });
    assert.deepEqual(await once(owner, "exit"), [0, null]);
    assert.deepEqual(await ended, [null, "SIGINT"]);
  });

  it(
    "ends with its process also after a Ctrl-C that reaches all of that process's group",
    { timeout: 20_000 },
    async () => {
      await run((socket) => socket.write(LET_IN));
      const ended = once(child, "exit");
      const owner = spawn(
        process.execPath,
        [
          "--input-type=module",
          "--eval",
          `${owning()}
      process.on("SIGINT", () => process.exit(3));
      console.log();
      setInterval(() => undefined, 60_000);`,
        ],
        { stdio: ["ignore", "pipe", "inherit"], detached: true },
      );
      await once(owner.stdout, "data");
      process.kill(-(owner.pid ?? 0), "SIGINT");
      assert.deepEqual(await once(owner, "exit"), [3, null]);
      assert.deepEqual(await ended, [null, "SIGINT"]);
    },
  );

  it("is not taken over where its owner cannot be read", async () => {
    await run((socket) => socket.write(LET_IN));
    await mkdir(join(home, "owner"));
    await assert.rejects(start(), { code: "EISDIR" });
  });
});

describe("a start of the embedded database", () => {
  it("where it ran before finds its cluster, or says that it is gone", async () => {
    await assert.rejects(start({ isRestart: true }), ANOTHER_VERSION);
    await rm(cluster, { recursive: true });
    await assert.rejects(start({ isRestart: true }), {
      message: `The cluster ${cluster} is gone. Bring it back.`,
    });
    assert.equal(existsSync(cluster), false);
  });

  it("says that its folder cannot be written", { skip: isRoot ? false : "needs root" }, async () => {
    dataDir = await mkdtemp(join(folder, "closed-"));
    process.seteuid?.(65534);
    try {
      await assert.rejects(start(), {
        name: "ConfigError",
        message: new RegExp(
          `^The data folder ${dataDir} cannot be written: EACCES: .*\nLet the user .* set DATA_DIR to another`,
        ),
      });
    } finally {
      process.seteuid?.(0);
    }
  });

  it("fails as its folder does otherwise", async () => {
    dataDir = join(dataDir, "postgres", "data", "PG_VERSION");
    await assert.rejects(start(), { code: "ENOTDIR" });
  });
});
