/** ZIP files made byte by byte, right or wrong in one way. */
import { createHash } from "node:crypto";
import { crc32, deflateRawSync } from "node:zlib";
import type { StagedFile } from "../../src/storage/exports/part-file.ts";
import {
  centralRecord,
  dosTime,
  endRecords,
  localHeader,
  type ZipEntry,
} from "../../src/storage/exports/zip-format.ts";

/** Of each entry. */
export const ARCHIVED_AT = dosTime(new Date("2026-03-01T12:00:00Z"));

export type GivenEntry = {
  path?: string;
  content?: Buffer;
  method?: 0 | 8;
  /** Changes the finished headers, the claims of the archive. */
  local?: (header: Buffer) => Buffer;
  central?: (record: Buffer) => Buffer;
  /** Follows the data. */
  behind?: Buffer;
};

export type BuiltArchive = { bytes: Buffer; files: StagedFile[] };

export function buildArchive(entries: readonly GivenEntry[], end = (record: Buffer) => record): BuiltArchive {
  const [local, central, files]: [Buffer[], Buffer[], StagedFile[]] = [[], [], []];
  let offset = 0;
  for (const [index, given] of entries.entries()) {
    const { path = `file-${index}.txt`, content = Buffer.from(`content ${index}`), method = 8 } = given;
    const data = method === 0 ? content : deflateRawSync(content);
    const facts = { method, crc32: crc32(content), size: content.length };
    const entry: ZipEntry = { path, ...facts, compressedSize: data.length };
    const header = (given.local ?? same)(localHeader(entry, ARCHIVED_AT));
    central.push((given.central ?? same)(centralRecord({ ...entry, offset }, ARCHIVED_AT)));
    local.push(header, data, given.behind ?? Buffer.alloc(0));
    offset += header.length + data.length + (given.behind?.length ?? 0);
    const sha256 = createHash("sha256").update(content).digest("hex");
    files.push({ id: archivedFileId(index), path, sha256, compressed_size: data.length, ...facts });
  }
  const directory = Buffer.concat(central);
  const ends = endRecords({ offset, size: directory.length, entries: central.length });
  return { bytes: Buffer.concat([...local, directory, end(ends)]), files };
}

const same = (bytes: Buffer): Buffer => bytes;

function archivedFileId(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, "0")}`;
}

/** Both headers, with a 16- or 32-bit field set. */
export function setField(
  bits: 16 | 32,
  localAt: number | null,
  centralAt: number,
  value: number,
): GivenEntry {
  const set = (at: number) => (header: Buffer) => {
    if (bits === 16) header.writeUInt16LE(value, at);
    else header.writeUInt32LE(value, at);
    return header;
  };
  return { central: set(centralAt), ...(localAt === null ? {} : { local: set(localAt) }) };
}
