/** The end of a ZIP file, read without trusting it: where the directory is, and the bytes around the archive. */
import type { FileHandle } from "node:fs/promises";
import type { ValidateArchiveInput } from "../rules/validate-archive.ts";

const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const ZIP64_END_BYTES = 56;
const LONGEST_COMMENT = 65_535;

export type ZipEnds = {
  container: ValidateArchiveInput["container"];
  /** Bytes from the first record of the directory to its last. */
  directoryBytes: number;
};

/** Null where no end of an archive is found. Values of ZIP64 are taken where the file has them. */
export async function readZipEnds(file: FileHandle, fileSize: number): Promise<ZipEnds | null> {
  const tail = await readAt(file, Math.max(0, fileSize - END_BYTES - LONGEST_COMMENT), fileSize);
  const end = tail.bytes.lastIndexOf("PK\u0005\u0006", tail.bytes.length - END_BYTES, "latin1");
  if (end === -1) return null;
  const record = tail.bytes.subarray(end);
  const endOffset = tail.start + end;
  const commentBytes = record.readUInt16LE(20);
  const zip64 = await readZip64(file, endOffset);
  const directory = zip64 ?? {
    disks: 1 + Math.max(record.readUInt16LE(4), record.readUInt16LE(6)) + elsewhere(record),
    size: record.readUInt32LE(12),
    offset: record.readUInt32LE(16),
    endsAt: endOffset,
  };
  const startsAt = directory.endsAt - directory.size;
  return {
    container: {
      // A directory that is not where the file says was moved by something before the archive.
      prefix_bytes: Math.abs(startsAt - directory.offset),
      // A comment that is longer than the file is as foul as bytes behind it.
      trailing_bytes: Math.abs(fileSize - endOffset - END_BYTES - commentBytes),
      comment_bytes: commentBytes,
      disks: Math.min(directory.disks, LONGEST_COMMENT),
      directory_offset: directory.offset,
    },
    directoryBytes: directory.size,
  };
}

/** Records that are not on this disk. */
function elsewhere(record: Buffer): number {
  return Math.abs(record.readUInt16LE(10) - record.readUInt16LE(8));
}

async function readZip64(file: FileHandle, endOffset: number) {
  if (endOffset < LOCATOR_BYTES + ZIP64_END_BYTES) return null;
  const locatorOffset = endOffset - LOCATOR_BYTES;
  const locator = await readAt(file, locatorOffset, endOffset);
  if (locator.bytes.readUInt32LE(0) !== 0x0706_4b50) return null;
  const at = Number(locator.bytes.readBigUInt64LE(8));
  if (at + ZIP64_END_BYTES > locatorOffset) return null;
  const { bytes } = await readAt(file, at, at + ZIP64_END_BYTES);
  if (bytes.readUInt32LE(0) !== 0x0606_4b50) return null;
  return {
    disks: Math.max(bytes.readUInt32LE(16) + 1, locator.bytes.readUInt32LE(16)),
    size: Number(bytes.readBigUInt64LE(40)),
    offset: Number(bytes.readBigUInt64LE(48)),
    endsAt: at,
  };
}

async function readAt(file: FileHandle, start: number, end: number) {
  const bytes = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
  return { start, bytes: bytes.subarray(0, bytesRead) };
}
