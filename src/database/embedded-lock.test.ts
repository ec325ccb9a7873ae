import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { withFileLock } from "./embedded-lock.ts";
import { ownMark } from "./embedded-process.ts";

it("waits for a process that runs, takes the lock of one that is gone, and leaves no file behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "postern-lock-"));
  const path = join(folder, "start.lock");
  await withFileLock(path, 1000, async () => {
    await assert.rejects(
      withFileLock(path, 0, async () => assert.fail("it is held")),
      /Another process is starting/,
    );
    assert.deepEqual(await readdir(folder), ["start.lock"]);
  });
  await writeFile(path, JSON.stringify({ ...ownMark(), pid: 2 ** 30, token: "gone" }));
  assert.equal(await withFileLock(path, 10_000, async () => "taken"), "taken");
  assert.deepEqual(await readdir(folder), []);
  await rm(folder, { recursive: true });
});
