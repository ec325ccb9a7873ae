import assert from "node:assert/strict";
import { mkdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { mountSmallDisk } from "../../test/support/small-disk.ts";
import { hasCode } from "./error-code.ts";
import { makeFolders } from "./make-folders.ts";

const disk = await mountSmallDisk(1);
const at = (...names: string[]) => join(disk?.folder ?? "", ...names);

describe("making folders", { skip: disk === null && "only root may mount the small disk" }, () => {
  after(() => disk?.unmount());

  it("makes those above too, for this user alone, and answers the first", async () => {
    assert.equal(await makeFolders(at("a", "b", "c")), at("a"));
    assert.equal((await stat(at("a", "b", "c"))).mode & 0o777, 0o700);
    assert.equal(await makeFolders(at("a", "b", "c")), undefined);
  });

  it("never finds one in its own way, while others make and remove the same", async () => {
    const names = ["busy", "b", "c"];
    const remove = async () => {
      for (let depth = names.length; depth > 0; depth--)
        await rmdir(at(...names.slice(0, depth))).catch(() => null);
    };
    const make = () =>
      makeFolders(at(...names)).catch((error: unknown) => {
        // Removed as it was made, which Node calls either: whoever needs it tries again.
        if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
      });
    for (let round = 0; round < 500; round++) await Promise.all([make(), remove(), make(), remove(), make()]);
  });

  it("fails on a read-only disk as the disk says, at any depth", async () => {
    await mkdir(at("there"));
    await disk?.remount("ro");
    for (const names of [["new"], ["new", "b", "c"], ["there", "b"]])
      await assert.rejects(makeFolders(at(...names)), { code: "EROFS" }, names.join("/"));
    await disk?.remount("rw");
    assert.equal(await makeFolders(at("new", "b")), at("new"));
  });
});
