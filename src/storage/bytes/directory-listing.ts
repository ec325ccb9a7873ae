/**
 * Walks a folder in the order in which an object store lists keys.
 *
 * That order is by the bytes of whole keys, not by names of one level: `a.txt`
 * comes before `a/b`, since "." is less than "/". A level may hold any number
 * of names; only the next few of them are kept at a time.
 */
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../shared/error-code.ts";
import { compareBytes } from "../rules/values.ts";

const NAMES_AT_ONCE = 20_000;

/** `prefix` ends with a slash, or is empty. */
export type WalkRange = { after: string | null; prefix: string };

type Entry = { name: string; isFolder: boolean };

/**
 * The keys of regular files below `root`, ascending and behind `after`. Symbolic
 * links and special files are neither followed nor named. What vanishes
 * meanwhile is left out.
 *
 * @param namesAtOnce bounds the memory for one level.
 */
export async function* walkKeys(
  root: string,
  { after, prefix }: WalkRange,
  namesAtOnce = NAMES_AT_ONCE,
): AsyncGenerator<string> {
  yield* walkFolder({ root, namesAtOnce }, prefix, after ?? "");
}

/** A walk that is taken a key at a time, with pauses of any length. */
export type KeyWalk = {
  /** The last key that it gave, or the one that it began behind. */
  after: string | null;
  beganAtMs: number;
  /** Null at the end. */
  next(): Promise<string | null>;
  hasMore(): Promise<boolean>;
};

/** As {@link walkKeys}. What appears after the beginning may be left out. */
export function beginWalk(root: string, range: WalkRange): KeyWalk {
  const keys = walkKeys(root, range);
  let ahead: string | null = null;
  const pull = async (): Promise<string | null> => (await keys.next()).value ?? null;
  return {
    after: range.after,
    beganAtMs: performance.now(),
    async next() {
      const key = ahead ?? (await pull());
      ahead = null;
      this.after = key ?? this.after;
      return key;
    },
    async hasMore() {
      ahead ??= await pull();
      return ahead !== null;
    },
  };
}

async function* walkFolder(
  walk: { root: string; namesAtOnce: number },
  prefix: string,
  after: string,
): AsyncGenerator<string> {
  let last: string | null = null;
  for (;;) {
    const entries = await nextEntries(join(walk.root, prefix), walk.namesAtOnce, (place) => {
      const isNew = last === null || compareBytes(place, last) > 0;
      return isNew && mayHoldKeysAfter(`${prefix}${place}`, after);
    });
    for (const entry of entries) {
      if (entry.isFolder) yield* walkFolder(walk, `${prefix}${placeOf(entry)}`, after);
      else yield `${prefix}${entry.name}`;
    }
    const end = entries.at(-1);
    if (end === undefined || entries.length < walk.namesAtOnce) return;
    last = placeOf(end);
  }
}

/** A folder sorts among keys as its name with a slash. */
function placeOf({ name, isFolder }: Entry): string {
  return isFolder ? `${name}/` : name;
}

function mayHoldKeysAfter(path: string, after: string): boolean {
  return compareBytes(path, after) > 0 || (path.endsWith("/") && after.startsWith(path));
}

/** The first entries of a folder in the order of their keys, of those wanted. */
async function nextEntries(
  folder: string,
  count: number,
  isWanted: (place: string) => boolean,
): Promise<Entry[]> {
  let least: Entry[] = [];
  const keepLeast = () => {
    least.sort((left, right) => compareBytes(placeOf(left), placeOf(right)));
    least = least.slice(0, count);
  };
  try {
    for await (const found of await opendir(folder)) {
      const entry = { name: found.name, isFolder: found.isDirectory() };
      // A name that is no UTF-8 comes with replacement characters: it could not be asked for again.
      const isNameable = (found.isFile() || entry.isFolder) && !entry.name.includes("\uFFFD");
      if (isNameable && isWanted(placeOf(entry))) least.push(entry);
      if (least.length >= 2 * count) keepLeast();
    }
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  keepLeast();
  return least;
}

/** Whether a file or folder is not there, or its parent is none. */
export function isAbsent(error: unknown): boolean {
  return hasCode(error, "ENOENT", "ENOTDIR");
}
