/**
 * A bucket that is a folder: what a service without an object store keeps its artifacts in.
 *
 *     objects/<key>         the bytes, and nothing else: this is what is listed
 *     digests/<key>.json    size, time and SHA-256 of those bytes
 *     uploads/<random>      bytes on their way
 *
 * An object is written and synced under `uploads`, then linked to its place, so
 * it is there whole or not at all, and a second upload of a key finds the place
 * taken. The version is the SHA-256, so one key and version can only ever be the
 * same bytes. A digest is a note: where it is absent, or its size or time is not
 * the file's, the file is read again. So a crash between the two, or a restored
 * backup without notes, loses nothing.
 */
import { createHash, randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import {
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { ARTIFACT_FORMATS, parseObjectKey } from "../rules/object-key.ts";
import type { ListedObject } from "../rules/reconcile-types.ts";
import type { SignedUrlEndpoint } from "../rules/signed-url.ts";
import { MAX_OBJECT_BYTES } from "../rules/values.ts";
import { kindOfKey, requireBucket, StoreUnavailableError, type Bucket, type Upload } from "./bucket.ts";
import { openRegular, placeExclusively, removeFile } from "./directory-files.ts";
import { beginWalk, isAbsent, type KeyWalk } from "./directory-listing.ts";
import type { LinkSigner } from "./file-links.ts";

/** The name in rows and links; there is one folder for each service. */
export const DIRECTORY_BUCKET = "artifacts";

/** An upload that nobody has finished by then belongs to a process that died. */
const ABANDONED_AFTER_MS = 86_400_000;
const VERIFIED_FILES = 10_000;
const LONGEST_KEY = 1024;
const DIGEST_BYTES = 256 * 1024;
/** Well below the quarter of an hour for which comparing leaves alone what is new and may be absent from a walk. */
const WALK_LIMIT_MS = 300_000;

const note = z.strictObject({ size: z.string(), mtime_ns: z.string(), sha256: z.string() });

type Facts = { size: number; sha256: string; lastModified: string };

/** Touches nothing until it is used. */
export function makeDirectoryBucket(options: {
  /** Its folder, made where absent; no one else may write in it. */
  root: string;
  signer: LinkSigner;
  /** Where the API serves the files; asked for at each link, since the port may be known late. */
  endpoint: () => SignedUrlEndpoint;
}): Bucket {
  const folders = {
    objects: join(options.root, "objects"),
    digests: join(options.root, "digests"),
    uploads: join(options.root, "uploads"),
  };
  let prepared: Promise<void> | null = null;
  /** Files whose bytes this process has read, by what changes when anyone writes to them. */
  const verified = new LRUCache<string, string>({ max: VERIFIED_FILES });

  /** Where the last page ended. */
  let resting: KeyWalk | null = null;

  const placeOf = (key: string): string => join(folders.objects, key);
  const noteOf = (key: string): string => join(folders.digests, `${key}.json`);

  /** A new file of this process's own, beside the objects so that it can be linked to its place. */
  async function newDraft(): Promise<string> {
    await mkdir(folders.uploads, { recursive: true, mode: 0o700 });
    // What cannot be removed is clutter, and no reason to refuse an upload.
    prepared ??= removeAbandoned(folders.uploads).catch(() => undefined);
    await prepared;
    return join(folders.uploads, randomUUID());
  }

  /** Null where there is no object. Where the folder of all objects is gone, such as a volume, nothing is known. */
  async function openObject(key: string): Promise<FileHandle | null> {
    return (await openRegular(folders.objects, placeOf(key))) ?? stat(folders.objects).then(() => null);
  }

  async function factsOf(key: string): Promise<Facts | null> {
    const file = await openObject(key);
    if (file === null) return null;
    try {
      const stats = await file.stat({ bigint: true });
      const sha256 = (await readNote(noteOf(key), stats)) ?? (await digestAnew(key, file, stats));
      return { size: Number(stats.size), sha256, lastModified: stats.mtime.toISOString() };
    } finally {
      await file.close();
    }
  }

  async function digestAnew(key: string, file: FileHandle, stats: BigIntStats): Promise<string> {
    const sha256 = await digestOf(file);
    verified.set(identityOf(stats), sha256);
    await writeNote(key, { size: String(stats.size), mtime_ns: String(stats.mtimeNs), sha256 });
    return sha256;
  }

  /** Without a note the file is read again: that one cannot be written is no reason to fail. */
  async function writeNote(key: string, content: z.infer<typeof note>): Promise<void> {
    const draft = await newDraft();
    try {
      await writeFile(draft, JSON.stringify(content), { flag: "wx", mode: 0o600 });
      await mkdir(dirname(noteOf(key)), { recursive: true, mode: 0o700 });
      await rename(draft, noteOf(key));
    } catch {
      await rm(draft, { force: true });
    }
  }

  async function putFile(upload: Upload): ReturnType<Bucket["put"]> {
    const { key, sha256 } = upload;
    const draft = await newDraft();
    try {
      await writeDraft(draft, upload);
      if (!(await placeExclusively(draft, placeOf(key)))) return { code: "exists" };
    } finally {
      await rm(draft, { force: true });
    }
    const { size, mtimeNs } = await stat(placeOf(key), { bigint: true });
    await writeNote(key, { size: String(size), mtime_ns: String(mtimeNs), sha256 });
    return { code: "stored", versionId: sha256, etag: sha256 };
  }

  /** Goes on with the walk of the page before, if this is the next page. */
  function takeWalk(after: string | null): KeyWalk {
    const walk = resting;
    resting = null;
    const isNext =
      walk !== null && walk.after === after && performance.now() - walk.beganAtMs < WALK_LIMIT_MS;
    return isNext ? walk : beginWalk(folders.objects, after);
  }

  async function listed(key: string): Promise<ListedObject | null> {
    // A planted file is told of and not read.
    const isOurs = isArtifactKey(key);
    const facts = isOurs ? await factsOf(key) : await foreignFacts(placeOf(key));
    if (facts === null) return null;
    const size = Math.min(facts.size, MAX_OBJECT_BYTES);
    return { key, size, etag: facts.sha256, last_modified: facts.lastModified };
  }

  /** Opens a file that holds the version, having read all of it once since it was last written. */
  async function openVersion(key: string, versionId: string): Promise<FileHandle | null> {
    const file = await openObject(key);
    if (file === null) return null;
    try {
      const identity = identityOf(await file.stat({ bigint: true }));
      const sha256 = verified.get(identity) ?? (await digestOf(file));
      verified.set(identity, sha256);
      if (sha256 === versionId) return file;
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return null;
  }

  return {
    name: DIRECTORY_BUCKET,
    endpoint: options.endpoint,
    credentialExpiresAt: async () => null,
    async put(upload) {
      kindOfKey(upload.key);
      return orUnavailable(() => putFile(upload));
    },
    async head({ bucket, key, version_id }) {
      requireBucket({ name: DIRECTORY_BUCKET }, bucket);
      const { contentType } = ARTIFACT_FORMATS[kindOfKey(key)];
      const facts = await orUnavailable(() => factsOf(key));
      if (facts === null || (version_id !== null && version_id !== facts.sha256)) return { found: false };
      const { size, sha256, lastModified } = facts;
      return {
        found: true,
        size,
        etag: sha256,
        version_id: sha256,
        sha256,
        content_type: contentType,
        last_modified: lastModified,
      };
    },
    async list({ after, limit }) {
      return orUnavailable(async () => {
        const walk = takeWalk(after);
        const objects: ListedObject[] = [];
        while (objects.length < limit) {
          const key = await walk.next();
          if (key === null) return { objects, isTruncated: false };
          const object = key.length > LONGEST_KEY ? null : await listed(key);
          if (object !== null) objects.push(object);
        }
        const isTruncated = await walk.hasMore();
        if (isTruncated) resting = walk;
        return { objects, isTruncated };
      });
    },
    async get({ key, versionId, range }) {
      kindOfKey(key);
      return orUnavailable(async () => {
        const file = await openVersion(key, versionId);
        if (file === null) return { found: false };
        const { size } = await file.stat();
        const body: Readable = file.createReadStream({ start: 0, ...range });
        return { found: true, size, body };
      });
    },
    async deleteVersion({ key, versionId }) {
      kindOfKey(key);
      await orUnavailable(async () => {
        const facts = await factsOf(key);
        if (facts?.sha256 !== versionId) return;
        await removeFile(folders.objects, placeOf(key));
        await removeFile(folders.digests, noteOf(key));
      });
    },
    signGet: async (request) => ({ url: options.signer.sign(options.endpoint(), request) }),
    readConfig: async () => null,
    close: () => undefined,
  };
}

async function writeDraft(path: string, upload: Upload): Promise<void> {
  const hash = createHash("sha256");
  let size = 0;
  const file = await open(path, "wx", 0o600);
  await pipeline(
    upload.open(),
    async function* count(source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > upload.size) break;
        hash.update(chunk);
        yield chunk;
      }
    },
    file.createWriteStream({ flush: true }),
  );
  if (size !== upload.size || hash.digest("hex") !== upload.sha256) {
    throw new Error("the uploaded bytes are not of the size and digest told");
  }
}

/** In one buffer: a stream's would wait for the garbage collection, dozens of megabytes of them. */
async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(DIGEST_BYTES);
  let position = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

/** The digest noted for a file that has not changed since; null asks to read it. */
async function readNote(path: string, stats: BigIntStats): Promise<string | null> {
  try {
    const noted = note.parse(JSON.parse(await readFile(path, "utf8")));
    const isOfFile = noted.size === String(stats.size) && noted.mtime_ns === String(stats.mtimeNs);
    return isOfFile ? noted.sha256 : null;
  } catch (error) {
    // A crash may leave half a note: it is as good as none.
    if (isAbsent(error) || error instanceof SyntaxError || error instanceof z.ZodError) return null;
    throw error;
  }
}

async function foreignFacts(path: string): Promise<Facts | null> {
  try {
    const { size, mtime } = await lstat(path);
    return { size, sha256: "foreign", lastModified: mtime.toISOString() };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** The change time is among them: unlike the others nobody can set it. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function isArtifactKey(key: string): boolean {
  return parseObjectKey(key).code === "OK";
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    );
    if (age > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

/** A fault of the file system (full, unreadable, gone) tells nothing of the object. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && "syscall" in error) {
      throw new StoreUnavailableError(`the folder of stored artifacts: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
