/**
 * Names inside an archive: what may be unpacked anywhere without surprise.
 *
 * Plain ASCII only, so that no two of them differ merely by case folding or
 * Unicode normalisation, which every system does in its own way and version.
 */
import type { ArchiveEntry } from "./archive-entry.ts";

const SEGMENT = /^[A-Za-z0-9._-]{1,100}$/;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;
const MAX_DEPTH = 8;
const NESTED_ARCHIVE = /\.(?:zip|jar|gz|tgz|tar|7z|rar|xz|bz2|zst)$/;

/** Directories are written `name/`; the slash is no part of the name. */
function entryName(entry: Pick<ArchiveEntry, "path" | "type">): string {
  return entry.type === "directory" && entry.path.endsWith("/") ? entry.path.slice(0, -1) : entry.path;
}

/** Lower case of A to Z only: the other letters are refused, not folded. */
function lowerAscii(value: string): string {
  return value.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Whether the path is already in its only permitted form. It is never repaired. */
export function isNormalPath(entry: Pick<ArchiveEntry, "path" | "type">): boolean {
  const segments = entryName(entry).split("/");
  return segments.length <= MAX_DEPTH && segments.every(isNormalSegment);
}

function isNormalSegment(segment: string): boolean {
  if (!SEGMENT.test(segment) || segment.endsWith(".")) return false;
  const [stem = ""] = segment.split(".");
  return !WINDOWS_DEVICE.test(lowerAscii(stem));
}

/** Whether a file is itself an archive, by its last extension. */
export function isNestedArchive(entry: Pick<ArchiveEntry, "path" | "type">): boolean {
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  return entry.type === "file" && NESTED_ARCHIVE.test(lowerAscii(name));
}

/** The entries that a case-blind file system could not keep apart, or whose file is another's folder. */
export function findCollisions(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const count = new Map<string, number>();
  const folders = new Set<string>();
  for (const entry of entries) {
    const name = lowerAscii(entryName(entry));
    count.set(name, (count.get(name) ?? 0) + 1);
    for (let slash = name.indexOf("/"); slash !== -1; slash = name.indexOf("/", slash + 1)) {
      folders.add(name.slice(0, slash));
    }
  }
  return entries.filter((entry) => {
    const name = lowerAscii(entryName(entry));
    return (count.get(name) ?? 0) > 1 || (entry.type !== "directory" && folders.has(name));
  });
}
