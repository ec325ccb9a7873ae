/**
 * The records of a ZIP file (APPNOTE 6.3.10), for entries whose size and CRC
 * are known before they are written: no data descriptors. An entry is under
 * 4 GiB; the archive may be larger, and then says so in ZIP64 records.
 */
export type ZipEntry = {
  /** ASCII. */
  path: string;
  /** 0 stored, 8 deflated. */
  method: 0 | 8;
  crc32: number;
  compressedSize: number;
  size: number;
};

export type PlacedZipEntry = ZipEntry & { offset: number };

const LIMIT_32 = 0xffff_ffff;
const LIMIT_16 = 0xffff;
const VERSION = 20;
const VERSION_ZIP64 = 45;
const MADE_ON_UNIX = 3 << 8;
const REGULAR_FILE = 0o100644 * 0x1_0000;
const ZIP64_EXTRA = 0x0001;

/** Of every entry, as the two 16-bit fields that ZIP has; UTC, whole two seconds. */
export type DosTime = { time: number; date: number };

export function dosTime(at: Date): DosTime {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return { time, date };
}

/** The header before the entry's data. */
export function localHeader(entry: ZipEntry, at: DosTime): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(0, 6);
  writeCommon(header, 8, entry, at);
  header.writeUInt16LE(0, 28);
  return Buffer.concat([header, Buffer.from(entry.path, "ascii")]);
}

/** The entry in the central directory. */
export function centralRecord(entry: PlacedZipEntry, at: DosTime): Buffer {
  const isFar = entry.offset >= LIMIT_32;
  const extra = isFar ? zip64Offset(entry.offset) : Buffer.alloc(0);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x0201_4b50, 0);
  record.writeUInt16LE(MADE_ON_UNIX | (isFar ? VERSION_ZIP64 : VERSION), 4);
  record.writeUInt16LE(isFar ? VERSION_ZIP64 : VERSION, 6);
  record.writeUInt16LE(0, 8);
  writeCommon(record, 10, entry, at);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(REGULAR_FILE, 38);
  record.writeUInt32LE(Math.min(entry.offset, LIMIT_32), 42);
  return Buffer.concat([record, Buffer.from(entry.path, "ascii"), extra]);
}

/** What ends the archive. */
export function endRecords(directory: { offset: number; size: number; entries: number }): Buffer {
  const { offset, size, entries } = directory;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 8);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 10);
  end.writeUInt32LE(Math.min(size, LIMIT_32), 12);
  end.writeUInt32LE(Math.min(offset, LIMIT_32), 16);
  const isLarge = entries >= LIMIT_16 || size >= LIMIT_32 || offset >= LIMIT_32;
  return isLarge ? Buffer.concat([zip64End(directory), end]) : end;
}

/** Method, time, CRC, sizes and the length of the name: the same in both headers. */
function writeCommon(target: Buffer, start: number, entry: ZipEntry, { time, date }: DosTime): void {
  if (entry.size >= LIMIT_32 || entry.compressedSize >= LIMIT_32) {
    throw new RangeError("an entry of 4 GiB would need a header that this writer does not make");
  }
  target.writeUInt16LE(entry.method, start);
  target.writeUInt16LE(time, start + 2);
  target.writeUInt16LE(date, start + 4);
  target.writeUInt32LE(entry.crc32, start + 6);
  target.writeUInt32LE(entry.compressedSize, start + 10);
  target.writeUInt32LE(entry.size, start + 14);
  target.writeUInt16LE(entry.path.length, start + 18);
}

function zip64Offset(offset: number): Buffer {
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(ZIP64_EXTRA, 0);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(BigInt(offset), 4);
  return extra;
}

function zip64End({ offset, size, entries }: Parameters<typeof endRecords>[0]): Buffer {
  const records = Buffer.alloc(56 + 20);
  records.writeUInt32LE(0x0606_4b50, 0);
  records.writeBigUInt64LE(44n, 4);
  records.writeUInt16LE(MADE_ON_UNIX | VERSION_ZIP64, 12);
  records.writeUInt16LE(VERSION_ZIP64, 14);
  records.writeBigUInt64LE(BigInt(entries), 24);
  records.writeBigUInt64LE(BigInt(entries), 32);
  records.writeBigUInt64LE(BigInt(size), 40);
  records.writeBigUInt64LE(BigInt(offset), 48);
  records.writeUInt32LE(0x0706_4b50, 56);
  records.writeBigUInt64LE(BigInt(offset + size), 64);
  records.writeUInt32LE(1, 72);
  return records;
}
