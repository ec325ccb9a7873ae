/**
 * Where objects go that no row speaks of, instead of being deleted: to a place
 * in the same bucket that comparing doesn't look at, until they are emptied.
 */
import { createHash } from "node:crypto";
import type { Pool } from "../../database/pool.ts";
import { StoreUnavailableError, type Bucket, type UploadAnswer } from "../bytes/bucket.ts";
import { parseTrashKey, TRASH_PREFIX, trashKey } from "../bytes/own-keys.ts";
import type { HeadAnswer } from "../rules/ports.ts";
import { insertOrphanMark } from "./reconcile-store.ts";
import { makeUnlessRefused } from "./refused-one.ts";

const LISTED_AT_ONCE = 500;

/** `key` is the one that the object had, `trashKey` the one that it has now. */
export type TrashEntry = { trashKey: string; key: string; at: string; size: number };

type Version = { key: string; versionId: string };
type FoundHead = Extract<HeadAnswer, { found: true }>;

/** The copy comes before the deletion: a crash in between leaves both, and the next pass finds the object again. */
export async function moveToTrash(bucket: Bucket, version: Version, now: string): Promise<void> {
  const copied = await copyVersion(bucket, version, trashKey(version.key, now));
  if (copied !== null) await bucket.deleteVersion(version);
}

/** What lies in the trash, by key and then by time. `prefix` is that of the keys which the objects had. */
export async function* listTrash(bucket: Bucket, prefix = ""): AsyncGenerator<TrashEntry> {
  const place = `${TRASH_PREFIX}${prefix}`;
  for (let after: string | null = null; ;) {
    const { objects, isTruncated } = await bucket.list({ after, limit: LISTED_AT_ONCE, prefix: place });
    for (const { key: own, size } of objects) {
      const parsed = parseTrashKey(own);
      if (parsed !== null) yield { trashKey: own, size, ...parsed };
    }
    after = objects.at(-1)?.key ?? null;
    if (!isTruncated || after === null) return;
  }
}

/**
 * `taken`: an object with other bytes has the key again. `gone`: the entry is not
 * there any more. With the same bytes, an earlier restoring was cut behind its copy.
 */
export async function restoreFromTrash(
  { db, bucket }: { db: Pool; bucket: Bucket },
  entry: TrashEntry,
): Promise<"restored" | "taken" | "gone"> {
  const head = await bucket.head({ bucket: bucket.name, key: entry.trashKey, version_id: null });
  if (!head.found || head.version_id === null) return "gone";
  const version = { key: entry.trashKey, versionId: head.version_id };
  // So that the next pass does not take it for an object of a newer database.
  await insertOrphanMark(db, bucket.name, entry.key);
  const copied = await copyVersion(bucket, version, entry.key);
  if (copied === null) return "gone";
  if (copied.code === "exists" && !(await hasSameBytes(bucket, version, entry.key))) return "taken";
  await bucket.deleteVersion(version);
  return "restored";
}

async function hasSameBytes(bucket: Bucket, version: Version, key: string): Promise<boolean> {
  const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
  if (!head.found || head.version_id === null) return false;
  const [one, other] = await Promise.all([
    digestOf(bucket, version),
    digestOf(bucket, { key, versionId: head.version_id }),
  ]);
  return one !== null && one === other;
}

/** Null where the version is not there. */
async function digestOf(bucket: Bucket, version: Version): Promise<string | null> {
  const { key, versionId } = version;
  const head = await bucket.head({ bucket: bucket.name, key, version_id: versionId });
  return head.found ? (head.sha256 ?? (await digestOfVersion(bucket, version))) : null;
}

/** Deletes for good. False where the entry is not there any more. */
export async function deleteFromTrash(bucket: Bucket, { trashKey: key }: TrashEntry): Promise<boolean> {
  const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
  if (!head.found) return false;
  await bucket.deleteVersion({ key, versionId: requireVersion(head, key) });
  return true;
}

/** `refusal`: why the store did not delete it; null where it is deleted for good. */
export type EmptiedEntry = { entry: TrashEntry; refusal: string | null };

/**
 * Deletes those of the entries for good that went to the trash up to that time,
 * until the signal. One that the store refuses, as for a lock of its own, is left
 * and keeps none of the others.
 *
 * @throws StoreUnavailableError where the store is away.
 */
export async function* emptyTrash(
  bucket: Bucket,
  entries: AsyncIterable<TrashEntry>,
  { until, signal }: { until: string; signal?: AbortSignal | undefined },
): AsyncGenerator<EmptiedEntry> {
  const unlessRefused = makeUnlessRefused(bucket);
  for await (const entry of entries) {
    if (signal?.aborted === true) return;
    if (entry.at > until) continue;
    const end = await unlessRefused(() => deleteFromTrash(bucket, entry));
    if ("refusal" in end) yield { entry, refusal: end.refusal };
    else if (end.done) yield { entry, refusal: null };
  }
}

/** Null where the version is not there. */
export async function copyVersion(bucket: Bucket, from: Version, to: string): Promise<UploadAnswer | null> {
  const { key, versionId } = from;
  const head = await bucket.head({ bucket: bucket.name, key, version_id: versionId });
  if (!head.found) return null;
  const sha256 = head.sha256 ?? (await digestOfVersion(bucket, from));
  const source = await bucket.get({ key, versionId });
  if (!source.found) return null;
  try {
    return await bucket.put({ key: to, size: head.size, sha256, open: () => source.body });
  } finally {
    // A key that is taken, or a store that is away, is known without reading any of it.
    source.body.destroy();
  }
}

/** For what was not uploaded by Postern: stores know the digest only where an upload brought it. */
export async function digestOfVersion(bucket: Bucket, { key, versionId }: Version): Promise<string> {
  const hash = createHash("sha256");
  const opened = await bucket.get({ key, versionId });
  if (opened.found) for await (const chunk of opened.body) hash.update(chunk);
  return hash.digest("hex");
}

function requireVersion(head: FoundHead, key: string): string {
  if (head.version_id !== null) return head.version_id;
  throw new StoreUnavailableError(`the object store returned no version of ${key}`);
}
