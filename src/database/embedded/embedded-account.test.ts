import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { canRun, commandFor, ownerOf, placeServer, type PlacementRequest } from "./embedded-account.ts";

const isRoot = process.getuid?.() === 0;
const hasNamespaces = canRun("namespace", "/bin/true", []);
const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

function makeFolder(mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), "postern-account-"));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

/** A folder below one that others may not enter. */
function makeClosed(): string {
  const home = join(makeFolder(0o700), "home");
  mkdirSync(home);
  return home;
}

/** Stands in for PostgreSQL: a program that runs, for whoever may reach it. */
function makeNative(folder: string): string {
  const native = join(folder, "native");
  mkdirSync(join(native, "bin"), { recursive: true });
  writeFileSync(join(native, "bin", "postgres"), '#!/bin/sh\n[ "$*" = --version ]\n', { mode: 0o755 });
  return native;
}

type Choice = Partial<PlacementRequest> & { home: string };

function place({ home, ...chosen }: Choice) {
  const lines: string[] = [];
  const log = { info: (line: string) => void lines.push(line), warn: assert.fail };
  const binaries = { native: makeNative(makeFolder(0o755)), version: "18.1" };
  const request = { home, binaries, rootMode: "auto", openFolder: home, log, ...chosen } as const;
  return placeServer(request).then((placement) => ({ ...placement, lines }));
}

describe("the command of a server's program", () => {
  const options = { cwd: "/", env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" } };

  it("runs as this user, as nobody, or as nobody of a user namespace, with settings that are always the same", () => {
    const args = ["-D", "x"];
    assert.deepEqual(commandFor("self", "/postgres", args), { file: "/postgres", args, options });
    const asNobody = { file: "/postgres", args, options: { ...options, uid: 65534, gid: 65534 } };
    assert.deepEqual(commandFor("nobody", "/postgres", args), asNobody);
    assert.deepEqual(commandFor("namespace", "/postgres", args), {
      file: "unshare",
      args: ["--user", "--map-user=65534", "--map-group=65534", "--", "/postgres", ...args],
      options,
    });
    const owners = (["self", "nobody", "namespace"] as const).map(ownerOf);
    assert.deepEqual(owners, [undefined, 65534, 0]);
  });

  it("can be run where it is there and ends well", () => {
    assert.equal(canRun("self", "/bin/sh", ["-c", "exit 0"]), true);
    assert.equal(canRun("self", "/bin/sh", ["-c", "exit 3"]), false);
    assert.equal(canRun("self", "/no such program", []), false);
  });
});

it("a server of a user other than root is that user's, in the data folder", async (test) => {
  test.mock.property(process, "getuid", () => 1000);
  const home = makeFolder(0o700);
  const { account, cluster, lines } = await place({ home });
  assert.deepEqual([account, cluster, lines], ["self", join(home, "data"), []]);
  assert.equal(statSync(home).mode & 0o777, 0o700);
});

describe("a server of root", { skip: isRoot ? false : "needs root" }, () => {
  it("runs as nobody in a folder that others may enter, and not list", async () => {
    const home = makeFolder(0o755);
    const { account, cluster, native, lines } = await place({ home });
    assert.deepEqual([account, cluster, lines], ["nobody", join(home, "data"), []]);
    assert.ok(!native.startsWith(home));
    assert.equal(statSync(home).mode & 0o777, 0o711);
  });

  it(
    "runs in a user namespace below a closed folder, where there are such",
    { skip: hasNamespaces ? false : "there are none" },
    async () => {
      const binaries = { native: makeNative(makeFolder(0o700)), version: "18.1" };
      for (const rootMode of ["auto", "namespace"] as const) {
        const home = makeClosed();
        const { lines, ...placement } = await place({ home, binaries, rootMode });
        const cluster = join(home, "data");
        assert.deepEqual(
          [placement, lines],
          [{ account: "namespace", native: binaries.native, cluster }, []],
        );
      }
    },
  );

  it("takes binaries along that nobody cannot reach, once", async () => {
    const home = makeFolder(0o755);
    const binaries = { native: makeNative(makeFolder(0o700)), version: "18.1" };
    for (let again = 0; again < 2; again++) {
      const { native } = await place({ home, binaries, rootMode: "nobody" });
      assert.equal(native, join(home, "binaries-18.1", "native"));
      assert.ok(existsSync(join(native, "bin", "postgres")));
    }
  });

  it("is refused with what to do where its binaries run for nobody", async () => {
    const binaries = { native: makeFolder(0o755), version: "18.1" };
    for (const choice of [
      { home: makeFolder(0o755), rootMode: "nobody" },
      { home: makeClosed(), openFolder: makeFolder(0o755) },
    ] as const)
      await assert.rejects(
        place({ ...choice, binaries }),
        /^Error: PostgreSQL does not run as another user from .*binaries-18\.1\/native\. Run Postern as another user than root, or set DATABASE_URL\.$/,
      );
  });

  it("is refused with what to do where the one way that is insisted on is closed", async () => {
    const closed = makeClosed();
    for (const [rootMode, binaries] of [
      ["nobody", undefined],
      ["namespace", { native: makeFolder(0o755), version: "18.1" }],
    ] as const) {
      const message = `PostgreSQL cannot run in ${closed} as ${rootMode}. Set DATA_DIR to a folder that other users may enter.`;
      await assert.rejects(place({ home: closed, rootMode, ...(binaries && { binaries }) }), { message });
    }
    assert.deepEqual(readdirSync(closed), [], "nothing was moved");
  });

  it("moves with its cluster to an open folder, which is noted and stays", async () => {
    const closed = join(makeFolder(0o700), "home");
    mkdirSync(join(closed, "data"), { recursive: true });
    writeFileSync(join(closed, "data", "PG_VERSION"), "18\n");
    const openFolder = makeFolder(0o755);
    const first = await place({ home: closed, rootMode: "elsewhere", openFolder });
    const [name = ""] = readdirSync(openFolder);
    assert.match(name, /^postern-[0-9a-f]{8}$/);
    const folder = join(openFolder, name);
    const line = `The embedded database lies in ${folder}: ${closed} is closed to the user it runs as.`;
    assert.deepEqual([first.account, first.cluster, first.lines], ["nobody", join(folder, "data"), [line]]);
    assert.equal(readFileSync(join(folder, "data", "PG_VERSION"), "utf8"), "18\n");
    assert.deepEqual(readdirSync(closed).sort(), ["data.moved", "moved-to"]);
    assert.deepEqual(
      [folder, join(closed, "moved-to")].map((path) => statSync(path).mode & 0o777),
      [0o711, 0o600],
    );
    const open = await place({ home: makeFolder(0o755), rootMode: "elsewhere", openFolder });
    assert.ok(open.cluster.startsWith(join(openFolder, "postern-")));
    await rm(join(open.cluster, ".."), { recursive: true });
    // Whatever would be chosen now.
    const second = await place({ home: closed, rootMode: "nobody" });
    assert.deepEqual([second.account, second.cluster], ["nobody", first.cluster]);
    assert.deepEqual(readdirSync(openFolder), [name]);
  });

  it("is refused with what to do where no other folder can be made", async () => {
    const closed = makeClosed();
    const file = join(makeFolder(0o755), "file");
    writeFileSync(file, "");
    await assert.rejects(
      place({ home: closed, rootMode: "elsewhere", openFolder: file }),
      /^Error: .*home is closed to other users, and .*file\/postern-.* cannot be made\. PostgreSQL does not run as root: set DATA_DIR to a folder that other users may enter, set DATABASE_URL, or run Postern as another user\.$/,
    );
  });
});
