import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { ignoreGone } from "../../../test/support/gone.ts";
import { away, eachStored, slip, type Stored } from "../../../test/support/stored.ts";
import type { Bucket } from "../bytes/bucket.ts";
import type { HeadAnswer } from "../rules/ports.ts";
import { relinkLost } from "./relink-lost.ts";

type FoundHead = Extract<HeadAnswer, { found: true }>;

const BYTES = "of an attempt";
const TWO_HOURS_MS = 7_200_000;

let stored: Stored;
eachStored((opened) => (stored = opened));

const relink = (bucket: Partial<Bucket> = {}, isDryRun = false) =>
  relinkLost({ db: stored.db, bucket: { ...stored.bucket, ...bucket } }, isDryRun);

async function orphanOf(bytes: string, ageMs?: number) {
  const orphan = await stored.orphan({ bytes });
  await stored.suspect(orphan, "object_without_row", ageMs);
  return orphan;
}

async function loseOf(bytes: string) {
  const lost = await stored.store({ bytes });
  await stored.lose(lost);
  return lost;
}

const found = (relinked: number, ...examined: { key: string }[]) => ({
  relinked,
  examined: new Set(examined.map(({ key }) => key)),
});

describe("objects that were suspected for two hours to have no row", () => {
  it("are looked at from then on, and are cleared where no row has lost their bytes", async () => {
    const long = await orphanOf("long", TWO_HOURS_MS + 1000);
    await orphanOf("not yet", TWO_HOURS_MS - 600_000);
    const listed = await stored.orphan({ bytes: "another suspicion" });
    await stored.suspect(listed, "identity_mismatch");
    const row = await stored.store({ bytes: "has its own" });
    const copy = await orphanOf("has its own");
    const gone = await orphanOf("gone");
    await stored.lose(gone);
    const { revision } = await stored.rowOf(row);
    assert.deepEqual(await relink(), found(0, long, copy, gone));
    assert.equal((await stored.rowOf(row)).revision, revision);
  });

  it("are copied to the row that lost exactly their bytes, and stay till then what it may need", async () => {
    const rows = [];
    for (let n = 0; n < 3; n++) rows.push(await stored.store({ bytes: BYTES }));
    // Those are looked at by their ids: two with bytes of their own come first.
    const [one, other, lost] = rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    assert.ok(one !== undefined && other !== undefined && lost !== undefined);
    await stored.lose(lost);
    const orphan = await orphanOf(BYTES);
    const { revision } = await stored.rowOf(lost);
    assert.deepEqual(await relink({}, true), found(0));
    assert.ok(!existsSync(lost.place));
    assert.deepEqual(await relink(), found(1));
    assert.equal(await readFile(lost.place, "utf8"), BYTES);
    assert.ok(existsSync(orphan.place));
    const row = await stored.rowOf(lost);
    assert.deepEqual([Number(row.revision), row.version_id], [Number(revision) + 1, lost.versionId]);
    assert.deepEqual(await relink(), found(0, orphan));
    assert.ok([one, other].every(({ place }) => existsSync(place)));
  });

  it("are kept while other bytes lie where the row's were, and are its own where the same ones do", async () => {
    const lost = await loseOf(BYTES);
    await orphanOf(BYTES);
    await stored.overwrite(lost, "other bytes");
    const earlier = await stored.rowOf(lost);
    assert.deepEqual(await relink(), found(0));
    assert.deepEqual(await stored.rowOf(lost), earlier);
    assert.equal(await readFile(lost.place, "utf8"), "other bytes");

    // As an earlier try leaves it that could not record the copy.
    const put: Bucket["put"] = async (upload) => {
      await stored.overwrite(lost, BYTES);
      return stored.bucket.put(upload);
    };
    await stored.lose(lost);
    assert.deepEqual(await relink({ put }), found(1));
    assert.equal((await stored.rowOf(lost)).version_id, lost.versionId);
  });

  it("are not given back where the store does not tell what lies there now, or it is gone again", async () => {
    const lost = await loseOf(BYTES);
    await orphanOf(BYTES);
    const earlier = await stored.rowOf(lost);
    let isThere = false;
    const put: Bucket["put"] = async (upload) => {
      await stored.overwrite(lost, BYTES);
      isThere = true;
      return stored.bucket.put(upload);
    };
    for (const [told, answer] of [
      ["no version", (head: FoundHead) => ({ ...head, version_id: null })],
      ["another digest", (head: FoundHead) => ({ ...head, sha256: "b".repeat(64) })],
      ["no digest", (head: FoundHead) => ({ ...head, sha256: null })],
      ["another size", (head: FoundHead) => ({ ...head, size: 1 })],
      ["that it is gone", (): HeadAnswer => ({ found: false })],
    ] as const) {
      isThere = false;
      await stored.lose(lost).catch(ignoreGone);
      const head: Bucket["head"] = async (request) => {
        const found = await stored.bucket.head(request);
        return found.found && isThere && request.key === lost.key ? answer(found) : found;
      };
      assert.deepEqual(await relink({ put, head }), found(0), told);
      assert.deepEqual(await stored.rowOf(lost), earlier, told);
    }
    await stored.lose(lost);
    assert.deepEqual(await relink({ get: async () => ({ found: false }) }), found(0));
  });

  it("are not counted as given back to a row that changes meanwhile", async () => {
    const lost = await loseOf(BYTES);
    await orphanOf(BYTES);
    const put: Bucket["put"] = async (upload) => {
      const answer = await stored.bucket.put(upload);
      await stored.db.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [
        lost.id,
      ]);
      return answer;
    };
    assert.deepEqual(await relink({ put }), found(0));
  });

  it("are kept where the store cannot be asked about them, and the others are looked at", async () => {
    const orphans = [await orphanOf("one"), await orphanOf("two"), await orphanOf("three")];
    const [first, second, third] = orphans.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const head: Bucket["head"] = (request) =>
      request.key === second.key ? away() : stored.bucket.head(request);
    assert.deepEqual(await relink({ head }), found(0, first, third));
    await assert.rejects(relink({ head: slip }), TypeError);
  });
});
