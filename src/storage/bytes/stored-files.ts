/**
 * The files of a directory bucket: objects, the notes of their digests, and
 * uploads on their way. What each folder holds is said in directory-bucket.ts.
 */
import { createHash, randomUUID } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { makeFolders } from "../../shared/make-folders.ts";
import type { Bucket, Upload } from "./bucket.ts";
import { openRegular, placeExclusively, removeFile } from "./directory-files.ts";
import { OWN_PREFIX } from "./own-keys.ts";

/** An upload unfinished by then belongs to a process that died. */
const ABANDONED_AFTER_MS = 86_400_000;
const VERIFIED_FILES = 10_000;
const DIGEST_BYTES = 256 * 1024;

const note = z.strictObject({ size: z.string(), mtime_ns: z.string(), sha256: z.string() });

export type FileFacts = { size: number; sha256: string; lastModified: string };

export class StoredFiles {
  readonly #folders: { root: string; objects: string; digests: string; uploads: string };
  /** Files whose bytes this process has read, by what changes when anyone writes to them. */
  readonly #verified = new LRUCache<string, string>({ max: VERIFIED_FILES });
  /** Files whose bytes are being read, for who asks meanwhile: a large one is downloaded in several parts at once. */
  readonly #reading = new Map<string, Promise<string>>();
  #prepared: Promise<void> | null = null;

  constructor(root: string) {
    this.#folders = {
      root,
      objects: join(root, "objects"),
      digests: join(root, "digests"),
      uploads: join(root, "uploads"),
    };
  }

  /** What a key, or the prefix of some, is relative to. */
  folderOf(key: string): string {
    return key.startsWith(OWN_PREFIX) ? this.#folders.root : this.#folders.objects;
  }

  placeOf(key: string): string {
    return join(this.folderOf(key), key);
  }

  async factsOf(key: string): Promise<FileFacts | null> {
    const file = await this.#openObject(key);
    if (file === null) return null;
    try {
      const stats = await file.stat({ bigint: true });
      const sha256 = (await readNote(this.#noteOf(key), stats)) ?? (await this.#digestAnew(key, file, stats));
      return { size: Number(stats.size), sha256, lastModified: stats.mtime.toISOString() };
    } finally {
      await file.close();
    }
  }

  /** Opens a file that holds the version, having read all of it once since it was last written. */
  async openVersion(key: string, versionId: string): Promise<FileHandle | null> {
    const file = await this.#openObject(key);
    if (file === null) return null;
    try {
      const identity = identityOf(await file.stat({ bigint: true }));
      const sha256 = this.#verified.get(identity) ?? (await this.#digestOf(identity, file));
      if (sha256 === versionId) return file;
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return null;
  }

  async putFile(upload: Upload): ReturnType<Bucket["put"]> {
    const { key, sha256 } = upload;
    const draft = await this.#newDraft();
    try {
      await writeDraft(draft, upload);
      if (!(await placeExclusively(draft, this.placeOf(key)))) return { code: "exists" };
    } finally {
      await rm(draft, { force: true });
    }
    const { size, mtimeNs } = await stat(this.placeOf(key), { bigint: true });
    await this.#writeNote(key, { size: String(size), mtime_ns: String(mtimeNs), sha256 });
    return { code: "stored", versionId: sha256, etag: sha256 };
  }

  /** A new file of this process's own, beside the objects so that it can be linked to its place. */
  async #newDraft(): Promise<string> {
    await makeFolders(this.#folders.uploads);
    // What cannot be removed is clutter, and no reason to refuse an upload.
    this.#prepared ??= removeAbandoned(this.#folders.uploads).catch(() => undefined);
    await this.#prepared;
    return join(this.#folders.uploads, randomUUID());
  }

  /** Null where there is no object. Where the folder of all objects is gone, such as a volume, nothing is known. */
  async #openObject(key: string): Promise<FileHandle | null> {
    const folder = this.folderOf(key);
    return (await openRegular(folder, this.placeOf(key))) ?? stat(folder).then(() => null);
  }

  async #digestAnew(key: string, file: FileHandle, stats: BigIntStats): Promise<string> {
    const sha256 = await this.#digestOf(identityOf(stats), file);
    await this.#writeNote(key, { size: String(stats.size), mtime_ns: String(stats.mtimeNs), sha256 });
    return sha256;
  }

  async #digestOf(identity: string, file: FileHandle): Promise<string> {
    const reading = this.#reading.get(identity) ?? digestOf(file);
    this.#reading.set(identity, reading);
    try {
      const sha256 = await reading;
      this.#verified.set(identity, sha256);
      return sha256;
    } finally {
      this.#reading.delete(identity);
    }
  }

  /** Without a note the file is read again: that one cannot be written is no reason to fail. */
  async #writeNote(key: string, content: z.infer<typeof note>): Promise<void> {
    try {
      const draft = await this.#newDraft();
      try {
        await writeFile(draft, JSON.stringify(content), { flag: "wx", mode: 0o600 });
        await makeFolders(dirname(this.#noteOf(key)));
        await rename(draft, this.#noteOf(key));
      } finally {
        await rm(draft, { force: true });
      }
    } catch {
      // In a folder of another user not even what is not there can be removed.
    }
  }

  /** Removes the object if it still is of this version. */
  async removeVersion(key: string, versionId: string): Promise<void> {
    const facts = await this.factsOf(key);
    if (facts?.sha256 !== versionId) return;
    // First, because only bytes are looked for again after a kill. Whoever reads them meanwhile notes them anew.
    await this.#removeNote(key);
    await removeFile(this.folderOf(key), this.placeOf(key));
    await this.#removeNote(key);
  }

  /** One of another user can't be removed either, and is no reason to keep the bytes. */
  async #removeNote(key: string): Promise<void> {
    await removeFile(this.#folders.digests, this.#noteOf(key)).catch(() => undefined);
  }

  #noteOf(key: string): string {
    return join(this.#folders.digests, `${key}.json`);
  }
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
  } catch {
    // A crash may leave half a note, and a command run by another user one that can't be read: as good as none.
    return null;
  }
}

/** The change time is among them, because unlike the others it can't be set. */
function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
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
