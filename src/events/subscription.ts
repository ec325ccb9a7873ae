/**
 * Which subscription patterns match which event types. A pattern is an exact
 * type, a prefix followed by `.*` (one or more further segments), or `*`. These
 * mean the newest version of a type that is no preview. A type with `@` and
 * a number means that version, and wins over the other patterns.
 */

const SEGMENTS = "[a-zA-Z0-9_]+(?:\\.[a-zA-Z0-9_]+)*";
export const MAX_VERSION = 999;
const AT_VERSION = "@[1-9][0-9]{0,2}";
export const EVENT_TYPE_PATTERN = `^${SEGMENTS}$`;
export const VERSIONED_TYPE_PATTERN = `^${SEGMENTS}(?:${AT_VERSION})?$`;
export const SUBSCRIPTION_PATTERN = `^(?:\\*|${SEGMENTS}(?:\\.\\*|${AT_VERSION})?)$`;
const TYPE = new RegExp(EVENT_TYPE_PATTERN);
const VERSIONED_TYPE = new RegExp(VERSIONED_TYPE_PATTERN);
const PATTERN = new RegExp(SUBSCRIPTION_PATTERN);

export function isEventTypeName(text: string): boolean {
  return TYPE.test(text);
}

export function isPattern(text: string): boolean {
  return PATTERN.test(text);
}

/** A type, and the version behind its `@`; null where it names none. Null for any other text. */
export function parseVersionedType(text: string): { type: string; version: number | null } | null {
  if (!VERSIONED_TYPE.test(text)) return null;
  const [type = "", version] = text.split("@");
  return { type, version: version === undefined ? null : Number(version) };
}

export function versionedType(type: string, version: number): string {
  return `${type}@${version}`;
}

/** A type, and the versions that an event of it has. */
export type TypeVersions = {
  type: string;
  /** The version that the bare type means. */
  newest: number;
  /** All, that one included. */
  versions: readonly number[];
};

/** Every pattern that matches a type: `a.b.c` gives `*`, `a.*`, `a.b.*`, `a.b.c`, and `a.b.c@1` for each version. */
export function patternsMatching(type: string, versions: readonly number[] = [1]): string[] {
  const patterns = ["*"];
  for (let dot = type.indexOf("."); dot !== -1; dot = type.indexOf(".", dot + 1)) {
    patterns.push(`${type.slice(0, dot)}.*`);
  }
  patterns.push(type);
  for (const version of versions) patterns.push(versionedType(type, version));
  return patterns;
}

/** The version that an endpoint with this subscription gets; null: none. Of two exact ones the newer. */
export function versionFor(
  subscription: readonly string[],
  { type, newest, versions }: TypeVersions,
): number | null {
  const exact = versions.filter((version) => subscription.includes(versionedType(type, version)));
  if (exact.length > 0) return Math.max(...exact);
  const matching = patternsMatching(type, []);
  return subscription.some((pattern) => matching.includes(pattern)) ? newest : null;
}

/** Types of which the subscription names two versions. */
export function typesWithTwoVersions(subscription: readonly string[]): string[] {
  const types = [...new Set(subscription)]
    .map(parseVersionedType)
    .flatMap((named) => (named === null || named.version === null ? [] : [named.type]));
  return [...new Set(types.filter((type, index) => types.indexOf(type) !== index))];
}
