import assert from "node:assert/strict";
import { mkdir, open, readlink, realpath, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { placeExclusively, removeFile } from "./directory-files.ts";

const LINUX = { skip: process.platform !== "linux" && "only Linux tells the path of an open file" };

/** The paths that are written to disk from here on, which only a loss of power would show. */
async function syncedPaths(test: TestContext, folder: string): Promise<string[]> {
  const paths: string[] = [];
  const opened = await open(folder);
  const handles = Object.getPrototypeOf(opened);
  const sync: unknown = Reflect.get(handles, "sync");
  assert.ok(typeof sync === "function");
  test.mock.method(handles, "sync", async function told(this: FileHandle) {
    paths.push(await readlink(`/proc/self/fd/${this.fd}`));
    await Reflect.apply(sync, this, []);
  });
  await opened.close();
  return paths;
}

it(
  "a file's name and the new folders above it are written to disk, and that it is gone",
  LINUX,
  async (test) => {
    const folder = temporaryPath("files");
    await mkdir(folder);
    const root = await realpath(folder);
    const [draft, place] = [join(root, "draft"), join(root, "one", "two", "file")];
    await writeFile(draft, "");
    const synced = await syncedPaths(test, root);
    assert.ok(await placeExclusively(draft, place));
    assert.deepEqual(synced.splice(0), [join(root, "one"), root, join(root, "one", "two")]);
    await removeFile(root, place);
    assert.deepEqual(synced, [join(root, "one", "two")]);
  },
);
