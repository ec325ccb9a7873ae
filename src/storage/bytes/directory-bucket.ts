/**
 * A bucket that is a folder: what a service without an object store keeps its artifacts in.
 *
 *     objects/<key>         the bytes, and nothing else: this is what is listed
 *     digests/<key>.json    size, time and SHA-256 of those bytes
 *     uploads/<random>      bytes on their way
 *     postern/…             the owner mark and the trash (own-keys.ts)
 *
 * An object is written and synced under `uploads`, then linked to its place, so
 * it is there whole or not at all, and a second upload of a key finds the place
 * taken. The version is the SHA-256, so one key and version can only ever be the
 * same bytes. A digest is a note: where it is absent, or its size or time is not
 * the file's, the file is read again. So a crash between the two, or a restored
 * backup without notes, loses nothing.
 */
import { lstat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { parseObjectKey } from "../rules/object-key.ts";
import type { ListedObject } from "../rules/reconcile-types.ts";
import type { SignedUrlEndpoint } from "../rules/signed-url.ts";
import { MAX_OBJECT_BYTES } from "../rules/values.ts";
import { requireBucket, StoreUnavailableError, type Bucket, type StoredVersion } from "./bucket.ts";
import { statOrClose } from "./directory-files.ts";
import { beginWalk, isAbsent, walkKeys, type KeyWalk } from "./directory-listing.ts";
import type { LinkSigner } from "./file-links.ts";
import { contentTypeOf, isOwnKey } from "./own-keys.ts";
import { StoredFiles, type FileFacts } from "./stored-files.ts";

/** The name in rows and links, where there is one folder for the service. */
export const DIRECTORY_BUCKET = "artifacts";

const LONGEST_KEY = 1024;
/** Well below the quarter of an hour for which comparing leaves alone what is new and may be absent from a walk. */
const WALK_LIMIT_MS = 300_000;

/** Of the folder of a shard, or of the only database. */
export function directoryBucketName(shard: string | undefined): string {
  return shard === undefined ? DIRECTORY_BUCKET : `${DIRECTORY_BUCKET}-${shard}`;
}

/** Touches nothing until it is used. */
export function makeDirectoryBucket(options: {
  /** Its folder, made where absent; no one else may write in it. */
  root: string;
  name?: string;
  signer: LinkSigner;
  /** Where the API serves the files; asked for at each link, since the port may be known late. */
  endpoint: () => SignedUrlEndpoint;
}): Bucket {
  const { name = DIRECTORY_BUCKET } = options;
  const files = new StoredFiles(options.root);
  const pages = new ObjectPages(files);

  return {
    name,
    endpoint: options.endpoint,
    credentialExpiresAt: async () => null,
    async put(upload) {
      contentTypeOf(upload.key);
      return orUnavailable(() => files.putFile(upload));
    },
    async head({ bucket, key, version_id }) {
      requireBucket({ name }, bucket);
      const contentType = contentTypeOf(key);
      const facts = await orUnavailable(() => files.factsOf(key));
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
    list: (page) => orUnavailable(() => pages.read(page)),
    versions: (prefix) => currentVersions(files, prefix),
    async get({ key, versionId, range }) {
      contentTypeOf(key);
      return orUnavailable(async () => {
        const file = await files.openVersion(key, versionId);
        if (file === null) return { found: false };
        const { size } = await statOrClose(file);
        const body: Readable = file.createReadStream({ start: 0, ...range });
        return { found: true, size, body };
      });
    },
    async deleteVersion({ key, versionId }) {
      contentTypeOf(key);
      await orUnavailable(() => files.removeVersion(key, versionId));
    },
    signGet: async (request) => ({ url: options.signer.sign(options.endpoint(), request) }),
    readConfig: async () => null,
    close: () => undefined,
  };
}

/** The keys of all objects, page by page. */
class ObjectPages {
  readonly #files: StoredFiles;
  /** Where the last page ended. */
  #resting: KeyWalk | null = null;

  constructor(files: StoredFiles) {
    this.#files = files;
  }

  async read({ after, limit, prefix }: Parameters<Bucket["list"]>[0]): ReturnType<Bucket["list"]> {
    const walk =
      prefix === undefined
        ? this.#takeWalk(after)
        : beginWalk(this.#files.folderOf(prefix), { after, prefix });
    const objects: ListedObject[] = [];
    while (objects.length < limit) {
      const key = await walk.next();
      if (key === null) return { objects, isTruncated: false };
      const object = key.length > LONGEST_KEY ? null : await this.#listed(key);
      if (object !== null) objects.push(object);
    }
    const isTruncated = await walk.hasMore();
    if (isTruncated && prefix === undefined) this.#resting = walk;
    return { objects, isTruncated };
  }

  /** Continues the walk of the page before, if this is the next page. */
  #takeWalk(after: string | null): KeyWalk {
    const walk = this.#resting;
    this.#resting = null;
    const isNext =
      walk !== null && walk.after === after && performance.now() - walk.beganAtMs < WALK_LIMIT_MS;
    return isNext ? walk : beginWalk(this.#files.folderOf(""), { after, prefix: "" });
  }

  async #listed(key: string): Promise<ListedObject | null> {
    // A planted file is told of and not read.
    const isOurs = isArtifactKey(key) || isOwnKey(key);
    const facts = isOurs ? await this.#files.factsOf(key) : await foreignFacts(this.#files.placeOf(key));
    if (facts === null) return null;
    const size = Math.min(facts.size, MAX_OBJECT_BYTES);
    return { key, size, etag: facts.sha256, last_modified: facts.lastModified };
  }
}

async function foreignFacts(path: string): Promise<FileFacts | null> {
  try {
    const { size, mtime } = await lstat(path);
    return { size, sha256: "foreign", lastModified: mtime.toISOString() };
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** A folder keeps one version of each key, and no mark of a deletion. */
async function* currentVersions(files: StoredFiles, prefix: string): AsyncGenerator<StoredVersion> {
  for await (const key of walkKeys(files.folderOf(prefix), { after: null, prefix })) {
    const facts = isArtifactKey(key) ? await orUnavailable(() => files.factsOf(key)) : null;
    if (facts !== null) yield { key, versionId: facts.sha256 };
  }
}

function isArtifactKey(key: string): boolean {
  return parseObjectKey(key).code === "OK";
}

/** A fault of the file system (full, unreadable, gone) says nothing about the object. */
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
