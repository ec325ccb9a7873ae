import assert from "node:assert/strict";
import childProcess, { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { canRun } from "./embedded-account.ts";
import {
  ensureCluster,
  readState,
  requireCluster,
  startServer,
  stopServer,
  untilGone,
} from "./embedded-cluster.ts";

const isRoot = process.getuid?.() === 0;
const hasNamespaces = canRun("namespace", "/bin/true", []);
let folder: string;
let cluster: string;
const standIns: ChildProcess[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-cluster-"));
});
beforeEach(async () => {
  cluster = join(await mkdtemp(join(folder, "home-")), "data");
  await mkdir(cluster);
});
afterEach(() => standIns.splice(0).forEach((child) => child.kill("SIGKILL")));
after(() => rm(folder, { recursive: true }));

/** Stands in for a server: a program that runs with the folder among its words, and says which signals it got. */
async function startStandIn(
  ignored: readonly string[] = [],
  more = "",
): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
  const program = `
    ${more}
    for (const signal of ${JSON.stringify(ignored)}) process.on(signal, () => undefined);
    process.stdin.resume();
    console.log();`;
  const child = spawn(process.execPath, ["-e", program, "--", "-D", cluster], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  standIns.push(child);
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  return { child, ended };
}

/** As PostgreSQL writes it. */
function writePid(pid: number | string, { port = "5999", status = "ready   " } = {}): Promise<void> {
  const lines = [pid, cluster, "1769853600", port, "", "127.0.0.1", "  1 2", status, ""];
  return writeFile(join(cluster, "postmaster.pid"), lines.join("\n"));
}

describe("the state of a cluster's server", () => {
  it("is its process and port, and whether it takes connections", async () => {
    const { child } = await startStandIn();
    const pid = child.pid ?? 0;
    await writePid(pid);
    assert.deepEqual(readState(cluster), { pid, port: 5999, ready: true });
    await writePid(pid, { status: "starting" });
    assert.deepEqual(readState(cluster), { pid, port: 5999, ready: false });
    await writeFile(join(cluster, "postmaster.pid"), `${pid}\n`);
    assert.deepEqual(readState(cluster), { pid, port: 0, ready: false });
  });

  it("is none without the file, or where the process that it names is another or gone", async () => {
    assert.equal(readState(cluster), undefined);
    for (const pid of [process.pid, 2 ** 30, 1, 0, -1, 1.5, "", "x"]) {
      await writePid(pid);
      assert.equal(readState(cluster), undefined, String(pid));
    }
  });

  it("is an error where the file cannot be read", async () => {
    await mkdir(join(cluster, "postmaster.pid"));
    assert.throws(() => readState(cluster), { code: "EISDIR" });
  });
});

describe("a server that is stopped", () => {
  it("is asked to end its sessions, and waited for", async () => {
    const { child, ended } = await startStandIn();
    await writePid(child.pid ?? 0);
    assert.equal(await untilGone(cluster, 0), false);
    await stopServer(cluster);
    assert.deepEqual(await ended, [null, "SIGINT"]);
    assert.equal(await untilGone(cluster, 0), true);
  });

  it("is waited for while it ends", async () => {
    const { child } = await startStandIn();
    await writePid(child.pid ?? 0);
    const gone = untilGone(cluster, 20_000);
    child.kill("SIGKILL");
    assert.equal(await gone, true);
  });

  it("leaves the next one alone that was started at once behind it", async () => {
    const { child: next } = await startStandIn();
    await writePid(next.pid ?? 0);
    const file = join(cluster, "postmaster.pid");
    const ofNext = JSON.stringify(await readFile(file, "utf8"));
    const { child, ended } = await startStandIn(
      [],
      `process.once("SIGINT", () => {
        require("node:fs").writeFileSync(${JSON.stringify(file)}, ${ofNext});
        process.exit();
      });`,
    );
    await writePid(child.pid ?? 0);
    await stopServer(cluster);
    // The file is empty for a moment before it names the next one, and the stop is over by then.
    await ended;
    assert.deepEqual([next.exitCode, next.signalCode], [null, null]);
    assert.equal(readState(cluster)?.pid, next.pid);
  });

  it("may have ended before", async () => {
    await stopServer(cluster);
    await writePid(2 ** 30);
    await stopServer(cluster);
  });

  it("is ended at once where it does not end in time, and killed where it does not even then", async (test) => {
    for (const [ignored, last] of [
      [["SIGINT"], "SIGQUIT"],
      [["SIGINT", "SIGQUIT"], "SIGKILL"],
    ] as const) {
      const { child, ended } = await startStandIn(ignored);
      await writePid(child.pid ?? 0);
      // Time passes only where a signal is ignored, and only once the end of the wait is fixed.
      let [nowMs, passesMs] = [0, 0];
      const kill = process.kill.bind(process);
      test.mock.method(process, "kill", (pid: number, signal: "SIGINT" | "SIGQUIT" | "SIGKILL") => {
        const limitMs = { SIGINT: 15_000, SIGQUIT: 5000, SIGKILL: 0 }[signal];
        passesMs = ignored.some((one) => one === signal) ? limitMs + 1 : 0;
        return kill(pid, signal);
      });
      test.mock.method(performance, "now", () => {
        const now = nowMs;
        nowMs += passesMs;
        passesMs = 0;
        return now;
      });
      await stopServer(cluster);
      test.mock.restoreAll();
      assert.deepEqual(await ended, [null, last]);
    }
  });

  it("may end while it is told to, and whatever else fails then is an error", async (test) => {
    const { child } = await startStandIn();
    await writePid(child.pid ?? 0);
    const failWith = (code: string) =>
      test.mock.method(process, "kill", () => {
        if (code === "ESRCH") child.kill("SIGKILL");
        throw Object.assign(new Error(code), { code });
      });
    failWith("EPERM");
    await assert.rejects(stopServer(cluster), { code: "EPERM" });
    failWith("ESRCH");
    await stopServer(cluster);
  });
});

const login = { user: "postern", password: "secret" };

function place(native: string) {
  return { account: "self", native, cluster } as const;
}

/** A program of PostgreSQL, as a script. */
async function nativeWith(name: string, script: string): Promise<string> {
  const native = join(dirname(cluster), "native");
  await mkdir(join(native, "bin"), { recursive: true });
  await writeFile(join(native, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return native;
}

/** In place of initdb: the folder is there, and whoever runs may write there and read the password. */
const MAKE_CLUSTER = `
  folder=\${1#--pgdata=}
  echo 18 > "$folder/PG_VERSION"
  (id -u; cat "\${3#--pwfile=}") > "$folder/said"`;

describe("a cluster", () => {
  it("that is lost is said to be gone", async () => {
    assert.throws(() => requireCluster(place(folder)), {
      message: `The cluster ${cluster} is gone. Bring it back.`,
    });
    await writeFile(join(cluster, "PG_VERSION"), "18\n");
    requireCluster(place(folder));
  });

  it("of another PostgreSQL is refused with what to do", async () => {
    await writeFile(join(cluster, "PG_VERSION"), "17\n");
    await assert.rejects(ensureCluster(place(folder), login), {
      message: `${cluster} was made by PostgreSQL 17, and this is 18. Dump it with the release of Postern that made it (pg_dump) and restore the dump into a new DATA_DIR, or into DATABASE_URL.`,
    });
    await writeFile(join(cluster, "PG_VERSION"), "18\n");
    await ensureCluster(place(folder), login);
  });

  it("that cannot be made leaves nothing behind, and says what was said", async () => {
    await rm(cluster, { recursive: true });
    const native = await nativeWith("initdb", 'echo "no room"; echo "at all" >&2; exit 3');
    await assert.rejects(ensureCluster(place(native), login), (error: Error) => {
      assert.match(error.message, /^initdb failed \(status 3\):\n(?=.*no room)(?=.*at all)/s);
      return true;
    });
    assert.deepEqual(await readdir(dirname(cluster)), ["native"]);
    await assert.rejects(ensureCluster(place(join(folder, "nowhere")), login), { code: "ENOENT" });
    const killed = await nativeWith("initdb", "kill -9 $$");
    await assert.rejects(ensureCluster(place(killed), login), { message: "initdb failed (status none):\n" });
  });

  it("is made beside its place, by the password of a file that nobody else may read", async () => {
    await rm(cluster, { recursive: true });
    const told = join(dirname(cluster), "told");
    const native = await nativeWith(
      "initdb",
      `for word; do
        case $word in
          --pgdata=*) folder=\${word#--pgdata=}; ls -ld "$folder" | cut -c1-10 ;;
          --pwfile=*) file=\${word#--pwfile=}; ls -l "$file" | cut -c1-10; cat "$file"; echo ;;
          *) echo "$word" ;;
        esac
      done > "${told}"
      echo 18 > "$folder/PG_VERSION"`,
    );
    // A start that was killed in the middle has left some of it.
    await mkdir(`${cluster}.new`);
    await writeFile(join(`${cluster}.new`, "half"), "");
    await ensureCluster(place(native), login);
    assert.deepEqual(await readdir(cluster), ["PG_VERSION"]);
    assert.deepEqual((await readFile(told, "utf8")).trim().split("\n"), [
      "drwx------",
      "--username=postern",
      "-rw-------",
      "secret",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--auth-local=reject",
      "--auth-host=scram-sha-256",
      "--no-instructions",
    ]);
    assert.deepEqual((await readdir(dirname(cluster))).sort(), ["data", "native", "told"]);
  });

  it("of a user without a name is made by one who has one, or refused with what to do", async (test) => {
    await rm(cluster, { recursive: true });
    const native = await nativeWith("initdb", `id -u > "${join(dirname(cluster), "user")}"; exit 3`);
    const mocked = test.mock.method(os, "userInfo", () => assert.fail("no entry"));
    syncBuiltinESMExports();
    if (hasNamespaces) {
      await assert.rejects(ensureCluster(place(native), login), /^Error: initdb failed \(status 3\)/);
      assert.equal(await readFile(join(dirname(cluster), "user"), "utf8"), "65534\n");
    }
    const none = test.mock.method(childProcess, "spawnSync", () => ({ status: 1 }));
    syncBuiltinESMExports();
    await assert.rejects(ensureCluster(place(native), login), {
      message: `The embedded database cannot be made: user ${process.getuid?.()} has no entry in /etc/passwd. Add one, run Postern as another user, or set DATABASE_URL.`,
    });
    for (const { mock } of [mocked, none]) mock.restore();
    syncBuiltinESMExports();
  });

  it("whose server ends at its start tells the end of this start's log, and forgets a dead server", async () => {
    await writePid(2 ** 30);
    const log = join(dirname(cluster), "server.log");
    await writeFile(log, "of the start before\n");
    const native = await nativeWith("postgres", "seq 10; echo as it is >&2; exit 1");
    await assert.rejects(startServer(place(native), 5999, {}), {
      message: "The embedded database did not start. Its log says:\n4\n5\n6\n7\n8\n9\n10\nas it is",
    });
    assert.equal(existsSync(join(cluster, "postmaster.pid")), false);
    assert.match(await readFile(log, "utf8"), /^of the start before\n1\n/);
    await writeFile(log, "x".repeat(4 * 1024 * 1024 + 1));
    await assert.rejects(startServer(place(native), 5999, {}), /\n10\nas it is$/);
    assert.match(await readFile(log, "utf8"), /^1\n/);
    await assert.rejects(startServer(place(join(folder, "nowhere")), 5999, {}), /nowhere\/bin\/postgres/);
  });

  it("has its server started with these settings, its own and a port", async () => {
    const native = await nativeWith("postgres", 'echo "$@" | sed "s/ -c /\\n/g"; exit 1');
    const log = join(dirname(cluster), "server.log");
    await assert.rejects(startServer(place(native), 5999, { fsync: "off", jit: "on" }));
    assert.deepEqual((await readFile(log, "utf8")).trim().split("\n"), [
      `-D ${cluster}`,
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "max_connections=100",
      "max_locks_per_transaction=256",
      "shared_buffers=128MB",
      "effective_cache_size=512MB",
      "maintenance_work_mem=64MB",
      "max_wal_size=2GB",
      "checkpoint_timeout=15min",
      "wal_compression=on",
      "wal_buffers=16MB",
      "random_page_cost=1.1",
      "jit=on",
      "log_min_error_statement=panic",
      "log_min_messages=log",
      "log_checkpoints=off",
      "log_timezone=UTC",
      "timezone=UTC",
      "fsync=off",
      "port=5999",
    ]);
  });

  it(
    "is its user's who runs the server, also where another made it",
    { skip: isRoot ? false : "needs root" },
    async () => {
      for (const path of [folder, dirname(cluster)]) await chmod(path, 0o711);
      await rm(cluster, { recursive: true });
      const native = await nativeWith("initdb", MAKE_CLUSTER);
      const placement = { ...place(native), account: "nobody" } as const;
      await ensureCluster(placement, login);
      assert.deepEqual((await readFile(join(cluster, "said"), "utf8")).split("\n"), ["65534", "secret"]);
      const foreign = join(cluster, "foreign");
      await writeFile(foreign, "");
      await ensureCluster(placement, login);
      assert.equal((await stat(foreign)).uid, 0, "nothing is given where the folder is its user's");
      await chown(cluster, 0, 0);
      await ensureCluster(place(native), login);
      assert.equal((await stat(cluster)).uid, 0);
      await ensureCluster(placement, login);
      for (const path of [cluster, foreign]) {
        const { uid, gid } = await stat(path);
        assert.deepEqual([uid, gid], [65534, 65534]);
      }
    },
  );
});
