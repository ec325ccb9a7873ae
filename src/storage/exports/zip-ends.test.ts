/** Where the end of a ZIP says that its directory is, whatever lies around it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readZipEnds } from "./zip-ends.ts";
import { endRecords } from "./zip-format.ts";

const DATA = Buffer.alloc(30, "d");
const DIRECTORY = Buffer.alloc(20, "c");
const PLAIN = {
  container: { prefix_bytes: 0, trailing_bytes: 0, comment_bytes: 0, disks: 1, directory_offset: 30 },
  directoryBytes: 20,
};

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-zip-ends-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function endsOf(...parts: (Buffer | string)[]) {
  const place = join(folder, randomUUID());
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  await writeFile(place, bytes);
  const file = await open(place);
  try {
    return await readZipEnds(file, bytes.length);
  } finally {
    await file.close();
  }
}

/** What `readZipEnds` says of the container, where it differs from that of a plain archive. */
async function differs(...parts: (Buffer | string)[]) {
  const ends = await endsOf(...parts);
  assert.ok(ends !== null);
  assert.equal(ends.directoryBytes, 20);
  const plain = new Map<string, number>(Object.entries(PLAIN.container));
  return Object.fromEntries(
    Object.entries(ends.container).filter(([name, value]) => plain.get(name) !== value),
  );
}

/** With values put at places of the record. */
function ending(entries: number, change: (record: Buffer) => void = () => undefined): Buffer {
  const record = endRecords({ offset: DATA.length, size: DIRECTORY.length, entries });
  change(record);
  return record;
}

const commented = (length: number) => [
  ending(1, (end) => end.writeUInt16LE(length, 20)),
  Buffer.alloc(length, "x"),
];

const put = (value: number, at: number) =>
  differs(
    DATA,
    DIRECTORY,
    ending(3, (end) => void end.writeUInt16LE(value, at)),
  );

describe("the end of an archive", () => {
  it("is found behind the directory", async () => {
    assert.deepEqual(await endsOf(DATA, DIRECTORY, ending(1)), PLAIN);
    const { container } = (await endsOf(endRecords({ offset: 0, size: 0, entries: 0 }))) ?? {};
    assert.deepEqual(container, { ...PLAIN.container, directory_offset: 0 });
  });

  it("is not there in a file without its record, or with a part of it", async () => {
    assert.equal(await endsOf(), null);
    assert.equal(await endsOf("PK\u0005\u0006"), null);
    assert.equal(await endsOf(DATA, DIRECTORY), null);
    assert.equal(await endsOf(DATA, DIRECTORY, ending(1).subarray(0, 21)), null);
  });

  it("tells of bytes before the archive and behind it, and of a comment", async () => {
    assert.deepEqual(await differs("12345", DATA, DIRECTORY, ending(1)), { prefix_bytes: 5 });
    assert.deepEqual(await differs(DATA.subarray(5), DIRECTORY, ending(1)), { prefix_bytes: 5 });
    assert.deepEqual(await differs(DATA, DIRECTORY, ending(1), "1234567"), { trailing_bytes: 7 });
    assert.deepEqual(await differs(DATA, DIRECTORY, ...commented(9)), { comment_bytes: 9 });
    assert.deepEqual(await differs(DATA, DIRECTORY, ...commented(9), "1234567"), {
      comment_bytes: 9,
      trailing_bytes: 7,
    });
    const [record = DATA, comment = DATA] = commented(9);
    assert.deepEqual(await differs(DATA, DIRECTORY, record, comment.subarray(4)), {
      comment_bytes: 9,
      trailing_bytes: 4,
    });
  });

  it("is found before the longest comment and no farther, in a file of any length", async () => {
    const long = Buffer.alloc(200_000, "d");
    const behind = endRecords({ offset: long.length, size: 20, entries: 1 });
    assert.deepEqual(await differs(long, DIRECTORY, behind), { directory_offset: 200_000 });
    assert.deepEqual(await differs(DATA, DIRECTORY, ...commented(65_535)), { comment_bytes: 65_535 });
    assert.equal(await endsOf(DATA, DIRECTORY, ...commented(65_535), "x"), null);
  });

  it("tells of an archive on more than one disk, in each of the fields that may say so", async () => {
    assert.deepEqual(await put(1, 4), { disks: 2 });
    assert.deepEqual(await put(2, 6), { disks: 3 });
    assert.deepEqual(await put(1, 8), { disks: 3 });
    assert.deepEqual(await put(7, 10), { disks: 5 });
    assert.deepEqual(await put(0xffff, 4), { disks: 0xffff });
  });
});

const wrong = (end: Buffer) => (end.writeUInt32LE(1, 76 + 12), void end.writeUInt32LE(2, 76 + 16));

describe("the end of an archive in ZIP64", () => {
  const MANY = 0xffff;
  const records = (change?: (record: Buffer) => void) => [DATA, DIRECTORY, ending(MANY, change)];

  it("counts, where it is whole", async () => {
    // The plain record behind it says otherwise, and is not asked.
    assert.deepEqual(await endsOf(...records(wrong)), PLAIN);
    const { container } = (await endsOf(endRecords({ offset: 0, size: 0, entries: MANY }))) ?? {};
    assert.deepEqual(container, { ...PLAIN.container, directory_offset: 0 });
    assert.deepEqual(
      await differs(
        "12345",
        DATA.subarray(5),
        DIRECTORY,
        "12345",
        ending(MANY, (end) => {
          end.writeBigUInt64LE(55n, 64);
        }),
      ),
      { prefix_bytes: 5 },
    );
  });

  it("tells of more than one disk, by the disk that it is on or by how many there are", async () => {
    assert.deepEqual(await differs(...records((end) => void end.writeUInt32LE(4, 16))), { disks: 5 });
    assert.deepEqual(await differs(...records((end) => void end.writeUInt32LE(6, 72))), { disks: 6 });
    assert.deepEqual(await differs(...records((end) => void end.writeUInt32LE(70_000, 72))), {
      disks: 0xffff,
    });
  });

  it("does not count where its records do not find each other", async () => {
    // Then the directory would have to end at the plain record, which it does not.
    const plainRecord = { prefix_bytes: 76 };
    assert.deepEqual(await differs(...records((end) => void end.writeUInt32LE(0, 0))), plainRecord);
    assert.deepEqual(await differs(...records((end) => void end.writeUInt32LE(0, 56))), plainRecord);
    assert.deepEqual(await differs(...records((end) => void end.writeBigUInt64LE(51n, 64))), plainRecord);
    assert.deepEqual(
      await differs(...records((end) => void end.writeBigUInt64LE(1n << 60n, 64))),
      plainRecord,
    );
    const locator = ending(MANY).subarray(56);
    assert.deepEqual(await differs(DATA.subarray(25), DIRECTORY, locator), { prefix_bytes: 5 });
  });
});
