import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { nodeScript } from "../../../test/support/node-script.ts";
import { childrenOf, processIds, processOf } from "../../../test/support/processes.ts";
import { readState, startServer } from "./embedded-cluster.ts";
import { isServerOf } from "./embedded-process.ts";

let folder: string;
let cluster: string;
let started: ChildProcess[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-start-"));
});
beforeEach(async () => {
  cluster = join(await mkdtemp(join(folder, "home-")), "data");
  await mkdir(cluster);
});
afterEach(() => started.splice(0).forEach((child) => child.kill("SIGKILL")));
after(() => rm(folder, { recursive: true }));

/** Puts a program into PostgreSQL's place. */
async function place(program: string) {
  const native = join(dirname(cluster), "native");
  await mkdir(join(native, "bin"), { recursive: true });
  await writeFile(join(native, "bin", "postgres"), program, { mode: 0o755 });
  return { account: "self", native, cluster } as const;
}

/** Starts a program in PostgreSQL's place. */
async function start(program: string): Promise<ChildProcess> {
  const child = await startServer(await place(program), 5999, {});
  started.push(child);
  return child;
}

/** The same in a process of its own, which then has nothing more to do. `before` is done there first. */
async function startElsewhere(program: string, before = ""): Promise<ChildProcess> {
  const placement = JSON.stringify(await place(program));
  const source = `
    ${before}
    import { startServer } from ${JSON.stringify(import.meta.resolve("./embedded-cluster.ts"))};
    await startServer(${placement}, 5999, {});`;
  const service = spawn(process.execPath, ["--input-type=module", "--eval", source], { stdio: "inherit" });
  started.push(service);
  return service;
}

/** Of this process. */
function watchdogs(): number {
  return childrenOf(process.pid).filter(({ words }) => words.some((word) => word.includes("read -r pid")))
    .length;
}

const shell = (script: string) => `#!/bin/sh\necho >> "${tries()}"\n${script}\n`;
const tries = () => join(dirname(cluster), "tries");
const triesMade = async () => (await readFile(tries(), "utf8")).length;

/** Says that it is ready, as PostgreSQL does, and runs. */
const SERVER = nodeScript(`
  const cluster = process.argv[3];
  console.log("it starts");
  const lines = [process.pid, cluster, "1769853600", "5999", "", "127.0.0.1", "  1 2", "ready   ", ""];
  require("node:fs").writeFileSync(cluster + "/postmaster.pid", lines.join("\\n"));
  setInterval(() => undefined, 1000);`);
/** Says fifty times how far it is, and then as above. */
const RECOVERING_SERVER = SERVER.replace(
  'console.log("it starts");',
  "for (let n = 0; n < 50; n++) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10); console.log(n); }",
);
/** Runs, and has not written its file yet. */
const NAMELESS_SERVER = nodeScript(`
  console.log(process.pid);
  setInterval(() => undefined, 1000);`);
const SESSIONS_RUN = 'echo "FATAL: pre-existing shared memory block (key 1, ID 2) is still in use"; exit 1';

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether a process has the folder among its words. */
function isAnyAt(path: string): boolean {
  return processIds().some((pid) => processOf(pid)?.words.includes(path) === true);
}

describe("a server that starts", () => {
  it("is handed over once it is ready, in a group of its own, and its end is no failed start then", async () => {
    const child = await start(SERVER);
    assert.equal(readState(cluster)?.pid, child.pid);
    const log = join(dirname(cluster), "server.log");
    assert.equal(readFileSync(log, "utf8"), "it starts\n");
    assert.equal((await stat(log)).mode & 0o777, 0o600);
    assert.equal(processOf(child.pid ?? 0)?.group, child.pid);
    await rm(log);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });

  it("is not another's that runs on the cluster, whose file stays", async () => {
    const other = await start(SERVER);
    await assert.rejects(start(shell("sleep 0.1; exit 1")), /^Error: The embedded database did not start/);
    assert.equal(readState(cluster)?.pid, other.pid);
  });

  it("is tried again while sessions of one that was killed end, and for nothing else", async () => {
    await assert.rejects(
      start(shell(`[ "$(wc -l < "${tries()}")" -gt 2 ] && exit 1; ${SESSIONS_RUN}`)),
      /Its log says:\n$/,
    );
    assert.equal(await triesMade(), 3);
  });

  it("is not waited for longer than sessions may take to end", async (test) => {
    test.mock.method(performance, "now", () => (existsSync(tries()) ? 30_001 : 0));
    await assert.rejects(start(shell(SESSIONS_RUN)), /still in use$/);
    assert.equal(await triesMade(), 1);
  });

  it("is waited for as long as its log tells that it recovers from a crash", async (test) => {
    const log = join(dirname(cluster), "server.log");
    const lines = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0);
    // Many at once are no silence either, as where this process had no turn meanwhile.
    test.mock.method(performance, "now", () => lines() * 2000);
    const child = await start(RECOVERING_SERVER);
    assert.equal(readState(cluster)?.pid, child.pid);
    assert.equal(lines(), 50);
  });

  it("is ended where it is not ready in time", async (test) => {
    const pidFile = join(dirname(cluster), "pid");
    let nowMs = 0;
    test.mock.method(performance, "now", () => (existsSync(pidFile) ? (nowMs += 60_001) : nowMs));
    // Whoever sees the file sees the id in it.
    const script = `echo "it waits"; echo $$ > "${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"; exec sleep 60`;
    await assert.rejects(start(shell(script)), {
      message:
        "The embedded database was not ready, logged nothing for 60 s, and was ended. Its log says:\nit waits",
    });
    const pid = Number(await readFile(pidFile, "utf8"));
    while (runs(pid)) await new Promise(setImmediate);
  });

  it("keeps no process alive that started it, and ends with it", { timeout: 20_000 }, async () => {
    const service = await startElsewhere(SERVER);
    assert.deepEqual(await once(service, "exit"), [0, null]);
    await eventually(async () => readState(cluster) === undefined);
  });

  it("takes its watchdog along", async () => {
    const child = await start(SERVER);
    // That of a test before may still be on its way.
    await eventually(async () => watchdogs() === 1);
    child.kill("SIGKILL");
    await eventually(async () => watchdogs() === 0);
  });

  it("ends with a process that is killed before its file is there", { timeout: 20_000 }, async () => {
    const service = await startElsewhere(NAMELESS_SERVER);
    const log = join(dirname(cluster), "server.log");
    const pid = await eventually(
      async () => existsSync(log) && /^([0-9]+)\n/.exec(await readFile(log, "utf8"))?.[1],
    );
    assert.equal(isServerOf(Number(pid), cluster), true);
    service.kill("SIGKILL");
    await eventually(async () => !isServerOf(Number(pid), cluster));
  });

  it("does not begin before it would end with its process", { timeout: 20_000 }, async () => {
    const service = await startElsewhere(
      SERVER,
      `import { Socket } from "node:net";
      const { write } = Socket.prototype;
      Socket.prototype.write = function (text, ...more) {
        if (/^[0-9]+[^0-9]$/.test(text)) process.kill(process.pid, "SIGKILL");
        return write.call(this, text, ...more);
      };`,
    );
    assert.deepEqual(await once(service, "exit"), [null, "SIGKILL"]);
    await eventually(async () => !isAnyAt(cluster));
  });
});
