/** Archives built byte by byte, each wrong in one way, and the verdict on them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  ARCHIVED_AT,
  buildArchive,
  setField,
  type BuiltArchive,
  type GivenEntry,
} from "../../../test/support/built-archive.ts";
import { ARCHIVE_CEILINGS } from "../rules/validate-archive.ts";
import { judgeArchive } from "./judge-archive.ts";
import { centralRecord, endRecords, localHeader, type ZipEntry } from "./zip-format.ts";

const TENANT = "00000000-0000-4000-8000-00000000000a";
const EXPORT = "00000000-0000-4000-8000-00000000000b";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "postern-zips-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function verdictOn(
  { bytes, files }: BuiltArchive,
  ceilings = ARCHIVE_CEILINGS as Record<keyof typeof ARCHIVE_CEILINGS, number>,
) {
  const place = join(folder, randomUUID());
  await writeFile(place, bytes);
  const verdict = await judgeArchive(place, { tenantId: TENANT, exportId: EXPORT, files }, { ceilings });
  await rm(place);
  return verdict;
}

const codeOf = async (built: BuiltArchive): Promise<string> => (await verdictOn(built)).code;

describe("an archive as the writer makes it", () => {
  it("is valid, deflated or stored, and however many entries it has up to the ceiling", async () => {
    assert.equal(await codeOf(buildArchive([{}, { method: 0 }, { path: "a/b-1_2.json" }])), "VALID");
    assert.equal(await codeOf(buildArchive([])), "VALID");
    assert.equal(
      await codeOf(buildArchive(Array.from({ length: 300 }, () => ({ method: 0 as const })))),
      "VALID",
    );
  });
});

describe("an archive's names", () => {
  const bad = ["/etc/passwd", "C:/x", "C:x", "//host/share", "a\\b", "../x", "a/../b", "a/./b", "a//b", "a/"];
  const worse = [
    "a\0b",
    "a\u0007b",
    "CON",
    "con.txt",
    "a/LPT1.log",
    "trailing.",
    "a b",
    "a:b",
    "x".repeat(101),
  ];
  for (const path of [...bad, ...worse, "a/b/c/d/e/f/g/h/i", ""]) {
    it(`may not be ${JSON.stringify(path.slice(0, 20))}`, async () => {
      const { code } = await verdictOn(buildArchive([{ path }]));
      assert.ok(code === "PATH" || (path === "a/" && code === "MANIFEST"), code);
    });
  }

  it("may not be other than ASCII, whatever the encoding", async () => {
    for (const name of [
      Buffer.from("é"),
      Buffer.from("e\u0301"),
      Buffer.from([0xe9, 0x41]),
      Buffer.from("\u202e"),
    ]) {
      const put = (at: number) => (header: Buffer) => (name.copy(header, at), header);
      const given = { path: "x".repeat(name.length), local: put(30), central: put(46) };
      assert.equal(await codeOf(buildArchive([given])), "PATH");
    }
  });

  it("may not be the same twice, nor by case alone, nor a file and a folder", async () => {
    for (const pair of [
      ["a.txt", "a.txt"],
      ["a.txt", "A.TXT"],
      ["a", "a/b"],
    ]) {
      assert.equal(await codeOf(buildArchive(pair.map((path) => ({ path })))), "COLLISION");
    }
  });

  it("may not be an archive's", async () => {
    assert.equal(await codeOf(buildArchive([{ path: "a.zip" }])), "NESTED");
    assert.equal(await codeOf(buildArchive([{ path: "a.tar.GZ" }])), "NESTED");
  });
});

const unix = (mode: number) => setField(32, null, 38, mode * 0x1_0000);

describe("an archive's entries", () => {
  const cases: [name: string, given: GivenEntry, code: string][] = [
    ["a symbolic link", unix(0o120777), "ENTRY_TYPE"],
    ["a named pipe", unix(0o010644), "ENTRY_TYPE"],
    ["a device", unix(0o020644), "ENTRY_TYPE"],
    ["a folder by its mode alone, which is no promised file", unix(0o040755), "MANIFEST"],
    ["encrypted", setField(16, 6, 8, 1), "ENCRYPTED"],
    ["compressed by another method", setField(16, 8, 10, 12), "METHOD"],
    ["sized by a descriptor", setField(16, 6, 8, 8), "DESCRIPTOR"],
    ["of another method in its own header", setField(16, null, 10, 0), "HEADER_MISMATCH"],
    ["of another size in its own header", { local: (h) => (h.writeUInt32LE(7, 22), h) }, "HEADER_MISMATCH"],
    ["of another name in its own header", { local: (h) => (h.write("evil", 30), h) }, "HEADER_MISMATCH"],
    ["of another checksum than its bytes", setField(32, 14, 16, 7), "HEADER_MISMATCH"],
    ["larger than it claims", setField(32, 22, 24, 3), "HEADER_MISMATCH"],
    ["smaller than it claims", setField(32, 22, 24, 20), "HEADER_MISMATCH"],
    ["at an offset without a header", setField(32, null, 42, 5), "HEADER_MISMATCH"],
    ["followed by hidden data", { behind: Buffer.from("hidden") }, "LAYOUT"],
  ];
  for (const [name, given, code] of cases) {
    it(`may not be ${name}`, async () => {
      assert.equal(await codeOf(buildArchive([given, {}])), code);
    });
  }

  it("may not have a second name for readers that know the extra field", async () => {
    const extra = Buffer.from("7570090001000000006576696c", "hex");
    const central = (record: Buffer) => {
      record.writeUInt16LE(extra.length, 30);
      return Buffer.concat([record, extra]);
    };
    assert.equal(await codeOf(buildArchive([{ central }])), "HEADER_MISMATCH");
  });

  it("may not share their bytes", async () => {
    const built = buildArchive([
      { path: "a.txt", content: Buffer.from("same") },
      { path: "b.txt", content: Buffer.from("same") },
    ]);
    const second = buildArchive([{ path: "a.txt", content: Buffer.from("same") }]);
    // The second entry of the directory points at the first entry's bytes.
    const at = built.bytes.lastIndexOf("PK\u0001\u0002", built.bytes.length, "latin1");
    built.bytes.writeUInt32LE(0, at + 42);
    const { code, ...rest } = await verdictOn(built);
    assert.equal(code, "HEADER_MISMATCH");
    assert.ok("violations" in rest && rest.violations.some((found) => found.code === "LAYOUT"));
    assert.equal(await codeOf(second), "VALID");
  });

  it("may not inflate beyond the ratio, though they say so truly", async () => {
    const verdict = await verdictOn(buildArchive([{ content: Buffer.alloc(10_000_000) }]));
    assert.deepEqual(verdict, {
      code: "CEILING",
      violations: [
        { code: "CEILING", path: "file-0.txt", ceiling: "entry_ratio" },
        // What is refused by its size is not read, so its digest is not known.
        { code: "MANIFEST", path: null, ceiling: null },
      ],
    });
  });

  it("may not inflate to more than they claim: reading ends there", async () => {
    const bomb = buildArchive([{ content: Buffer.alloc(100_000_000), ...setField(32, 22, 24, 1000) }]);
    assert.equal(await codeOf(bomb), "HEADER_MISMATCH");
  });
});

const surrounded = (before: string, behind: string): BuiltArchive => {
  const built = buildArchive([{}]);
  return { ...built, bytes: Buffer.concat([Buffer.from(before), built.bytes, Buffer.from(behind)]) };
};

const comment = (record: Buffer) => {
  record.writeUInt16LE(5, 20);
  return Buffer.concat([record, Buffer.from("hello")]);
};

const disks = (record: Buffer) => (record.writeUInt16LE(1, 4), record);

describe("an archive's container", () => {
  it("may have nothing before, behind or beside it", async () => {
    assert.equal(await codeOf(surrounded("#!/bin/sh\n", "")), "CONTAINER");
    assert.equal(await codeOf(surrounded("", "more")), "CONTAINER");
    assert.equal(await codeOf(buildArchive([{}], comment)), "CONTAINER");
    assert.equal(await codeOf(buildArchive([{}], disks)), "CONTAINER");
  });

  it("must be there whole", async () => {
    const { bytes, files } = buildArchive([{}]);
    assert.equal(await codeOf({ bytes: Buffer.from("no archive"), files }), "UNREADABLE");
    for (let end = 0; end < bytes.length; end += 7) {
      assert.notEqual(await codeOf({ bytes: bytes.subarray(0, end), files }), "VALID");
    }
  });

  it("must say of each byte what was promised: any changed bit is seen", async () => {
    const { bytes, files } = buildArchive([{ method: 0 }, { method: 0 }]);
    // Versions, times and the reserved fields may have any value, because they are not used.
    const harmless = new Set<number>();
    for (const sign of ["PK\u0003\u0004", "PK\u0001\u0002"]) {
      for (let at = bytes.indexOf(sign, 0, "latin1"); at !== -1; at = bytes.indexOf(sign, at + 1, "latin1")) {
        const isCentral = sign.endsWith("\u0002");
        for (const n of isCentral
          ? [4, 5, 6, 7, 12, 13, 14, 15, 34, 35, 36, 37, 38, 39, 40, 41]
          : [4, 5, 10, 11, 12, 13]) {
          harmless.add(at + n);
        }
      }
    }
    for (let at = 0; at < bytes.length; at++) {
      if (harmless.has(at)) continue;
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      assert.notEqual(await codeOf({ bytes: changed, files }), "VALID", `byte ${at}`);
    }
  });
});

describe("an archive too large", () => {
  it("is refused by what it claims, without being read", async () => {
    const small = { ...ARCHIVE_CEILINGS, entries: 2, total_bytes: 100, entry_bytes: 60, path_bytes: 12 };
    const ceilingsOf = async (built: BuiltArchive) => {
      const verdict = await verdictOn(built, small);
      return "violations" in verdict
        ? verdict.violations.map(({ ceiling }) => ceiling).filter((name) => name !== null)
        : [];
    };
    assert.deepEqual(await ceilingsOf(buildArchive([{}, {}, {}])), ["entries"]);
    const half = { content: Buffer.from("0123456789".repeat(6)) };
    assert.deepEqual(await ceilingsOf(buildArchive([half, half])), ["total_bytes"]);
    assert.deepEqual(await ceilingsOf(buildArchive([{ content: Buffer.from("0123456789".repeat(7)) }])), [
      "entry_bytes",
    ]);
    assert.deepEqual(await ceilingsOf(buildArchive([{ path: "a-long-name.txt" }])), ["path_bytes"]);
  });

  it("is found too large at 4 GiB, where ZIP64 begins", async () => {
    const place = join(folder, "sparse.zip");
    const file = await open(place, "w");
    const size = 1_000_000_000;
    let offset = 0;
    const central: Buffer[] = [];
    for (let n = 0; n < 5; n++) {
      const entry: ZipEntry = { path: `f${n}`, method: 0, crc32: 0, compressedSize: size, size };
      const header = localHeader(entry, ARCHIVED_AT);
      await file.write(header, 0, header.length, offset);
      central.push(centralRecord({ ...entry, offset }, ARCHIVED_AT));
      offset += header.length + size;
    }
    const directory = Buffer.concat(central);
    const end = Buffer.concat([directory, endRecords({ offset, size: directory.length, entries: 5 })]);
    await file.write(end, 0, end.length, offset);
    await file.close();
    const verdict = await judgeArchive(place, { tenantId: TENANT, exportId: EXPORT, files: [] });
    assert.ok("violations" in verdict);
    assert.deepEqual(
      verdict.violations.map(({ code, ceiling }) => [code, ceiling]),
      [
        ["CEILING", "total_bytes"],
        ["MANIFEST", null],
      ],
    );
  });
});

describe("an archive's promise", () => {
  it("is broken by a file too many, too few, or of other bytes", async () => {
    const built = buildArchive([{}, {}]);
    const [one, two] = built.files;
    assert.ok(one !== undefined && two !== undefined);
    for (const files of [
      [one],
      [one, two, two],
      [one, { ...two, sha256: one.sha256 }],
      [one, { ...two, path: "x" }],
    ]) {
      assert.notEqual(await codeOf({ ...built, files }), "VALID");
    }
    assert.equal(await codeOf({ ...built, files: [one] }), "MANIFEST");
  });
});
