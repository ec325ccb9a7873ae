/**
 * Whose a bucket is.
 *
 * A second installation on the same bucket, or a database that was restored from
 * an older backup, sees objects that no row of its own speaks of, and would
 * delete them. So a bucket carries an owner mark: an object that is created only
 * where it is absent. It names the installation and a generation. Each pass
 * raises the generation, first in the database and then in the bucket, so the
 * mark is never ahead of the database that wrote it. A mark that is ahead
 * shows an older database, or a second copy of it. A pass that finds an object
 * which only a newer database can know puts such a mark there on purpose.
 *
 * Nothing is deleted in a bucket unless its mark was read and is ours.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import * as z from "zod";
import type { Pool } from "../../database/pool.ts";
import { parseJson } from "../../shared/parse-json.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { ownerGeneration, ownerKey, OWNER_PREFIX } from "../bytes/own-keys.ts";
import { parseObjectKey } from "../rules/object-key.ts";
import type { ListedObject } from "../rules/reconcile-types.ts";
import {
  addBucket,
  findRowIdentities,
  hasRowsWithBytes,
  raiseGeneration,
  readBucket,
  recordOwner,
  sampleAvailable,
  setGeneration,
  type KnownBucket,
  type RowIdentity,
} from "./owner-store.ts";

export type OwnerServices = { db: Pool; bucket: Bucket };

/** Known rows that must be found in a bucket without a mark before it gets one; all where there are fewer. */
const PROOF = 100;
/** More than are needed: some may have been lost. */
const PROOF_CANDIDATES = 120;
const LISTED_AT_ONCE = 1000;
/** Artifacts that the doctor looks for. */
const LOOKED_FOR = 20;
const REMEDY =
  "Comparing, expiry and emptying the trash have stopped. If the bucket is to be this installation's, run `postern storage own --take-over`";

const RENEWED_BY_ANOTHER =
  "Another process, or a second copy of this database, renewed the owner mark at the same moment: the next pass looks again";
const READ_TRIES = 3;

const markContent = z.strictObject({
  installation: z.uuid(),
  generation: z.int().min(1),
  /** The key of an object that only a newer database can know. */
  unknown: z.string().optional(),
});
type Mark = z.infer<typeof markContent>;

/**
 * Reads the mark, and writes it where the bucket has none and is shown to be
 * ours. Answers why nothing may be deleted; null where all is well.
 *
 * @throws StoreUnavailableError where the mark cannot be read: then nothing is known.
 */
export async function checkOwner(services: OwnerServices): Promise<string | null> {
  const { db, bucket } = services;
  await addBucket(db, bucket.name);
  // The mark first: a generation that another process raises in between is no older database.
  const found = await readMark(bucket);
  const known = await requireKnown(services);
  if (found !== null) {
    const trouble = troubleWith(found, known, bucket.name);
    await recordOwner(db, bucket.name, { isMarked: trouble === null, trouble });
    return trouble;
  }
  const trouble = await reasonNotToMark(services, known);
  if (trouble === null && !(await writeMark(bucket, known))) return checkOwner(services);
  await recordOwner(db, bucket.name, { isMarked: trouble === null, trouble });
  return trouble;
}

/** When the last pass began that came to its end, or the bucket became ours, by the store's clock; null without a mark. */
export async function readLastBegin({ bucket }: OwnerServices): Promise<string | null> {
  const [oldest] = await listMarks(bucket);
  return oldest?.last_modified ?? null;
}

/** A pass came to its end: when those before it began does not count any more. */
export async function forgetEarlierBegins({ bucket }: OwnerServices): Promise<void> {
  const marks = await listMarks(bucket);
  await dropMarks(bucket, marks.slice(0, -1));
}

/** As {@link checkOwner}, and raises the generation. The oldest mark stays until a pass comes to its end. */
export async function renewOwner(services: OwnerServices): Promise<string | null> {
  const { db, bucket } = services;
  const trouble = await checkOwner(services);
  if (trouble !== null) return trouble;
  const known = await requireKnown(services);
  const generation = await raiseGeneration(db, bucket.name, known.generation);
  if (generation === null || !(await writeMark(bucket, { ...known, generation }))) {
    return (await checkOwner(services)) ?? RENEWED_BY_ANOTHER;
  }
  const marks = await listMarks(bucket);
  await dropMarks(bucket, marks.slice(1, -1));
  return null;
}

/**
 * Puts a mark into the bucket that is ahead of this database, because the object
 * of that key shows that it is an older one. Answers what that means.
 */
export async function markAsNewer(services: OwnerServices, unknown: string): Promise<string> {
  const { bucket } = services;
  const known = await requireKnown(services);
  await writeMark(bucket, { ...known, generation: known.generation + 1, unknown });
  return (await checkOwner(services)) ?? unknownObject(unknown, bucket.name);
}

/** What an object means that was stored since the last pass, and that no row speaks of. */
export function unknownObject(key: string, bucket: string): string {
  return `The bucket ${bucket} has the object ${key}, which was stored since the last pass and of which this database has no row: it was restored from an older backup, or another installation stores objects there. ${REMEDY}, and then \`postern storage adopt\` to give such objects rows`;
}

/** Changes nothing. */
export async function judgeOwner(services: OwnerServices): Promise<string | null> {
  const { db, bucket } = services;
  const found = await readMark(bucket);
  const known = await readBucket(db, bucket.name);
  if (known === null) return found === null ? null : foreign(found, bucket.name);
  return found === null ? reasonNotToMark(services, known) : troubleWith(found, known, bucket.name);
}

/**
 * Makes this installation the bucket's owner. Returns the installation
 * that had it; null where there was no mark.
 */
export async function takeOver(services: OwnerServices): Promise<string | null> {
  const { db, bucket } = services;
  await addBucket(db, bucket.name);
  const earlier = await readMark(bucket);
  const known = await requireKnown(services);
  const generation = Math.max(earlier?.generation ?? 0, known.generation) + 1;
  await setGeneration(db, bucket.name, generation);
  if (!(await writeMark(bucket, { ...known, generation })))
    throw new StoreUnavailableError("another process wrote the owner mark at the same moment: try again");
  await forgetEarlierBegins(services);
  await recordOwner(db, bucket.name, { isMarked: true, trouble: null });
  return earlier?.installation ?? null;
}

async function requireKnown({ db, bucket }: OwnerServices): Promise<KnownBucket> {
  const known = await readBucket(db, bucket.name);
  if (known === null) throw new Error(`the bucket ${bucket.name} has no row`);
  return known;
}

function troubleWith(found: Mark, known: KnownBucket, bucket: string): string | null {
  if (found.installation !== known.installationId) return foreign(found, bucket);
  if (found.generation <= known.generation) return null;
  if (found.unknown !== undefined) return unknownObject(found.unknown, bucket);
  return `The bucket ${bucket} was compared ${found.generation} times, by its owner mark, and this database knows of ${known.generation}: it was restored from an older backup, or a second copy of it is in use. ${REMEDY}`;
}

function foreign(found: Mark, bucket: string): string {
  return `The bucket ${bucket} carries the owner mark of another installation, ${found.installation}. ${REMEDY}`;
}

/** A bucket without a mark is ours where known rows are found in it, or where it is empty. */
async function reasonNotToMark(services: OwnerServices, known: KnownBucket): Promise<string | null> {
  const { db, bucket } = services;
  if (known.isMarked) {
    return (await hasRowsWithBytes(db, bucket.name))
      ? `The owner mark of the bucket ${bucket.name} is gone, and this database knows of artifacts there. ${REMEDY}`
      : null;
  }
  const sample = await sampleAvailable(db, bucket.name, PROOF_CANDIDATES);
  const needed = Math.min(PROOF, sample.length);
  let proven = 0;
  for (const row of sample) if (proven < needed && (await isThere(bucket, row))) proven++;
  if (proven < needed) {
    return `The bucket ${bucket.name} has no owner mark, and of ${needed} artifacts that this database knows only ${proven} are there with their size and SHA-256. ${REMEDY}`;
  }
  if (needed > 0 || (await holdsOnlyKnown(services))) return null;
  return `The bucket ${bucket.name} has no owner mark, and holds artifacts that this database does not know. ${REMEDY}`;
}

/** Of some available artifacts, how many are not in the bucket: another process may have another folder. */
export async function countAbsent({
  db,
  bucket,
}: OwnerServices): Promise<{ absent: number; looked: number }> {
  const sample = await sampleAvailable(db, bucket.name, LOOKED_FOR);
  let absent = 0;
  for (const row of sample) if (!(await isThere(bucket, row))) absent++;
  return { absent, looked: sample.length };
}

async function isThere(bucket: Bucket, row: RowIdentity): Promise<boolean> {
  const head = await bucket.head({ bucket: bucket.name, key: row.key, version_id: row.versionId });
  return head.found && head.size === row.size && head.sha256 === row.sha256;
}

/** Of the first artifacts of the bucket. */
async function holdsOnlyKnown({ db, bucket }: OwnerServices): Promise<boolean> {
  const { objects } = await bucket.list({ after: null, limit: LISTED_AT_ONCE, prefix: "v1/" });
  const artifacts = objects.filter(({ key }) => parseObjectKey(key).code === "OK").slice(0, PROOF);
  const keys = artifacts.map(({ key }) => key);
  const rows = new Map((await findRowIdentities(db, bucket.name, keys)).map((row) => [row.key, row]));
  return artifacts.every(({ key, size }) => rows.get(key)?.size === size);
}

async function readMark(bucket: Bucket): Promise<Mark | null> {
  // A pass that renews the mark meanwhile removes the one that was listed.
  for (let tries = 1; tries <= READ_TRIES; tries++) {
    const last = (await listMarks(bucket)).at(-1);
    if (last === undefined) return null;
    const { key } = last;
    const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
    if (!head.found || head.version_id === null) continue;
    const opened = await bucket.get({ key, versionId: head.version_id });
    if (!opened.found) continue;
    const content = markContent.safeParse(parseJson(await text(opened.body)));
    if (content.success && content.data.generation === ownerGeneration(last.key)) {
      return content.data;
    }
    throw new StoreUnavailableError(`the bucket's owner mark ${last.key} is not one that Postern writes`);
  }
  throw new StoreUnavailableError("the bucket's owner mark was renewed each time that it was read");
}

/** By generation. */
async function listMarks(bucket: Bucket): Promise<ListedObject[]> {
  const marks: ListedObject[] = [];
  for (let after: string | null = null; ; after = marks.at(-1)?.key ?? null) {
    const page = await bucket.list({ after, limit: LISTED_AT_ONCE, prefix: OWNER_PREFIX });
    marks.push(...page.objects.filter(({ key }) => ownerGeneration(key) !== null));
    if (!page.isTruncated || page.objects.length === 0) return marks;
  }
}

/** False where there is one of this generation. */
async function writeMark(
  bucket: Bucket,
  {
    installationId,
    generation,
    unknown,
  }: Pick<KnownBucket, "installationId" | "generation"> & { unknown?: string },
): Promise<boolean> {
  const bytes = Buffer.from(JSON.stringify({ installation: installationId, generation, unknown }));
  const answer = await bucket.put({
    key: ownerKey(generation),
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    open: () => Readable.from([bytes]),
  });
  return answer.code === "stored";
}

async function dropMarks(bucket: Bucket, marks: readonly ListedObject[]): Promise<void> {
  for (const { key } of marks) {
    const head = await bucket.head({ bucket: bucket.name, key, version_id: null });
    if (head.found && head.version_id !== null) {
      await bucket.deleteVersion({ key, versionId: head.version_id });
    }
  }
}
