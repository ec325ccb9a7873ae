/** Random archives: sound ones, with now and then one thing wrong. */
import { ARCHIVE_CEILINGS } from "../../../src/storage/rules/validate-archive.ts";
import type { JsonObject } from "../json.ts";
import { id, manyId, OTHER, OWN } from "./artifacts.ts";
import type { Random } from "./random.ts";

const PATHS = [
  "a.txt",
  "A.txt",
  "a",
  "a/b.txt",
  "data/c.json",
  "b.ZIP",
  ".gz",
  "x.tar.gz",
  "../a",
  "/a",
  "a/",
  "a//b",
  "./a",
  "con",
  "Com1.txt",
  "nul.tar",
  "lpt10",
  "a.",
  "",
  "/",
  "\u00e9.txt",
  "e\u0301.txt",
  "\u{10437}",
  "\uff5e",
  "k.txt",
  "\u212a.txt",
  "\u017f",
  "s",
  "\u00e9".repeat(121),
  "\u{10437}".repeat(61),
  "a\\b",
  "C:/a",
  "a b",
  "a\u0000b",
  "a\n",
  "s".repeat(100),
  "s".repeat(101),
  "d/".repeat(7) + "f",
  "d/".repeat(8) + "f",
  "p/".repeat(100) + "q",
] as const;

export function archiveInput(random: Random): JsonObject {
  let offset = 0;
  const entries = Array.from({ length: random.size(4, 300) }, () => {
    const one = entry(random, offset);
    offset += Number(one["local_length"]);
    return one;
  });
  const files = entries.filter(({ type }) => type === "file");
  const manifest = files.flatMap(({ path = "", size = 0, sha256 = "" }, index): JsonObject[] => {
    const line = { path, size: random.once(20) ? 1 : size, sha256, source_id: manyId(0xf, index) };
    if (random.once(30)) return [];
    return random.once(30) ? [line, line] : [line];
  });
  const sources = manifest.map(({ source_id = "", size = 0, sha256 = "" }): JsonObject => ({
    id: random.once(30) ? id("f9") : source_id,
    tenant_id: random.once(30) ? OTHER : OWN,
    delivery_id: random.once(30) ? id("d1") : id("d0"),
    state: random.once(30) ? "expired" : "available",
    size: random.once(30) ? 1 : size,
    sha256,
  }));
  return {
    tenant_id: OWN,
    delivery_id: id("d0"),
    ignore_directories: random.once(2),
    container: {
      prefix_bytes: random.once(30) ? 1 : 0,
      trailing_bytes: random.once(30) ? 1 : 0,
      comment_bytes: random.once(30) ? 1 : 0,
      disks: random.once(30) ? 2 : 1,
      directory_offset: offset + (random.once(30) ? 1 : 0),
    },
    entries,
    ceilings: ceilings(random),
    manifest: random.once(5) ? manifest.toReversed() : manifest,
    sources,
  };
}

function entry(random: Random, offset: number): JsonObject {
  const usual = ["f1", "f2.json", "g/f3.txt", "h.bin"] as const;
  const path = random.once(6) ? random.unicode() : random.once(3) ? random.pick(usual) : random.pick(PATHS);
  const type = random.mostly("file", "directory", "symlink", "other");
  const size = random.pick([0, 10, 100, 200, 201, 2001, 1_073_741_824, 1_073_741_825]);
  const method = random.pick([0, 8, 8, 12]);
  const isStored = method === 0 && !random.once(10);
  return {
    path: type === "directory" && !random.once(5) ? `${path}/` : path,
    type,
    encrypted: random.once(30),
    data_descriptor: random.once(30),
    local_name_equal: !random.once(30),
    local_sizes_equal: !random.once(30),
    method,
    compressed_size: isStored ? size : random.pick([0, 1, 10, 5_368_710]),
    size,
    crc32: "0badcafe",
    sha256: random.mostly("a".repeat(64), "b".repeat(64)),
    local_offset: random.once(30) ? 0 : offset,
    local_length: random.integer(30, 60),
  };
}

function ceilings(random: Random): JsonObject[] {
  const given = Object.entries(ARCHIVE_CEILINGS).map(([name, max]): JsonObject => {
    if (random.once(40)) return { name, max: max + 1 };
    return { name, max: random.once(6) ? random.pick([0, 1, 2, 10, 100, 200]) : max };
  });
  if (random.once(30)) given.pop();
  if (random.once(30)) given.push({ name: "entries", max: 1 });
  return random.once(3) ? given.toReversed() : given;
}
