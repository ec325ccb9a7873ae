/** What the doctors say of a full disk, which is a file system in memory that only root may mount. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { mountSmallDisk } from "../../../test/support/small-disk.ts";
import { StoreUnavailableError } from "../../storage/bytes/bucket.ts";
import { checkDataDir } from "./doctor-checks.ts";
import { storeFix } from "../storage/storage-doctor.ts";

const disk = await mountSmallDisk(1);
const ofSystem = (code: string) => Object.assign(new Error(code), { code });
const ofStore = (httpStatusCode: number) =>
  Object.assign(new Error("refused"), { $metadata: { httpStatusCode } });
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
  it("is to free the disk of a folder, to open the folder, or to see what is in its place", () => {
    assert.equal(fixOf(ofSystem("ENOSPC")), FREE);
    assert.equal(fixOf(ofSystem("EACCES")), "let the user that runs Postern write in DATA_DIR");
    assert.equal(fixOf(ofSystem("EROFS")), "let the user that runs Postern write in DATA_DIR");
    const ofPath = Object.assign(ofSystem("ENOTDIR"), { path: "/data/storage" });
    assert.equal(fixOf(ofPath), "see what is at that path in DATA_DIR, or to its disk");
  });

  it("is to allow a bucket's credential more just where the store says so, or there is none", () => {
    const allow = "see docs/storage.md for what the credential must be allowed";
    const none = Object.assign(new Error("none"), { name: "CredentialsProviderError" });
    assert.deepEqual([ofStore(403), ofStore(404), none, undefined].map(fixOf), Array(4).fill(allow));
    const start = "start the object store, or correct OBJECT_STORE_URL; the store's own log may say more";
    assert.deepEqual([ofSystem("ECONNREFUSED"), ofStore(500), ofStore(503)].map(fixOf), Array(3).fill(start));
    assert.equal(fixOf(ofStore(507)), "free space in the object store, or enlarge it or its quota");
  });
});
