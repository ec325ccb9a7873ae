import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { away, eachStored, slip, type Stored } from "../../../test/support/stored.ts";
import type { Bucket, StoredVersion } from "../bytes/bucket.ts";
import { deleteObjects } from "./delete-objects.ts";
import { listTrash } from "./trash.ts";

const NOW = "2026-03-01T12:00:00.000Z";

let stored: Stored;
eachStored((opened) => (stored = opened));

/** Those of `orphans` were found to have no row. */
function remove(versions: readonly StoredVersion[], orphans: readonly { key: string }[], bucket?: Bucket) {
  const deletes = versions.map(({ key, versionId }) => {
    const of = { bucket: stored.bucket.name, key, version_id: versionId };
    return { op: "delete", target: "object", ...of } as const;
  });
  const decisions = [
    ...orphans.map(({ key }) => ({ key, class: "object_without_row", decision: "purge" }) as const),
    ...versions.map(({ key }) => ({ key, class: "purge_due", decision: "purge" }) as const),
  ];
  const services = { db: stored.db, bucket: bucket ?? stored.bucket };
  return deleteObjects(services, deletes, { now: NOW, decisions });
}

const inTrash = async () =>
  (await Array.fromAsync(listTrash(stored.bucket))).map(({ key, at }) => ({ key, at }));

describe("objects that a page is rid of", () => {
  it("go to the trash without a row, for good with one, and stay while it is held", async () => {
    const orphan = await stored.orphan();
    const due = await stored.store({ state: "expired" });
    const held = await stored.store({ state: "expired", isHeld: true });
    assert.equal(await remove([held, orphan, due], [orphan]), 0);
    assert.deepEqual(
      [held, orphan, due].map(({ place }) => existsSync(place)),
      [true, false, false],
    );
    assert.deepEqual(await inTrash(), [{ key: orphan.key, at: NOW }]);
  });

  it("are counted where they could not be deleted, and do not keep the others", async () => {
    const [orphan, due] = [await stored.orphan(), await stored.store({ state: "expired" })];
    const [otherOrphan, otherDue] = [await stored.orphan(), await stored.store({ state: "expired" })];
    const unreachable = new Set([orphan.key, due.key]);
    const bucket: Bucket = {
      ...stored.bucket,
      deleteVersion: (version) =>
        unreachable.has(version.key) ? away() : stored.bucket.deleteVersion(version),
    };
    const all = [orphan, due, otherOrphan, otherDue];
    assert.equal(await remove(all, [orphan, otherOrphan], bucket), 2);
    assert.deepEqual(
      all.map(({ place }) => existsSync(place)),
      [true, true, false, false],
    );
    assert.equal(await remove(all, [orphan, otherOrphan]), 0);
    assert.ok(all.every(({ place }) => !existsSync(place)));
  });

  it("are not passed over where something else is wrong than the store", async () => {
    const due = await stored.store({ state: "expired" });
    await assert.rejects(remove([due], [], { ...stored.bucket, deleteVersion: slip }), TypeError);
  });
});
