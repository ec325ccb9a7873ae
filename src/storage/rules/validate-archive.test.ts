import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ArchiveEntry } from "./archive-entry.ts";
import { isNestedArchive, isNormalPath } from "./archive-path.ts";
import {
  ARCHIVE_CEILINGS,
  ceilingName,
  validateArchive,
  validateArchiveInput,
  type ValidateArchiveInput,
} from "./validate-archive.ts";

const TENANT = "0a1b2c3d-0000-4000-8000-00000000000a";
const DELIVERY = "0a1b2c3d-0000-4000-8000-00000000000d";
const SOURCE = "0a1b2c3d-0000-4000-8000-00000000000e";
const SHA = "a".repeat(64);

function entry(more: Partial<ArchiveEntry> = {}): ArchiveEntry {
  return {
    path: "log.json",
    type: "file",
    encrypted: false,
    data_descriptor: false,
    local_name_equal: true,
    local_sizes_equal: true,
    method: 8,
    compressed_size: 10,
    size: 100,
    crc32: "00000000",
    sha256: SHA,
    local_offset: 0,
    local_length: 50,
    ...more,
  };
}

const folder = (more: Partial<ArchiveEntry> = {}) =>
  entry({
    path: "logs/",
    type: "directory",
    method: 0,
    compressed_size: 0,
    size: 0,
    local_offset: 50,
    ...more,
  });

const line = ({ path, size, sha256 }: ArchiveEntry) => ({ path, size, sha256, source_id: SOURCE });

/** What is promised of files, so that their entries alone can be at fault. */
function archive(entries: ArchiveEntry[], more: Partial<ValidateArchiveInput> = {}): ValidateArchiveInput {
  const files = entries.filter(({ type }) => type === "file");
  const [first] = files;
  return {
    tenant_id: TENANT,
    delivery_id: DELIVERY,
    ignore_directories: false,
    container: {
      prefix_bytes: 0,
      trailing_bytes: 0,
      comment_bytes: 0,
      disks: 1,
      directory_offset: entries.reduce((sum, { local_length }) => sum + local_length, 0),
    },
    entries,
    ceilings: ceilingName.options.map((name) => ({ name, max: ARCHIVE_CEILINGS[name] })),
    manifest: files.map(line),
    sources:
      first === undefined
        ? []
        : [
            {
              id: SOURCE,
              tenant_id: TENANT,
              delivery_id: DELIVERY,
              state: "available",
              size: first.size,
              sha256: SHA,
            },
          ],
    ...more,
  };
}

/** Code, path and ceiling of each violation. */
function told(input: ValidateArchiveInput): string[] {
  const { output, mutations } = validateArchive(input);
  assert.equal(output.code, output.violations[0]?.code ?? "VALID");
  assert.deepEqual(mutations, []);
  return output.violations.map(({ code, path, ceiling }) =>
    [code, path, ceiling].filter((part) => part !== null).join(" "),
  );
}

const GOOD = archive([entry()]);

describe("an archive", () => {
  it("is valid where nothing is wrong, stored or deflated", () => {
    assert.ok(validateArchiveInput.safeParse(GOOD).success);
    assert.deepEqual(told(GOOD), []);
    assert.deepEqual(told(archive([entry({ method: 0, compressed_size: 100 })])), []);
    assert.deepEqual(told(archive([])), []);
  });

  const containers: [name: string, change: Partial<ValidateArchiveInput["container"]>, code: string][] = [
    ["has bytes before it", { prefix_bytes: 1 }, "CONTAINER"],
    ["has bytes behind it", { trailing_bytes: 1 }, "CONTAINER"],
    ["has a comment", { comment_bytes: 1 }, "CONTAINER"],
    ["is of two disks", { disks: 2 }, "CONTAINER"],
    ["is of no disk", { disks: 0 }, "CONTAINER"],
    ["has a gap before its directory", { directory_offset: 51 }, "LAYOUT"],
    ["has its directory within an entry", { directory_offset: 49 }, "LAYOUT"],
  ];
  for (const [name, change, code] of containers) {
    it(`is refused that ${name}`, () => {
      assert.deepEqual(told({ ...GOOD, container: { ...GOOD.container, ...change } }), [code]);
    });
  }

  it("is refused whose entries overlap, leave a gap or begin later", () => {
    const second = (local_offset: number) => entry({ path: "b.json", local_offset });
    for (const entries of [[entry(), second(49)], [entry(), second(51)], [entry({ local_offset: 1 })]]) {
      const container = { ...GOOD.container, directory_offset: 50 * entries.length };
      assert.ok(told(archive(entries, { container })).includes("LAYOUT"));
    }
    assert.ok(!told(archive([entry(), second(50)])).includes("LAYOUT"));
  });
});

const at = (path: string, local_offset: number, more = {}) => entry({ path, local_offset, ...more });

describe("an entry", () => {
  const faults: [name: string, change: Partial<ArchiveEntry>, codes: string[]][] = [
    ["encrypted", { encrypted: true }, ["ENCRYPTED log.json"]],
    ["of a descriptor", { data_descriptor: true }, ["DESCRIPTOR log.json"]],
    ["of another name in its own header", { local_name_equal: false }, ["HEADER_MISMATCH log.json"]],
    ["of other sizes in its own header", { local_sizes_equal: false }, ["HEADER_MISMATCH log.json"]],
    ["compressed in another way", { method: 9 }, ["METHOD log.json"]],
    ["stored in another size", { method: 0 }, ["METHOD log.json"]],
    ["that is an archive", { path: "a.ZIP" }, ["NESTED a.ZIP"]],
    ["under a path that is none", { path: "../a" }, ["PATH ../a"]],
  ];
  for (const [name, change, codes] of faults) {
    it(`${name} is refused`, () => assert.deepEqual(told(archive([entry(change)])), codes));
  }

  it("is refused that is a link, or of no known type", () => {
    for (const type of ["symlink", "other"] as const) {
      assert.deepEqual(told(archive([entry({ type })])), ["ENTRY_TYPE log.json"]);
    }
  });

  it("is refused that is a folder, and passed over where folders are", () => {
    const entries = [entry(), folder()];
    assert.deepEqual(told(archive(entries)), ["DIRECTORY_ENTRY logs/"]);
    assert.deepEqual(told(archive(entries, { ignore_directories: true })), []);
    const full = [entry(), folder({ size: 1, compressed_size: 1 })];
    assert.deepEqual(told(archive(full, { ignore_directories: true })), ["DIRECTORY_ENTRY logs/"]);
  });

  it("is refused beside one of the same name but for case, or one that is its folder", () => {
    assert.deepEqual(told(archive([at("A", 0), at("a", 50), at("b", 100)])), ["COLLISION A", "COLLISION a"]);
    assert.deepEqual(told(archive([at("x/Y", 0), at("X", 50)])), ["COLLISION X"]);
    assert.deepEqual(told(archive([at("x/y/z", 0), at("x/y", 50)])), ["COLLISION x/y"]);
    assert.deepEqual(told(archive([at("logs/a", 0), folder()], { ignore_directories: true })), []);
  });
});

const lowered = (name: string, max: number) => ({
  ceilings: GOOD.ceilings.map((one) => (one.name === name ? { ...one, max } : one)),
});

describe("a ceiling", () => {
  const limits: [name: string, reached: number, told: string][] = [
    ["entries", 1, "CEILING entries"],
    ["total_bytes", 100, "CEILING total_bytes"],
    ["entry_bytes", 100, "CEILING log.json entry_bytes"],
    ["entry_ratio", 10, "CEILING log.json entry_ratio"],
    ["path_bytes", 8, "CEILING log.json path_bytes"],
  ];
  for (const [name, reached, violation] of limits) {
    it(`of ${name} may be reached and not passed`, () => {
      assert.deepEqual(told(archive([entry()], lowered(name, reached))), []);
      assert.deepEqual(told(archive([entry()], lowered(name, reached - 1))), [violation]);
    });
  }

  it("of all bytes counts every entry", () => {
    const entries = [entry(), entry({ path: "b", local_offset: 50 })];
    assert.deepEqual(told(archive(entries, lowered("total_bytes", 200))), []);
    assert.deepEqual(told(archive(entries, lowered("total_bytes", 199))), ["CEILING total_bytes"]);
  });

  it("is given once each, and never raised", () => {
    const { ceilings } = GOOD;
    const [first, ...others] = ceilings;
    assert.ok(first !== undefined && others[0] !== undefined);
    for (const given of [
      [],
      others,
      [...ceilings, first],
      [others[0], ...others],
      ceilings.map(({ name, max }) => ({ name, max: max + 1 })),
    ]) {
      assert.deepEqual(told({ ...GOOD, ceilings: given }), ["CEILING_SET"]);
    }
  });
});

describe("what an archive was promised to hold", () => {
  const [line] = GOOD.manifest;
  const [source] = GOOD.sources;
  assert.ok(line !== undefined && source !== undefined);

  it("is exactly its files, each as often as it is named", () => {
    for (const manifest of [
      [line, line],
      [{ ...line, path: "other" }],
      [{ ...line, size: 100, sha256: "b".repeat(64) }],
    ]) {
      assert.ok(told({ ...GOOD, manifest }).includes("MANIFEST"));
    }
    assert.ok(told({ ...GOOD, manifest: [{ ...line, size: 99 }] }).includes("MANIFEST"));
    assert.deepEqual(told({ ...GOOD, manifest: [] }), ["MANIFEST", "SOURCE"]);
  });

  it("is in any order", () => {
    const entries = [entry(), entry({ path: "b.json", local_offset: 50 })];
    const { manifest } = archive(entries);
    assert.deepEqual(told(archive(entries, { manifest: manifest.toReversed() })), []);
  });

  const others: [name: string, sources: (typeof source)[]][] = [
    ["of another tenant", [{ ...source, tenant_id: DELIVERY }]],
    ["of another delivery", [{ ...source, delivery_id: TENANT }]],
    ["that is not available", [{ ...source, state: "missing" }]],
    ["of another size", [{ ...source, size: 99 }]],
    ["of other bytes", [{ ...source, sha256: "b".repeat(64) }]],
    ["that is not there", []],
    ["that is there twice", [source, source]],
  ];
  for (const [name, sources] of others) {
    it(`has no source ${name}`, () => assert.deepEqual(told({ ...GOOD, sources }), ["SOURCE log.json"]));
  }

  it("has no source that is not used", () => {
    assert.deepEqual(told({ ...GOOD, sources: [source, { ...source, id: TENANT }] }), ["SOURCE"]);
  });
});

it("violations are told by rule, then by path, the archive's own first, then by code", () => {
  const entries = [
    entry({ path: "b", encrypted: true, data_descriptor: true }),
    entry({ path: "a", encrypted: true, local_offset: 50 }),
  ];
  const input = archive(entries, { ceilings: [], manifest: [] });
  const container = { ...input.container, disks: 2 };
  assert.deepEqual(told({ ...input, container, sources: [] }), [
    "CONTAINER",
    "ENCRYPTED a",
    "DESCRIPTOR b",
    "ENCRYPTED b",
    "CEILING_SET",
    "MANIFEST",
  ]);
});

const file = (path: string) => ({ path, type: "file" }) as const;

describe("a path in an archive", () => {
  it("is plain, of eight levels at most", () => {
    const good = [
      "a",
      "A-z_0.9",
      "a/b/c/d/e/f/g/h",
      "a".repeat(100),
      ".hidden",
      "console.txt",
      "com",
      "com10",
      "lpt",
    ];
    assert.deepEqual(
      good.filter((path) => !isNormalPath(file(path))),
      [],
    );
    const bad = [
      "",
      "/a",
      "a/",
      "a//b",
      "a/b/c/d/e/f/g/h/i",
      "a".repeat(101),
      ".",
      "..",
      "a/..",
      "a.",
      "a b",
      "é",
      "a\\b",
      "c:a",
      "con",
      "CON",
      "Con.txt",
      "a/nul",
      "prn.a.b",
      "aux",
      "com1",
      "COM9.log",
      "lpt0",
    ];
    assert.deepEqual(
      bad.filter((path) => isNormalPath(file(path))),
      [],
    );
    const folders = ["a/", "a", "a/b/"].map((path) => isNormalPath({ path, type: "directory" }));
    assert.deepEqual(folders, [true, true, true]);
    assert.equal(isNormalPath({ path: "a//", type: "directory" }), false);
  });

  it("is an archive's by its last extension, whatever its case, and no folder's", () => {
    const nested = "zip jar gz tgz tar 7z rar xz bz2 zst".split(" ").map((end) => `a/b.${end}`);
    assert.deepEqual(
      nested.filter((path) => !isNestedArchive(file(path))),
      [],
    );
    assert.ok(isNestedArchive(file("A.TaR")));
    const others = ["zip", "a.zip/b", "a.zip.txt", "azip", "a.zipx", "a.gzip"];
    assert.deepEqual(
      others.filter((path) => isNestedArchive(file(path))),
      [],
    );
    assert.equal(isNestedArchive({ path: "a.zip", type: "directory" }), false);
  });
});
