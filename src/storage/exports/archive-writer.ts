/** From staged files to a ZIP: their bytes are copied as they are, so the same files always make the same archive. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { StagedFile } from "./part-file.ts";
import { centralRecord, dosTime, endRecords, localHeader } from "./zip-format.ts";

export type WrittenArchive = { size: number; sha256: string };

const COPY_BYTES = 256 * 1024;

/**
 * Writes the archive and syncs it.
 *
 * @param place a file that is not there yet.
 * @param options `placeOf` says where a staged file lies; `modifiedAt` is told of each entry.
 */
export async function writeArchive(
  place: string,
  files: readonly StagedFile[],
  options: { placeOf: (file: StagedFile) => string; modifiedAt: Date; signal: AbortSignal },
): Promise<WrittenArchive> {
  const { placeOf, modifiedAt, signal } = options;
  const archive = await open(place, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let size = 0;
    const write = async (bytes: Buffer): Promise<void> => {
      signal.throwIfAborted();
      size += bytes.length;
      hash.update(bytes);
      await archive.writeFile(bytes);
    };
    const at = dosTime(modifiedAt);
    const directory: Buffer[] = [];
    for (const file of files) {
      const { path, method, compressed_size: compressedSize } = file;
      const entry = { path, method, size: file.size, compressedSize, crc32: file.crc32, offset: size };
      directory.push(centralRecord(entry, at));
      await write(localHeader(entry, at));
      await copyFile(placeOf(file), write);
    }
    const offset = size;
    const records = Buffer.concat(directory);
    await write(records);
    await write(endRecords({ offset, size: records.length, entries: files.length }));
    await archive.sync();
    return { size, sha256: hash.digest("hex") };
  } finally {
    await archive.close();
  }
}

/** In one buffer, for the memory of streams is given back late. */
async function copyFile(place: string, write: (bytes: Buffer) => Promise<void>): Promise<void> {
  const source = await open(place, "r");
  try {
    const buffer = Buffer.allocUnsafe(COPY_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return;
      await write(buffer.subarray(0, bytesRead));
    }
  } finally {
    await source.close();
  }
}
