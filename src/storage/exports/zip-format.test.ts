/** The bytes of a ZIP's records, field by field, up to where ZIP64 begins. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { centralRecord, dosTime, endRecords, localHeader, type ZipEntry } from "./zip-format.ts";

const AT = dosTime(new Date("2026-03-09T12:34:57.999Z"));
const ENTRY: ZipEntry = { path: "a/b", method: 8, crc32: 0x0102_0304, compressedSize: 0x1122, size: 0x3344 };
const LIMIT_32 = 0xffff_ffff;

/** Hexadecimal digits, however they are spaced. */
const hex = (...fields: string[]): string => fields.join("").replaceAll(" ", "");
const SIZES = "04030201 22110000 44330000";

describe("the time of a ZIP's entries", () => {
  it("is that of UTC in two numbers of 16 bits, down to two seconds", () => {
    assert.deepEqual(AT, { time: (12 << 11) | (34 << 5) | 28, date: (46 << 9) | (3 << 5) | 9 });
    assert.deepEqual(dosTime(new Date("1980-12-31T23:59:58Z")), { time: 0xbf7d, date: 0x019f });
  });
});

describe("an entry's records", () => {
  it("say its name, method, time, checksum and sizes, the same twice", () => {
    assert.equal(
      localHeader(ENTRY, AT).toString("hex"),
      hex("504b0304 1400 0000 0800 5c64 695c", SIZES, "0300 0000", "612f62"),
    );
    const behind = "0300 0000 0000 0000 0000 0000a481 15cd5b07 612f62";
    assert.equal(
      centralRecord({ ...ENTRY, offset: 123_456_789 }, AT).toString("hex"),
      hex("504b0102 1403 1400 0000 0800 5c64 695c", SIZES, behind),
    );
    assert.equal(localHeader({ ...ENTRY, method: 0 }, AT).readUInt16LE(8), 0);
  });

  it("have room for the offset in 32 bits up to 4 GiB, and a field of ZIP64 from there on", () => {
    const near = centralRecord({ ...ENTRY, offset: LIMIT_32 - 1 }, AT);
    assert.equal(near.length, 49);
    assert.equal(near.readUInt32LE(42), LIMIT_32 - 1);
    const far = (offset: number) => {
      const record = centralRecord({ ...ENTRY, offset }, AT);
      return [record.subarray(4, 8), record.subarray(30, 34), record.subarray(42)].map((part) =>
        part.toString("hex"),
      );
    };
    assert.deepEqual(far(LIMIT_32), [
      "2d032d00",
      "0c000000",
      hex("ffffffff 612f62 0100 0800 ffffffff00000000"),
    ]);
    assert.deepEqual(far(LIMIT_32 + 2), [
      "2d032d00",
      "0c000000",
      hex("ffffffff 612f62 0100 0800 0100000001000000"),
    ]);
  });

  it("are not made of an entry of 4 GiB, however it deflates", () => {
    for (const size of [LIMIT_32, LIMIT_32 + 1]) {
      for (const large of [{ size }, { compressedSize: size }]) {
        assert.throws(() => localHeader({ ...ENTRY, ...large }, AT), RangeError);
        assert.throws(() => centralRecord({ ...ENTRY, ...large, offset: 0 }, AT), RangeError);
      }
    }
    const largest = localHeader({ ...ENTRY, size: LIMIT_32 - 1, compressedSize: LIMIT_32 - 1 }, AT);
    assert.equal(largest.subarray(18, 26).toString("hex"), "fefffffffeffffff");
  });
});

describe("the end of a ZIP", () => {
  const END = "504b0506 0000 0000";

  it("says how many entries there are, and where their directory is", () => {
    assert.equal(
      endRecords({ offset: 0x0102, size: 0x0304, entries: 5 }).toString("hex"),
      hex(END, "0500 0500 04030000 02010000 0000"),
    );
    const largest = { offset: LIMIT_32 - 1, size: LIMIT_32 - 1, entries: 0xfffe };
    assert.equal(endRecords(largest).toString("hex"), hex(END, "feff feff feffffff feffffff 0000"));
  });

  it("says it in ZIP64 from the first number on that has no room", () => {
    const zip64 = (entries: string, size: string, offset: string, end: string) =>
      hex("504b0606 2c00000000000000 2d03 2d00 00000000 00000000", entries, entries, size, offset) +
      hex("504b0607 00000000", end, "01000000");
    const small = { offset: 0x10, size: 0x20, entries: 3 };
    assert.equal(
      endRecords({ ...small, entries: 0xffff }).toString("hex"),
      zip64("ffff000000000000", "2000000000000000", "1000000000000000", "3000000000000000") +
        hex(END, "ffff ffff 20000000 10000000 0000"),
    );
    assert.equal(
      endRecords({ ...small, size: LIMIT_32 }).toString("hex"),
      zip64("0300000000000000", "ffffffff00000000", "1000000000000000", "0f00000001000000") +
        hex(END, "0300 0300 ffffffff 10000000 0000"),
    );
    assert.equal(
      endRecords({ ...small, offset: LIMIT_32 }).toString("hex"),
      zip64("0300000000000000", "2000000000000000", "ffffffff00000000", "1f00000001000000") +
        hex(END, "0300 0300 20000000 ffffffff 0000"),
    );
    const beyond = endRecords({ offset: LIMIT_32 + 5, size: LIMIT_32 + 6, entries: 0x1_0001 });
    assert.equal(beyond.subarray(76).toString("hex"), hex(END, "ffff ffff ffffffff ffffffff 0000"));
  });
});
