/**
 * Reads a ZIP as `validate_archive` judges it: both headers of each entry, and
 * its bytes, counted and hashed while they are inflated. Nothing that a header
 * claims is believed: inflating stops where the claim or a ceiling ends.
 */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { openPromise, type Entry, type LocalFileHeader, type ZipFile } from "yauzl";
import type { ArchiveEntry } from "../rules/archive-entry.ts";
import { ARCHIVE_CEILINGS, type CeilingName, type ValidateArchiveInput } from "../rules/validate-archive.ts";
import { readZipEnds, type ZipEnds } from "./zip-ends.ts";
import { messageOf } from "../../shared/message-of.ts";

export type InspectedArchive =
  | ({ code: "READ" } & Pick<ValidateArchiveInput, "container" | "entries">)
  /** Its records are broken, or entries inflate to more than they claim: no rule need be asked. */
  | { code: "UNREADABLE"; reason: string };

type Ceilings = Readonly<Record<CeilingName, number>>;

const UNKNOWN_SHA256 = "0".repeat(64);
const UNICODE_PATH_EXTRA = 0x7075;
const FILE_TYPE_BITS = 0o170000;
const UNIX = 3;

/** Reads the archive at `place`; throws only where the file itself cannot be read. */
export async function inspectArchive(
  place: string,
  options: { ceilings?: Ceilings; signal?: AbortSignal } = {},
): Promise<InspectedArchive> {
  const { ceilings = ARCHIVE_CEILINGS, signal } = options;
  const file = await open(place, "r");
  try {
    const { size } = await file.stat();
    const ends = await readZipEnds(file, size);
    if (ends === null) return { code: "UNREADABLE", reason: "no end of an archive" };
    const { container } = ends;
    const isPlain = container.prefix_bytes + container.trailing_bytes + container.comment_bytes === 0;
    // The container is refused anyway, and readers differ in where they would look for its entries.
    if (!isPlain || container.disks !== 1) return { code: "READ", container, entries: [] };
    const entries = await readEntries(place, ends, { ceilings, signal });
    return { code: "READ", container, entries };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && "syscall" in error) throw error;
    return { code: "UNREADABLE", reason: messageOf(error) };
  } finally {
    await file.close();
  }
}

type Limits = { ceilings: Ceilings; signal: AbortSignal | undefined };

async function readEntries(
  place: string,
  { directoryBytes }: ZipEnds,
  limits: Limits,
): Promise<ArchiveEntry[]> {
  // Its own checks end the reading at the first fault; here each is a finding.
  const zip = await openPromise(place, { decodeStrings: false, validateEntrySizes: false, autoClose: false });
  try {
    const entries: ArchiveEntry[] = [];
    const claims: Entry[] = [];
    for await (const entry of zip.eachEntry()) {
      // One too many is proof enough.
      if (claims.push(entry) > limits.ceilings.entries) break;
    }
    const isWhole = claims.reduce((sum, claim) => sum + recordBytes(claim), 0) === directoryBytes;
    // Readers that count and readers that measure would see other entries.
    if (!isWhole && claims.length <= limits.ceilings.entries)
      throw new Error("more in the directory than entries");
    const total = claims.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    const isWithin = claims.length <= limits.ceilings.entries && total <= limits.ceilings.total_bytes;
    for (const claim of claims) {
      limits.signal?.throwIfAborted();
      entries.push(await readEntry({ zip, claim }, isWithin ? limits : null));
    }
    return entries;
  } finally {
    zip.close();
  }
}

/** Of the entry in the directory. */
function recordBytes({ fileNameLength, extraFieldLength, fileCommentLength }: Entry): number {
  return 46 + fileNameLength + extraFieldLength + fileCommentLength;
}

/** @param limits null where the archive as a whole claims too much: then nothing of it is inflated. */
async function readEntry(
  { zip, claim }: { zip: ZipFile; claim: Entry },
  limits: Limits | null,
): Promise<ArchiveEntry> {
  const { fileNameRaw, uncompressedSize: size, compressedSize, relativeOffsetOfLocalHeader: offset } = claim;
  const local = await readLocal(zip, claim);
  const content =
    limits !== null && local !== null && mayInflate(claim, limits.ceilings)
      ? await inflate(zip, claim, limits)
      : null;
  const path = fileNameRaw.toString("utf8");
  return {
    path,
    type: typeOf(claim, path),
    encrypted: claim.isEncrypted(),
    data_descriptor: ((claim.generalPurposeBitFlag | (local?.generalPurposeBitFlag ?? 0)) & 0x08) !== 0,
    local_name_equal: local !== null && local.fileName.equals(fileNameRaw) && !hasSecondName(claim, local),
    local_sizes_equal: local !== null && isSameFile(claim, local) && content?.isAsClaimed !== false,
    method: Math.min(claim.compressionMethod, 99),
    compressed_size: compressedSize,
    size,
    crc32: claim.crc32.toString(16).padStart(8, "0"),
    sha256: content?.sha256 ?? UNKNOWN_SHA256,
    local_offset: offset,
    local_length: (local === null ? 30 : local.fileDataStart - offset) + compressedSize,
  };
}

/** Null where there is no header at the place that the directory names. */
async function readLocal(zip: ZipFile, claim: Entry): Promise<LocalFileHeader | null> {
  try {
    return await zip.readLocalFileHeaderPromise(claim);
  } catch {
    return null;
  }
}

function mayInflate(claim: Entry, ceilings: Ceilings): boolean {
  const { compressionMethod: method, uncompressedSize: size, compressedSize } = claim;
  const isReadable = method === 8 || (method === 0 && size === compressedSize);
  const isSmall = size <= ceilings.entry_bytes && size <= ceilings.entry_ratio * compressedSize;
  return isReadable && isSmall && !claim.isEncrypted();
}

async function inflate(zip: ZipFile, claim: Entry, { signal }: Limits) {
  const isDeflated = claim.compressionMethod === 8;
  const raw = await zip.openReadStreamPromise(claim, { decodeFileData: false });
  const stream = isDeflated ? inflating(raw) : raw;
  const hash = createHash("sha256");
  let size = 0;
  let crc = 0;
  try {
    const chunks: AsyncIterable<Buffer> = stream;
    for await (const chunk of chunks) {
      signal?.throwIfAborted();
      size += chunk.length;
      if (size > claim.uncompressedSize) break;
      crc = crc32(chunk, crc);
      hash.update(chunk);
    }
  } finally {
    raw.destroy();
    stream.destroy();
  }
  return { sha256: hash.digest("hex"), isAsClaimed: size === claim.uncompressedSize && crc === claim.crc32 };
}

/**
 * In small chunks: memory outside the heap is only given back when the heap is
 * tidied, which few large chunks make rare.
 */
function inflating(raw: Readable): Readable {
  const inflate = createInflateRaw({ chunkSize: 4096 });
  raw.on("error", (error) => inflate.destroy(error));
  return raw.pipe(inflate);
}

function isSameFile(claim: Entry, local: LocalFileHeader): boolean {
  return (
    claim.compressionMethod === local.compressionMethod &&
    claim.generalPurposeBitFlag === local.generalPurposeBitFlag &&
    claim.crc32 === local.crc32 &&
    claim.compressedSize === local.compressedSize &&
    claim.uncompressedSize === local.uncompressedSize
  );
}

/** Some readers take this field for the name, others do not. */
function hasSecondName(claim: Entry, local: LocalFileHeader): boolean {
  const mark = Buffer.from([UNICODE_PATH_EXTRA & 0xff, UNICODE_PATH_EXTRA >> 8]);
  return claim.extraFields.some(({ id }) => id === UNICODE_PATH_EXTRA) || local.extraField.includes(mark);
}

function typeOf(claim: Entry, path: string): ArchiveEntry["type"] {
  const mode = claim.versionMadeBy >> 8 === UNIX ? (claim.externalFileAttributes >>> 16) & FILE_TYPE_BITS : 0;
  if (mode === 0o120000) return "symlink";
  if (mode === 0o040000 || path.endsWith("/")) return "directory";
  return mode === 0 || mode === 0o100000 ? "file" : "other";
}
