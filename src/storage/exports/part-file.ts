/** Files of an archive on their way: written deflated, with all that a ZIP says of them, and synced. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw, createInflateRaw } from "node:zlib";
import * as z from "zod";
import { endOfFailed, together } from "../../shared/ending.ts";
import { ARCHIVE_CEILINGS } from "../rules/validate-archive.ts";
import { integer, sha256, sizeBytes, uuid } from "../rules/values.ts";
import type { LogRow } from "./log-row.ts";

/** What is known of a staged file; the file itself is named by `id`. Sizes in bytes. */
export const stagedFile = z.strictObject({
  id: uuid,
  /** In the archive. */
  path: z.string(),
  size: sizeBytes,
  sha256,
  crc32: integer(0, 0xffff_ffff),
  method: z.union([z.literal(0), z.literal(8)]),
  compressed_size: sizeBytes,
});
export type StagedFile = z.infer<typeof stagedFile>;

// Of the levels, the one from which on more time buys little on a log.
const LEVEL = 4;
const ENCODE_BYTES = 64 * 1024;
const encoder = new TextEncoder();
/** Deflated this much, a file is stored as it is: an archive with a higher ratio than the ceiling is refused. */
const HIGHEST_RATIO = ARCHIVE_CEILINGS.entry_ratio / 2;

export type PartFile = {
  /** Bytes written so far, before deflating. */
  size(): number;
  /** Resolves when the bytes were taken: their memory may be used again. */
  write(bytes: Uint8Array): Promise<void>;
  /** The same for text of any length, in UTF-8. */
  writeText(text: string): Promise<void>;
  /** Ends the file and syncs it. */
  finish(): Promise<StagedFile>;
  /** Gives up; what was written goes. */
  discard(): Promise<void>;
};

/** A file that rows of the log go into. */
export type LogFile = Pick<PartFile, "size" | "finish" | "discard"> & {
  /** Resolves when more can be taken. */
  add(rows: readonly LogRow[]): Promise<void>;
};

/** Opens a new file at `place`, for exclusive use. */
export function openPartFile(place: string, { id, path }: Pick<StagedFile, "id" | "path">): PartFile {
  const hash = createHash("sha256");
  const deflate = createDeflateRaw({ level: LEVEL });
  const written = pipeline(deflate, createWriteStream(place, { flags: "wx", mode: 0o600, flush: true }));
  let waiting: PromiseWithResolvers<void> | null = null;
  // A write that waits for room ends with the stream, which says nothing of it. Without one the next waiter gets the error.
  written.catch((error: unknown) => waiting?.reject(error));
  const scratch = new Uint8Array(ENCODE_BYTES);
  let size = 0;
  let crc = 0;

  async function write(bytes: Uint8Array): Promise<void> {
    size += bytes.length;
    crc = crc32(bytes, crc);
    hash.update(bytes);
    const taken = (waiting = Promise.withResolvers<void>());
    deflate.write(bytes, (error) => (error ? taken.reject(error) : taken.resolve()));
    try {
      await taken.promise;
    } catch (error) {
      // What the disk said, where it said something.
      await written;
      throw error;
    }
  }

  return {
    size: () => size,
    write,
    async writeText(text) {
      // In one buffer: a new one for each page would be given back late on a busy machine.
      for (let rest = text; rest !== "";) {
        const encoded = encoder.encodeInto(rest, scratch);
        await write(scratch.subarray(0, encoded.written));
        rest = rest.slice(encoded.read);
      }
    },
    async finish() {
      deflate.end();
      await written;
      const { size: deflated } = await stat(place);
      const isStored = size > HIGHEST_RATIO * deflated;
      if (isStored) await storeInstead(place);
      return {
        id,
        path,
        size,
        sha256: hash.digest("hex"),
        crc32: crc,
        method: isStored ? 0 : 8,
        compressed_size: isStored ? size : deflated,
      };
    },
    async discard() {
      deflate.destroy();
      await written.catch(() => undefined);
      await rm(place, { force: true });
    },
  };
}

/** Writes and ends the files. What fails midway leaves no half file, or leaves it to the end of the whole folder. */
export async function writeFiles(
  files: readonly Pick<PartFile, "finish" | "discard">[],
  write: () => Promise<void>,
): Promise<StagedFile[]> {
  try {
    await write();
    const finished: StagedFile[] = [];
    for (const file of files) finished.push(await file.finish());
    return finished;
  } catch (error) {
    const discard = () => together(files, (file) => file.discard());
    return endOfFailed(error, discard, () => undefined);
  }
}

async function storeInstead(place: string): Promise<void> {
  const draft = `${place}.stored`;
  try {
    await pipeline(
      createReadStream(place),
      createInflateRaw(),
      createWriteStream(draft, { mode: 0o600, flush: true }),
    );
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
