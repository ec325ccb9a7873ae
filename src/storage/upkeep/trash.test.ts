import assert from "node:assert/strict";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { newKey, sha256 } from "../../../test/support/bucket-contract.ts";
import { openDirectoryBucket, type DirectoryBucket } from "../../../test/support/directory-bucket.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { away, inPages } from "../../../test/support/stored.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { trashKey } from "../bytes/own-keys.ts";
import {
  copyVersion,
  deleteFromTrash,
  digestOfVersion,
  emptyTrash,
  listTrash,
  moveToTrash,
  restoreFromTrash,
} from "./trash.ts";

const AT = "2026-03-01T12:00:00.000Z";
const LATER = "2026-03-01T12:00:00.001Z";

let database: TestDatabase;
let opened: DirectoryBucket;
let root: string;
let bucket: Bucket;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  opened = await openDirectoryBucket();
  ({ bucket, root } = opened);
  await mkdir(join(root, "postern"));
});
afterEach(() => opened.close());

async function put(key: string, content = "bytes") {
  const bytes = Buffer.from(content);
  const open = () => Readable.from([bytes]);
  const answer = await bucket.put({ key, size: bytes.length, sha256: sha256(bytes), open });
  assert.ok(answer.code === "stored");
  return { key, versionId: answer.versionId };
}

async function contentOf(key: string): Promise<string | null> {
  const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
  if (!head.found || head.version_id === null) return null;
  const opened = await bucket.get({ key, versionId: head.version_id });
  return opened.found ? text(opened.body) : null;
}

async function emptied(until: string, signal?: AbortSignal): Promise<number> {
  const outcomes = await Array.fromAsync(emptyTrash(bucket, listTrash(bucket), { until, signal }));
  assert.ok(outcomes.every(({ refusal }) => refusal === null));
  return outcomes.length;
}

function entries(prefix?: string) {
  return Array.fromAsync(listTrash(bucket, prefix));
}

/** The same bucket, as one that does not tell a digest or a version. */
function silentOf(what: "sha256" | "version_id"): Bucket {
  return {
    ...bucket,
    async head(request) {
      const head = await bucket.head(request);
      return head.found ? { ...head, [what]: null } : head;
    },
  };
}

describe("the trash", () => {
  it("takes an object with its bytes and its time, and gives it back where its key is free", async () => {
    const version = await put(newKey());
    await moveToTrash(bucket, version, AT);
    assert.equal(await contentOf(version.key), null);
    const [entry, ...more] = await entries();
    assert.deepEqual(
      [entry, more],
      [{ trashKey: trashKey(version.key, AT), key: version.key, at: AT, size: 5 }, []],
    );
    assert.ok(entry !== undefined);
    const services = { db: database.pool, bucket };
    assert.equal(await restoreFromTrash(services, entry), "restored");
    assert.equal(await contentOf(version.key), "bytes");
    assert.deepEqual(await entries(), []);
    assert.equal(await restoreFromTrash(services, entry), "gone");
    const { rows } = await database.pool.query("SELECT class FROM postern.storage_marks WHERE key = $1", [
      version.key,
    ]);
    assert.deepEqual(rows, [{ class: "object_without_row" }]);
  });

  it("keeps what it has while the key is taken", async () => {
    const version = await put(newKey(), "former");
    await moveToTrash(bucket, version, AT);
    await put(version.key, "new");
    const [entry] = await entries();
    assert.ok(entry !== undefined);
    assert.equal(await restoreFromTrash({ db: database.pool, bucket }, entry), "taken");
    assert.equal(await contentOf(version.key), "new");
    assert.equal((await entries()).length, 1);
  });

  it("is done with what was put back and could not be deleted, as by a command that was killed between the two", async () => {
    const version = await put(newKey());
    await moveToTrash(bucket, version, AT);
    const [entry] = await entries();
    assert.ok(entry !== undefined);
    const cut: Bucket = { ...bucket, deleteVersion: away };
    await assert.rejects(restoreFromTrash({ db: database.pool, bucket: cut }, entry), StoreUnavailableError);
    assert.equal((await entries()).length, 1);
    for (const one of [silentOf("sha256"), bucket]) {
      assert.equal(await restoreFromTrash({ db: database.pool, bucket: one }, entry), "restored");
      assert.equal(await contentOf(version.key), "bytes");
      assert.deepEqual(await entries(), []);
      await put(entry.trashKey);
    }
  });

  it("leaves alone what is gone, or another version by now", async () => {
    const version = await put(newKey());
    const other = { ...version, versionId: sha256(Buffer.from("other")) };
    await moveToTrash(bucket, other, AT);
    assert.equal(await contentOf(version.key), "bytes");
    assert.deepEqual(await entries(), []);
    assert.equal(await copyVersion(bucket, other, newKey()), null);
  });

  it("leaves in its place what could not be copied", async () => {
    const version = await put(newKey(), "honest bytes");
    const place = join(root, "objects", version.key);
    // The note of its digest is as it was, so only who reads the bytes can tell.
    await utimes(place, 1, 1);
    await bucket.head({ bucket: bucket.name, key: version.key, version_id: null });
    await writeFile(place, "forged bytes");
    await utimes(place, 1, 1);
    await moveToTrash(bucket, version, AT);
    assert.equal(await readFile(place, "utf8"), "forged bytes");
    assert.deepEqual(await entries(), []);
  });

  it("has nothing that went there under no key of an artifact", async () => {
    await mkdir(join(root, "postern", "trash"));
    await writeFile(join(root, "postern", "trash", "planted.txt"), "");
    assert.deepEqual(await entries(), []);
  });

  it("suspects nothing of a key whose object is gone from it", async () => {
    const key = newKey();
    const entry = { trashKey: trashKey(key, AT), key, at: AT, size: 5 };
    assert.equal(await restoreFromTrash({ db: database.pool, bucket }, entry), "gone");
    const { rowCount } = await database.pool.query("SELECT FROM postern.storage_marks WHERE key = $1", [key]);
    assert.equal(rowCount, 0);
  });

  it("is listed whole or by the keys that its objects had", async () => {
    const [one, other] = [await put(newKey()), await put(newKey())];
    for (const version of [one, other]) await moveToTrash(bucket, version, AT);
    const [, , tenantOfOne] = one.key.split("/");
    assert.deepEqual(
      (await entries(`v1/t/${tenantOfOne}/`)).map(({ key }) => key),
      [one.key],
    );
    for (const listed of [bucket, inPages(bucket, 1)]) {
      assert.deepEqual(
        (await Array.fromAsync(listTrash(listed))).map(({ key }) => key),
        [one.key, other.key].toSorted(),
      );
    }
  });

  it("is emptied beside what the store refuses to delete, but not while the store is away", async () => {
    for (let n = 0; n < 3; n++) await moveToTrash(bucket, await put(newKey()), AT);
    const [, refused] = await entries();
    const locking: Bucket = {
      ...bucket,
      deleteVersion: async (version) =>
        version.key === refused?.trashKey ? away() : bucket.deleteVersion(version),
    };
    const gone: Bucket = { ...bucket, deleteVersion: away, list: away };
    await assert.rejects(
      Array.fromAsync(emptyTrash(gone, listTrash(bucket), { until: AT })),
      StoreUnavailableError,
    );
    const emptied = await Array.fromAsync(emptyTrash(locking, listTrash(locking), { until: AT }));
    assert.deepEqual(
      emptied.map(({ refusal }) => refusal),
      [null, "the store is away", null],
    );
    assert.deepEqual(await entries(), [refused]);
    assert.equal(emptied[1]?.entry.key, refused?.key);
  });

  it("asks once in a second whether the store is away, however many it refuses to delete", async (test) => {
    for (let n = 0; n < 4; n++) await moveToTrash(bucket, await put(newKey()), AT);
    const kept = await entries();
    let nowMs = 0;
    test.mock.method(performance, "now", () => nowMs);
    const refusedAtMs = [0, 999, 1000, 1999];
    const asked: number[] = [];
    const locking: Bucket = {
      ...bucket,
      deleteVersion: () => {
        nowMs = refusedAtMs.shift() ?? assert.fail();
        return away();
      },
      list: (request) => {
        asked.push(nowMs);
        return bucket.list(request);
      },
    };
    const emptied = await Array.fromAsync(emptyTrash(locking, listTrash(bucket), { until: AT }));
    assert.deepEqual(
      emptied,
      kept.map((entry) => ({ entry, refusal: "the store is away" })),
    );
    assert.deepEqual(asked, [0, 1000]);
  });

  it("is emptied of what came up to a time, and of an entry once", async () => {
    for (const at of [AT, LATER]) await moveToTrash(bucket, await put(newKey()), at);
    const first = (await entries()).find(({ at }) => at === AT);
    assert.equal(await emptied("2026-03-01T11:59:59.999Z"), 0);
    assert.equal(await emptied(AT, AbortSignal.abort()), 0);
    assert.equal(await emptied(AT), 1);
    assert.deepEqual(
      (await entries()).map(({ at }) => at),
      [LATER],
    );
    assert.ok(first !== undefined);
    assert.equal(await deleteFromTrash(bucket, first), false);
    assert.equal(await emptied(LATER), 1);
  });

  it("deletes nothing of which the store tells no version", async () => {
    await moveToTrash(bucket, await put(newKey()), AT);
    const [entry] = await entries();
    const silent = silentOf("version_id");
    const refusal = `the object store returned no version of ${entry?.trashKey}`;
    const emptied = await Array.fromAsync(emptyTrash(silent, listTrash(silent), { until: AT }));
    assert.deepEqual(emptied, [{ entry, refusal }]);
    assert.ok(entry !== undefined);
    const services = { db: database.pool, bucket: silentOf("version_id") };
    assert.equal(await restoreFromTrash(services, entry), "gone");
    const { rowCount } = await database.pool.query("SELECT FROM postern.storage_marks WHERE key = $1", [
      entry.key,
    ]);
    assert.equal(rowCount, 0);
  });
});

describe("a copy", () => {
  it("is made of bytes whose digest the store does not tell", async () => {
    const version = await put(newKey());
    const to = newKey();
    const copied = await copyVersion(silentOf("sha256"), version, to);
    assert.equal(copied?.code, "stored");
    assert.equal(await contentOf(to), "bytes");
    assert.equal((await copyVersion(bucket, version, to))?.code, "exists");
    assert.equal(await digestOfVersion(bucket, version), sha256(Buffer.from("bytes")));
  });

  it("keeps no file open that the store did not read, as the key is taken", async () => {
    const version = await put(newKey());
    const sources: Readable[] = [];
    const unread: Bucket = {
      ...bucket,
      async get(request) {
        const opened = await bucket.get(request);
        if (opened.found) sources.push(opened.body);
        return opened;
      },
      put: async () => ({ code: "exists" }),
    };
    assert.deepEqual(await copyVersion(unread, version, newKey()), { code: "exists" });
    await assert.rejects(copyVersion({ ...unread, put: away }, version, newKey()), StoreUnavailableError);
    assert.deepEqual(
      sources.map(({ destroyed }) => destroyed),
      [true, true],
    );
  });
});
