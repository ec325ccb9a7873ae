/** Files of an archive on their way: written deflated, with all that a ZIP says of them, and synced. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw, createInflateRaw } from "node:zlib";
import { z } from "zod";
import { ARCHIVE_CEILINGS } from "../rules/validate-archive.ts";
import { integer, sha256, sizeBytes, uuid } from "../rules/values.ts";

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
/** Deflated this much, a file is stored as it is: an archive with a higher ratio than the ceiling is refused. */
const HIGHEST_RATIO = ARCHIVE_CEILINGS.entry_ratio / 2;

export type PartFile = {
  /** Bytes written so far, before deflating. */
  size(): number;
  /** Resolves when more can be taken. */
  write(bytes: Buffer): Promise<void>;
  /** Ends the file and syncs it. */
  finish(): Promise<StagedFile>;
  /** Gives up; what was written goes. */
  discard(): Promise<void>;
};

/** Opens a new file at `place`, which nobody else may use. */
export function openPartFile(place: string, { id, path }: Pick<StagedFile, "id" | "path">): PartFile {
  const hash = createHash("sha256");
  const deflate = createDeflateRaw({ level: LEVEL });
  const written = pipeline(deflate, createWriteStream(place, { flags: "wx", mode: 0o600, flush: true }));
  // Whoever waits next is told.
  written.catch(() => undefined);
  let size = 0;
  let crc = 0;
  return {
    size: () => size,
    async write(bytes) {
      size += bytes.length;
      crc = crc32(bytes, crc);
      hash.update(bytes);
      if (!deflate.write(bytes)) await Promise.race([once(deflate, "drain"), written]);
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

async function storeInstead(place: string): Promise<void> {
  const draft = `${place}.stored`;
  await pipeline(
    createReadStream(place),
    createInflateRaw(),
    createWriteStream(draft, { mode: 0o600, flush: true }),
  );
  await rename(draft, place);
}
