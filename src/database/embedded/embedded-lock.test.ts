import assert from "node:assert/strict";
import fs, { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it, mock } from "node:test";
import { withFileLock } from "./embedded-lock.ts";
import { ownMark } from "./embedded-process.ts";

let folder: string;
let path: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-lock-"));
});
beforeEach(async () => {
  path = join(await mkdtemp(join(folder, "home-")), "start.lock");
});
afterEach(() => {
  mock.restoreAll();
  syncBuiltinESMExports();
});
after(() => rm(folder, { recursive: true }));

const files = (): Promise<string[]> => readdir(join(path, ".."));
const refused = async (): Promise<never> => assert.fail("it is held");

describe("a lock on a folder", () => {
  it("waits for a process that runs, takes the lock of one that is gone, and leaves no file behind", async () => {
    await withFileLock(path, 1000, async () => {
      await assert.rejects(withFileLock(path, 0, refused), {
        message: `Another process is starting the embedded database and did not finish in 0 s. After a crash that may take minutes: see server.log, and start again then. Otherwise stop the process that ${path} names, or delete that file if no such process runs.`,
      });
      assert.deepEqual(await files(), ["start.lock"]);
    });
    await writeFile(path, JSON.stringify({ ...ownMark(), pid: 2 ** 30, token: "gone" }));
    assert.equal(await withFileLock(path, 10_000, async () => "taken"), "taken");
    assert.deepEqual(await files(), []);
  });

  it("names its process, for its user's eyes alone", async () => {
    await withFileLock(path, 1000, async () => {
      const { token, ...mark } = JSON.parse(await readFile(path, "utf8"));
      assert.deepEqual([mark, typeof token], [ownMark(), "string"]);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
    });
  });

  it("lets one after the other work, also where the work fails", async () => {
    let working = 0;
    let most = 0;
    const work = (fails: boolean) =>
      withFileLock(path, 60_000, async () => {
        most = Math.max(most, ++working);
        await files();
        working--;
        if (fails) throw new Error("work failed");
        return "done";
      });
    const ends = await Promise.allSettled([false, true, false].map(work));
    assert.deepEqual(
      ends.map((end) => (end.status === "fulfilled" ? end.value : end.reason.message)),
      ["done", "work failed", "done"],
    );
    assert.deepEqual([most, await files()], [1, []]);
  });

  it("takes the place of a file that names no process", async () => {
    await writeFile(path, "torn");
    assert.equal(await withFileLock(path, 10_000, async () => "taken"), "taken");
    assert.deepEqual(await files(), []);
  });

  it("leaves another's file alone, and does not miss its own", async () => {
    await withFileLock(path, 1000, () => writeFile(path, "another's"));
    assert.equal(await readFile(path, "utf8"), "another's");
    await rm(path);
    await withFileLock(path, 1000, () => rm(path));
    assert.deepEqual(await files(), []);
  });

  it("is an error where its file is a folder, or its folder is missing", async () => {
    await mkdir(path);
    await assert.rejects(withFileLock(path, 1000, refused), { code: "EISDIR" });
    await assert.rejects(withFileLock(join(path, "none", "start.lock"), 1000, refused), { code: "ENOENT" });
    assert.deepEqual(await files(), ["start.lock"]);
  });

  it("is an error where a file cannot be linked, as on some disks", async () => {
    replace("link", async () => Promise.reject(failure("ENOTSUP")));
    await assert.rejects(withFileLock(path, 0, refused), { code: "ENOTSUP" });
    assert.deepEqual(await files(), []);
  });
});

/** Another process comes between two steps, or a step fails. */
function replace<Step extends "link" | "rename">(step: Step, stand: (typeof fs)[Step]): void {
  mock.method(fs, step, stand);
  syncBuiltinESMExports();
}

const failure = (code: string) => Object.assign(new Error(code), { code });

describe("a lock of a process that is gone", () => {
  const gone = JSON.stringify({ ...ownMark(), pid: 2 ** 30, token: "gone" });
  const live = JSON.stringify({ ...ownMark(), token: "live" });
  const { rename } = fs;

  it("is put back where another process has taken it meanwhile", async () => {
    await writeFile(path, gone);
    replace("rename", async (from, to) => {
      await writeFile(path, live);
      await rename(from, to);
    });
    await assert.rejects(withFileLock(path, 0, refused), /^Error: Another process is starting/);
    assert.deepEqual([await files(), await readFile(path, "utf8")], [["start.lock"], live]);
  });

  it("is left to the next process that was quicker", async () => {
    await writeFile(path, gone);
    replace("rename", async (from, to) => {
      await writeFile(path, "taken meanwhile");
      await rename(from, to);
      await writeFile(path, live);
    });
    await assert.rejects(withFileLock(path, 0, refused), /^Error: Another process is starting/);
    assert.deepEqual([await files(), await readFile(path, "utf8")], [["start.lock"], live]);
  });

  it("may be removed by another process first", async () => {
    await writeFile(path, gone);
    replace("rename", async (from, to) => {
      await rm(path);
      await rename(from, to);
    });
    assert.equal(await withFileLock(path, 10_000, async () => "taken"), "taken");
  });

  it("that cannot be moved is an error", async () => {
    await writeFile(path, gone);
    replace("rename", async () => Promise.reject(failure("EPERM")));
    await assert.rejects(withFileLock(path, 0, refused), { code: "EPERM" });
    assert.deepEqual(await files(), ["start.lock"]);
  });
});
