import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import {
  openDirectoryBucket,
  uploadArtifact,
  type DirectoryBucket,
} from "../../../test/support/directory-bucket.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { slip } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { Bucket, StoredVersion } from "../bytes/bucket.ts";
import { ownerKey } from "../bytes/own-keys.ts";
import { readBucket } from "./owner-store.ts";
import {
  checkOwner,
  forgetEarlierBegins,
  judgeOwner,
  markAsNewer,
  readLastBegin,
  renewOwner,
  takeOver,
} from "./ownership.ts";

let database: TestDatabase;
let opened: DirectoryBucket;
let root: string;
let bucket: Bucket;
let services: { db: TestDatabase["pool"]; bucket: Bucket };

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  opened = await openDirectoryBucket({ name: `folder-${randomUUID()}` });
  ({ bucket, root } = opened);
  services = { db: database.pool, bucket };
});
afterEach(() => opened.close());

function known() {
  return readBucket(database.pool, bucket.name);
}

function folder(): string {
  return join(root, "postern", "owner");
}

function marks(): Promise<string[]> {
  return readdir(folder());
}

async function putMark(generation: number, content: object): Promise<void> {
  await mkdir(folder(), { recursive: true });
  await writeFile(join(root, ownerKey(generation)), JSON.stringify(content));
}

describe("the owner mark of an empty bucket", () => {
  it("is written at the first look, and found at the next", async () => {
    assert.equal(await judgeOwner(services), null);
    assert.equal(await known(), null);
    assert.equal(await checkOwner(services), null);
    const { installationId, ...rest } = (await known()) ?? { installationId: "" };
    assert.deepEqual(rest, { generation: 1, isMarked: true, trouble: null });
    const content: unknown = JSON.parse(await readFile(join(root, ownerKey(1)), "utf8"));
    assert.deepEqual(content, { installation: installationId, generation: 1 });
    assert.equal(await checkOwner(services), null);
    assert.equal(await judgeOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json"]);
  });

  it("is raised by each pass; the oldest stays until one comes to its end, and says when it began", async () => {
    assert.equal(await readLastBegin(services), null);
    assert.equal(await checkOwner(services), null);
    await utimes(join(root, ownerKey(1)), 1, 1);
    for (let pass = 0; pass < 3; pass++) assert.equal(await renewOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json", "000000000004.json"]);
    assert.equal((await known())?.generation, 4);
    assert.equal(await readLastBegin(services), "1970-01-01T00:00:01.000Z");
    await forgetEarlierBegins(services);
    assert.deepEqual(await marks(), ["000000000004.json"]);
    assert.notEqual(await readLastBegin(services), "1970-01-01T00:00:01.000Z");
  });

  it("is written again where it is gone and nothing is known to be there", async () => {
    assert.equal(await checkOwner(services), null);
    await rm(join(root, ownerKey(1)));
    assert.equal(await judgeOwner(services), null);
    assert.equal(await checkOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json"]);
  });
});

describe("a bucket whose mark", () => {
  it("is another installation's is not ours, until it is taken over", async () => {
    const installation = randomUUID();
    await putMark(7, { installation, generation: 7 });
    const trouble = `The bucket ${bucket.name} carries the owner mark of another installation, ${installation}. Comparing, expiry and emptying the trash have stopped. If the bucket is to be this installation's, run \`postern storage own --take-over\``;
    assert.equal(await judgeOwner(services), trouble);
    assert.equal(await checkOwner(services), trouble);
    const marked = await known();
    assert.deepEqual([marked?.isMarked, marked?.trouble], [false, trouble]);
    assert.equal(await judgeOwner(services), trouble);
    assert.equal(await renewOwner(services), trouble);
    assert.deepEqual(await marks(), ["000000000007.json"]);

    assert.equal(await takeOver(services), installation);
    assert.deepEqual(await marks(), ["000000000008.json"]);
    const taken = await known();
    assert.deepEqual([taken?.generation, taken?.isMarked, taken?.trouble], [8, true, null]);
    assert.equal(await checkOwner(services), null);
  });

  it("is ahead of the database shows an older one; one that is not ahead shows nothing", async () => {
    await checkOwner(services);
    const installation = (await known())?.installationId;
    await putMark(2, { installation, generation: 2 });
    const trouble = await checkOwner(services);
    assert.match(
      trouble ?? "",
      new RegExp(
        `^The bucket ${bucket.name} was compared 2 times, .*knows of 1: it was restored from an older`,
      ),
    );
    await database.pool.query("UPDATE postern.storage_buckets SET generation = 2 WHERE bucket = $1", [
      bucket.name,
    ]);
    assert.equal(await checkOwner(services), null);
    assert.equal((await known())?.trouble, null);
  });

  it("was put ahead for an object says which, and what to do", async () => {
    await checkOwner(services);
    const told = await markAsNewer(services, "v1/the/object");
    assert.match(
      told,
      /^The bucket \S+ has the object v1\/the\/object, which was stored since the last pass/,
    );
    assert.match(told, /postern storage adopt/);
    assert.equal(await checkOwner(services), told);
    assert.equal(await judgeOwner(services), told);
    assert.deepEqual(await marks(), ["000000000001.json", "000000000002.json"]);
    // By an object that is found while the mark is ahead already.
    assert.equal(await markAsNewer(services, "v1/another"), told);
  });

  it("is none that Postern writes is not judged at all", async () => {
    const installation = randomUUID();
    for (const content of [
      { installation, generation: 4 },
      { installation: "someone", generation: 3 },
      { installation, generation: 3, more: 1 },
      "text",
    ]) {
      await putMark(3, Object(content));
      await assert.rejects(checkOwner(services), {
        name: "StoreUnavailableError",
        message: `the bucket's owner mark ${ownerKey(3)} is not one that Postern writes`,
      });
    }
    assert.equal((await known())?.trouble, null);
  });
});

describe("a bucket that was never taken over", () => {
  it("is taken over from nobody, and counts on from what the database knows", async () => {
    assert.equal(await takeOver(services), null);
    assert.deepEqual([await marks(), (await known())?.generation], [["000000000002.json"], 2]);
    assert.equal(await takeOver(services), (await known())?.installationId);
    assert.deepEqual([await marks(), (await known())?.generation], [["000000000003.json"], 3]);
  });
});

/** An artifact with its bytes, of which the database has a row in that state, or none. */
async function store(state: "available" | "missing" | null): Promise<StoredVersion> {
  const bytes = Buffer.from("of an attempt");
  const { id, ...version } = await uploadArtifact(database.pool, bucket, { tenantId: tenant("acme"), bytes });
  await database.pool.query(
    state === null
      ? "DELETE FROM postern.stored_objects WHERE id = $1 AND $2::text IS NULL"
      : `UPDATE postern.stored_objects SET state = $2, available_at = now(), deadline = now() + interval '1 day' WHERE id = $1`,
    [id, state],
  );
  return version;
}

describe("a bucket without a mark", () => {
  it("is ours where what is known is found in it, and not while anything of that is gone", async () => {
    const [, gone] = [await store("available"), await store("available")];
    // Where a missing one is, the database does not know, so it is not looked for.
    await store("missing");
    await bucket.deleteVersion(gone);
    const trouble = await checkOwner(services);
    assert.match(
      trouble ?? "",
      /^The bucket \S+ has no owner mark, and of 2 artifacts that this database knows only 1 are there with/,
    );
    assert.equal(await judgeOwner(services), trouble);
    await assert.rejects(marks());
    await database.pool.query("DELETE FROM postern.stored_objects WHERE bucket = $1 AND key = $2", [
      bucket.name,
      gone.key,
    ]);
    assert.equal(await checkOwner(services), null);
    assert.deepEqual(await marks(), ["000000000001.json"]);
  });

  it("is not ours where what is known lies there with other bytes", async () => {
    const { key } = await store("available");
    await writeFile(join(root, "objects", key), "other bytes!!");
    assert.match((await checkOwner(services)) ?? "", /knows only 0 are there/);
  });

  it("is not ours where the store does not tell the digest of what lies there, or tells another size", async () => {
    await store("available");
    for (const told of [{ sha256: null }, { size: 1 }]) {
      const other: Bucket = {
        ...bucket,
        async head(request) {
          const head = await bucket.head(request);
          return head.found ? { ...head, ...told } : head;
        },
      };
      assert.match((await checkOwner({ ...services, bucket: other })) ?? "", /knows only 0 are there/);
    }
    assert.equal(await checkOwner(services), null);
  });

  it("is nobody's where it holds what the database does not know, other than what is no artifact", async () => {
    await writeFile(join(root, "objects", "planted.txt"), "");
    await mkdir(join(root, "objects", "v1"));
    await writeFile(join(root, "objects", "v1", "planted.txt"), "");
    await store("missing");
    const unknown = await store(null);
    const trouble = await checkOwner(services);
    assert.match(
      trouble ?? "",
      /has no owner mark, and holds artifacts that this database does not know\. Compar/,
    );
    await bucket.deleteVersion(unknown);
    assert.equal(await checkOwner(services), null);
  });

  it("whose mark is gone is not ours while artifacts are known there", async () => {
    assert.equal(await checkOwner(services), null);
    const known = await store("available");
    await rm(join(root, ownerKey(1)));
    const trouble = await checkOwner(services);
    assert.match(
      trouble ?? "",
      /^The owner mark of the bucket \S+ is gone, and this database knows of artifacts there/,
    );
    await database.pool.query("UPDATE postern.stored_objects SET state = 'purged' WHERE key = $1", [
      known.key,
    ]);
    assert.equal(await checkOwner(services), null);
  });
});

describe("a mark that changes while it is read", () => {
  it("is read again, and three times at most", async () => {
    assert.equal(await checkOwner(services), null);
    for (const what of ["head", "get"] as const) {
      let gone = 2;
      const moving: Bucket = {
        ...bucket,
        [what]: async (request: never) => {
          gone--;
          return gone >= 0 ? { found: false } : bucket[what](request);
        },
      };
      assert.equal(await checkOwner({ ...services, bucket: moving }), null);
      gone = 3;
      await assert.rejects(checkOwner({ ...services, bucket: moving }), {
        name: "StoreUnavailableError",
        message: "the bucket's owner mark was renewed each time that it was read",
      });
    }
    const without = {
      ...bucket,
      head: async (request: Parameters<Bucket["head"]>[0]) => {
        const head = await bucket.head(request);
        return head.found ? { ...head, version_id: null } : head;
      },
    };
    await assert.rejects(checkOwner({ ...services, bucket: without }), /renewed each time/);
    await putMark(9, {});
    for (const silent of [without, { ...bucket, head: async () => ({ found: false }) as const }]) {
      await forgetEarlierBegins({ ...services, bucket: { ...silent, deleteVersion: slip } });
    }
  });

  it("is the other's that came first, where two write one", async () => {
    const second = {
      ...bucket,
      put: async (upload: Parameters<Bucket["put"]>[0]) => {
        await bucket.put(upload);
        return bucket.put(upload);
      },
    };
    // Both marks are of this installation, so the bucket is ours even so.
    assert.equal(await checkOwner({ ...services, bucket: second }), null);
    assert.match(
      (await renewOwner({ ...services, bucket: second })) ?? "",
      /^Another process, or a second copy of/,
    );
    await assert.rejects(takeOver({ ...services, bucket: second }), /at the same moment: try again/);
  });

  it("is another installation's that came first, so the bucket is not ours", async () => {
    const installation = randomUUID();
    const late = {
      ...bucket,
      put: async (upload: Parameters<Bucket["put"]>[0]) => {
        await putMark(1, { installation, generation: 1 });
        return bucket.put(upload);
      },
    };
    const trouble = await checkOwner({ ...services, bucket: late });
    assert.ok(trouble?.includes(`owner mark of another installation, ${installation}`), trouble ?? "ours");
    assert.partialDeepStrictEqual(await known(), { isMarked: false, trouble });
  });

  it("is the last of them, however many pages they come in", async () => {
    assert.equal(await checkOwner(services), null);
    const installation = (await known())?.installationId;
    for (const generation of [2, 3, 4]) await putMark(generation, { installation, generation });
    const paged: Bucket = { ...bucket, list: (page) => bucket.list({ ...page, limit: 2 }) };
    assert.match((await checkOwner({ ...services, bucket: paged })) ?? "", /was compared 4 times/);
    await forgetEarlierBegins({ ...services, bucket: paged });
    assert.deepEqual(await marks(), ["000000000004.json"]);
    const empty: Bucket = { ...bucket, list: async () => ({ objects: [], isTruncated: true }) };
    assert.equal(await readLastBegin({ ...services, bucket: empty }), null);
  });
});
