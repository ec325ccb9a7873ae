import { closest, distance } from "fastest-levenshtein";

const MAX_EDITS = 2;

/**
 * The known name that `typed` was most likely meant to be: the same letters but for case, `_` and `-`,
 * or one edit for every three letters, two at most. Null for a known name, and for one that is like none.
 */
export function nearName(typed: string, known: readonly string[]): string | null {
  if (known.includes(typed)) return null;
  const byLetters = new Map(known.map((name) => [letters(name), name]));
  const own = letters(typed);
  const nearest = closest(own, [...byLetters.keys()]);
  const edits = Math.min(MAX_EDITS, Math.floor(nearest.length / 3));
  return distance(own, nearest) <= edits ? (byLetters.get(nearest) ?? null) : null;
}

/** By which names are alike. */
export function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
