/** What is read of an archive, field by field, before any rule is asked. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { buildArchive, setField, type GivenEntry } from "../../../test/support/built-archive.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { openFilesBelow } from "../../../test/support/open-files.ts";
import { ARCHIVE_CEILINGS } from "../rules/validate-archive.ts";
import { inspectArchive } from "./inspect-archive.ts";

const UNKNOWN_SHA256 = "0".repeat(64);
const CONTENT = Buffer.from("content 0");
const CEILINGS: Record<keyof typeof ARCHIVE_CEILINGS, number> = ARCHIVE_CEILINGS;

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-inspect-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function inspect(bytes: Buffer, options?: Parameters<typeof inspectArchive>[1]) {
  const place = join(folder, randomUUID());
  await writeFile(place, bytes);
  return inspectArchive(place, options);
}

async function read(given: readonly GivenEntry[], options?: Parameters<typeof inspectArchive>[1]) {
  const inspected = await inspect(buildArchive(given).bytes, options);
  assert.ok(inspected.code === "READ", JSON.stringify(inspected));
  return inspected.entries;
}

async function readOne(given: GivenEntry, options?: Parameters<typeof inspectArchive>[1]) {
  const [entry] = await read([given], options);
  assert.ok(entry !== undefined);
  return entry;
}

const digest = (content: Buffer | string) => createHash("sha256").update(content).digest("hex");
const hex = (crc: number) => crc.toString(16).padStart(8, "0");
const local16 = (at: number, value: number): GivenEntry => ({
  local: (header) => (header.writeUInt16LE(value, at), header),
});

/** What the entry is when nothing is wrong with it. */
const PLAIN = {
  path: "file-0.txt",
  type: "file",
  encrypted: false,
  data_descriptor: false,
  local_name_equal: true,
  local_sizes_equal: true,
  method: 0,
  compressed_size: 9,
  size: 9,
  crc32: hex(crc32(CONTENT)),
  sha256: digest(CONTENT),
  local_offset: 0,
  local_length: 30 + 10 + 9,
};

/** In what the entry differs from a plain one. */
async function differs(given: GivenEntry, options?: Parameters<typeof inspectArchive>[1]) {
  const entry = await readOne({ method: 0, ...given }, options);
  const plain = new Map<string, unknown>(Object.entries(PLAIN));
  return Object.fromEntries(Object.entries(entry).filter(([name, value]) => plain.get(name) !== value));
}

const comment = (end: Buffer) => (end.writeUInt16LE(5, 20), Buffer.concat([end, Buffer.from("hello")]));

describe("an archive that is read", () => {
  it("tells its container, and of each entry both headers and the digest of its bytes", async () => {
    const content = Buffer.from(Array.from({ length: 2000 }, (_, n) => n).join());
    const deflated = deflateRawSync(content).length;
    const { bytes } = buildArchive([{ method: 0 }, { content, path: "a/b.json" }]);
    const second = {
      ...PLAIN,
      path: "a/b.json",
      method: 8,
      compressed_size: deflated,
      size: content.length,
      crc32: hex(crc32(content)),
      sha256: digest(content),
      local_offset: 49,
      local_length: 30 + 8 + deflated,
    };
    const offset = 49 + second.local_length;
    assert.deepEqual(await inspect(bytes), {
      code: "READ",
      container: { prefix_bytes: 0, trailing_bytes: 0, comment_bytes: 0, disks: 1, directory_offset: offset },
      entries: [PLAIN, second],
    });
  });

  it("has each checksum in eight digits", async () => {
    let number = 0;
    while (crc32(String(number)) >= 0x0100_0000) number++;
    const content = Buffer.from(String(number));
    assert.match((await readOne({ content })).crc32, /^00[0-9a-f]{6}$/);
  });

  it("has no entries for who finds the container wrong, in whatever way", async () => {
    for (const number of [1, 2, 3, 4, 5, 6, 7]) {
      const { bytes } = buildArchive([{}], number & 1 ? comment : undefined);
      const around = [number & 2 ? "12345" : "", bytes, number & 4 ? "67890" : ""];
      const inspected = await inspect(Buffer.concat(around.map((part) => Buffer.from(part))));
      assert.ok(inspected.code === "READ");
      assert.deepEqual(inspected.entries, [], `combination ${number}`);
    }
    const { bytes } = buildArchive([{}], (end) => (end.writeUInt16LE(1, 4), end));
    assert.deepEqual(Object(await inspect(bytes)).entries, []);
  });
});

const reasonOf = async (bytes: Buffer) => {
  const inspected = await inspect(bytes);
  assert.equal(inspected.code, "UNREADABLE");
  return Object(inspected).reason;
};

describe("an archive that cannot be read", () => {
  it("says why", async () => {
    assert.equal(await reasonOf(Buffer.from("no archive")), "no end of an archive");
    const fewer = buildArchive([{}, {}], (end) => (end.writeUInt16LE(1, 8), end.writeUInt16LE(1, 10), end));
    assert.equal(await reasonOf(fewer.bytes), "more in the directory than entries");
    const broken = buildArchive([{ content: Buffer.from("x".repeat(100)) }]);
    broken.bytes.fill(0xff, 40, 44);
    assert.match(await reasonOf(broken.bytes), /invalid/);
  });

  it("is a fault of the machine where its file cannot be read, and no finding", async () => {
    await assert.rejects(inspectArchive(join(folder, "nowhere")), { code: "ENOENT" });
    await assert.rejects(inspectArchive(folder), { code: "EISDIR" });
  });

  it("is left when that is asked for, for the reason given", async () => {
    const reason = new Error("enough");
    const { bytes } = buildArchive([{}]);
    const signal = AbortSignal.abort(reason);
    await assert.rejects(inspect(bytes, { signal }), reason);
    // Where nothing is inflated too.
    await assert.rejects(inspect(bytes, { signal, ceilings: { ...CEILINGS, entries: 0 } }), reason);
    assert.equal((await inspect(bytes, { signal: new AbortController().signal })).code, "READ");
  });
});

const central = (record: Buffer) => {
  record.writeUInt16LE(4, 30);
  record.writeUInt16LE(3, 32);
  return Buffer.concat([record, Buffer.from("fefe0000", "hex"), Buffer.from("why")]);
};

describe("an archive's directory", () => {
  it("is as long as its records, with their additional fields and comments", async () => {
    assert.deepEqual(await differs({ central }), {});
  });

  it("is read to one entry more than are allowed, and then no entry is inflated", async () => {
    const ceilings = { ...CEILINGS, entries: 2 };
    const digests = async (count: number) =>
      (
        await read(
          Array.from({ length: count }, () => ({ content: CONTENT })),
          { ceilings },
        )
      ).map(({ sha256 }) => sha256);
    assert.deepEqual(await digests(2), [PLAIN.sha256, PLAIN.sha256]);
    assert.deepEqual(
      await digests(3),
      Array.from({ length: 3 }, () => UNKNOWN_SHA256),
    );
    assert.deepEqual(
      await digests(5),
      Array.from({ length: 3 }, () => UNKNOWN_SHA256),
    );
  });
});

const typeOf = async (mode: number, path = "a", madeBy = 3) => {
  const central = (record: Buffer) => {
    record.writeUInt8(madeBy, 5);
    record.writeUInt32LE(mode * 0x1_0000 + 0xffff, 38);
    return record;
  };
  return (await readOne({ path, central })).type;
};

describe("an archive's entry", () => {
  const unread = { sha256: UNKNOWN_SHA256 };

  it("is inflated up to each ceiling, and not beyond it", async () => {
    const with_ = (ceiling: object, given: GivenEntry = {}) =>
      differs(given, { ceilings: { ...CEILINGS, ...ceiling } });
    assert.deepEqual(await with_({ total_bytes: 9, entry_bytes: 9, entry_ratio: 1 }), {});
    assert.deepEqual(await with_({ total_bytes: 8 }), unread);
    assert.deepEqual(await with_({ entry_bytes: 8 }), unread);
    assert.deepEqual(await with_({ entry_ratio: 0.99 }), unread);
    const two = await read([{ method: 0 }, { method: 0 }], { ceilings: { ...CEILINGS, total_bytes: 17 } });
    assert.deepEqual(
      two.map(({ sha256 }) => sha256),
      [UNKNOWN_SHA256, UNKNOWN_SHA256],
    );
  });

  it("is not inflated by another method, encrypted, or stored in another size", async () => {
    assert.deepEqual(await differs(setField(16, 8, 10, 12)), { ...unread, method: 12 });
    assert.deepEqual(await differs(setField(16, 8, 10, 120)), { ...unread, method: 99 });
    assert.deepEqual(await differs(setField(16, 6, 8, 1)), { ...unread, encrypted: true });
    assert.deepEqual(await differs(setField(32, 22, 24, 8)), { ...unread, size: 8 });
  });

  it("is followed by nothing more than it claims", async () => {
    const more = await readOne({ ...setField(32, 22, 24, 3) });
    assert.deepEqual([more.sha256, more.local_sizes_equal], [digest(""), false]);
    const less = await readOne({ ...setField(32, 22, 24, 20) });
    assert.deepEqual([less.sha256, less.local_sizes_equal], [digest(CONTENT), false]);
    assert.deepEqual(await differs(setField(32, 14, 16, 7)), { crc32: "00000007", local_sizes_equal: false });
  });

  it("has one header, and another one that may say otherwise in each field", async () => {
    const differing = { local_sizes_equal: false };
    assert.deepEqual(await differs(local16(8, 8)), differing);
    assert.deepEqual(await differs(local16(6, 2)), differing);
    for (const at of [14, 18, 22]) assert.deepEqual(await differs(local16(at, 1)), differing, String(at));
    const name = { local: (header: Buffer) => (header.write("evil", 30), header) };
    assert.deepEqual(await differs(name), { local_name_equal: false });
  });

  it("has a descriptor where one header says so", async () => {
    const found = { data_descriptor: true, local_sizes_equal: false };
    assert.deepEqual(await differs(local16(6, 8)), found);
    assert.deepEqual(await differs(setField(16, null, 8, 8)), found);
    assert.deepEqual(await differs(setField(16, 6, 8, 8)), { data_descriptor: true });
  });

  it("has no header of its own where there is none at the place that the directory names", async () => {
    assert.deepEqual(await differs(setField(32, null, 42, 5)), {
      ...unread,
      local_name_equal: false,
      local_sizes_equal: false,
      local_offset: 5,
      local_length: 39,
    });
  });

  it("has a second name where one header has the field for it", async () => {
    const extra = Buffer.from("7570090001000000006576696c", "hex");
    const central = (record: Buffer) => (record.writeUInt16LE(13, 30), Buffer.concat([record, extra]));
    assert.deepEqual(await differs({ central }), { local_name_equal: false });
    const local = (header: Buffer) => (header.writeUInt16LE(13, 28), Buffer.concat([header, extra]));
    assert.deepEqual(await differs({ local }), { local_name_equal: false, local_length: 62 });
    const other = Buffer.from("fefe0000", "hex");
    const harmless = (header: Buffer) => (header.writeUInt16LE(4, 28), Buffer.concat([header, other]));
    assert.deepEqual(await differs({ local: harmless }), { local_length: 53 });
  });

  it("is of the type that its mode says, or else its name", async () => {
    assert.equal(await typeOf(0o120777), "symlink");
    assert.equal(await typeOf(0o040755), "directory");
    assert.equal(await typeOf(0o100644), "file");
    assert.equal(await typeOf(0o010644), "other");
    assert.equal(await typeOf(0o140777), "other");
    assert.equal(await typeOf(0o000644), "file");
    assert.equal(await typeOf(0o100644, "a/"), "directory");
    assert.equal(await typeOf(0o000644, "a/"), "directory");
    assert.equal(await typeOf(0o120777, "a/"), "symlink");
    // Other systems have other attributes there.
    assert.equal(await typeOf(0o120777, "a", 0), "file");
  });
});

it("no file stays open, whatever was wrong with an archive", async () => {
  await eventually(async () => (await openFilesBelow(folder)).length === 0);
});
