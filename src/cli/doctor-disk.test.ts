/** What the doctors say of a full disk, which is a file system in memory that only root may mount. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { mountSmallDisk } from "../../test/support/small-disk.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";
import { checkDataDir } from "./doctor-checks.ts";
import { storeFix } from "./storage-doctor.ts";

const disk = await mountSmallDisk(1);
const ofSystem = (code: string) => Object.assign(new Error(code), { code });
const fixOf = (cause: unknown) => storeFix(new StoreUnavailableError("refused", { cause }));
const FREE = "free space on that disk, or enlarge it";

describe("a full disk", { skip: disk === null && "only root may mount the small disk" }, () => {
  before(() => disk?.fill());
  after(() => disk?.unmount());

  it("is a failure of the data folder, with what to do", async () => {
    const { status, detail, ...rest } = await checkDataDir(disk?.folder ?? "");
    assert.deepEqual([status, rest], ["fail", { check: "data folder", fix: FREE }]);
    assert.match(detail, /^ENOSPC: /);
  });

  it("is no failure any more when space was freed, and no file is left", async () => {
    await disk?.free();
    assert.equal((await checkDataDir(disk?.folder ?? "")).status, "ok");
    const names = await readdir(disk?.folder ?? "");
    assert.deepEqual(
      names.filter((name) => name.startsWith(".doctor")),
      [],
    );
  });
});

describe("what to do about a store that refuses", () => {
  it("is to free the disk of a folder, to open the folder, or to allow the credential more", () => {
    assert.equal(fixOf(ofSystem("ENOSPC")), FREE);
    assert.equal(fixOf(ofSystem("EACCES")), "let the user that runs Postern write in DATA_DIR");
    assert.equal(fixOf(ofSystem("EROFS")), "let the user that runs Postern write in DATA_DIR");
    assert.equal(
      fixOf(ofSystem("ECONNREFUSED")),
      "see docs/storage.md for what the credential must be allowed",
    );
    assert.equal(fixOf(new Error("403")), "see docs/storage.md for what the credential must be allowed");
    assert.equal(fixOf(undefined), "see docs/storage.md for what the credential must be allowed");
  });
});
