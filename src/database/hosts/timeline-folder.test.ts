import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { openTimelineFolder } from "./timeline-folder.ts";

const silent = { info: () => undefined, warn: (message: string) => assert.fail(message) };

it("keeps the newest timeline of each cluster, from any process", async (test) => {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-timelines-"));
  test.after(() => rm(dataDir, { recursive: true }));
  const one = openTimelineFolder(dataDir, silent);
  const other = openTimelineFolder(dataDir, silent);
  assert.equal(one.timelineOf("71"), 0);
  one.raise("71", 3);
  other.raise("71", 12);
  // Too late: the other process has seen a newer one.
  one.raise("71", 4);
  one.raise("711", 2);
  await writeFile(join(dataDir, "timelines", "README"), "");
  assert.deepEqual([other.timelineOf("71"), other.timelineOf("711"), one.timelineOf("1")], [12, 2, 0]);
  other.raise("71", 13);
  assert.deepEqual((await readdir(join(dataDir, "timelines"))).toSorted(), ["71.13", "711.2", "README"]);
});

it("takes it that another process removes an older timeline at the same moment", async (test) => {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-timelines-"));
  test.after(() => rm(dataDir, { recursive: true }));
  const memory = openTimelineFolder(dataDir, silent);
  memory.raise("71", 3);
  const { rmSync } = fs;
  const removed = test.mock.method(fs, "rmSync", (path: string, options: object) => {
    rmSync(path);
    rmSync(path, options);
  });
  syncBuiltinESMExports();
  memory.raise("71", 4);
  removed.mock.restore();
  syncBuiltinESMExports();
  assert.equal(removed.mock.callCount(), 1);
  assert.deepEqual(await readdir(join(dataDir, "timelines")), ["71.4"]);
});

it("continues if the folder can't be made, and logs it", async (test) => {
  const dataDir = await mkdtemp(join(tmpdir(), "postern-timelines-"));
  test.after(() => rm(dataDir, { recursive: true }));
  const file = join(dataDir, "file");
  await writeFile(file, "");
  const warnings: string[] = [];
  const memory = openTimelineFolder(file, { ...silent, warn: (message) => void warnings.push(message) });
  memory.raise("71", 3);
  assert.equal(memory.timelineOf("71"), 0);
  assert.match(warnings.join("\n"), /^The database's timeline is not kept over a restart: ENOTDIR/);
});
