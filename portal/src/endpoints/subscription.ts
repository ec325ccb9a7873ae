/** Which version of an event type an endpoint gets. */
import type { EventType } from "../api/client.ts";

/** What a type stands for where no version is named; undefined where all are previews. */
export function newestOf(versions: readonly EventType[]): EventType | undefined {
  return versions
    .filter(({ preview }) => !preview)
    .toSorted((one, other) => other.version - one.version)
    .at(0);
}

/** `versions` are all entries of one type. A pattern that names a version wins; null: the endpoint gets none. */
export function versionFor(patterns: readonly string[], versions: readonly EventType[]): number | null {
  const exact = versions.filter(({ type, version }) => patterns.includes(`${type}@${version}`));
  if (exact.length > 0) return Math.max(...exact.map(({ version }) => version));
  const newest = newestOf(versions);
  if (newest === undefined) return null;
  const { type, version } = newest;
  const fits = (pattern: string): boolean =>
    pattern === "*" || pattern === type || (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1)));
  return patterns.some(fits) ? version : null;
}

/** `invoice.paid`, or `invoice.paid@2` where the type alone stands for another version. */
export function versionedName({ type, version }: EventType, versions: readonly EventType[]): string {
  return newestOf(versions)?.version === version ? type : `${type}@${version}`;
}
