/** What an endpoint may subscribe to, type by type. */
import type { EventType } from "../api/client.ts";

/** `isVersion`: the pattern names one version, and stays with it. Otherwise it is the newest that is no preview. */
export type Choice = { pattern: string; entry: EventType; isVersion: boolean };

/** Each type once, and each of its versions where it has several. */
export function choicesOf(entries: readonly EventType[]): Choice[] {
  return [...Map.groupBy(entries, ({ type }) => type)].flatMap(([type, versions]) => {
    const sorted = versions.toSorted((one, other) => other.version - one.version);
    const newest = sorted.find(({ preview }) => !preview);
    const own = newest === undefined ? [] : [{ pattern: type, entry: newest, isVersion: false }];
    if (newest !== undefined && sorted.length === 1) return own;
    return own.concat(
      sorted.map((entry) => ({ pattern: `${type}@${entry.version}`, entry, isVersion: true })),
    );
  });
}

export function isMatch({ pattern, entry }: Choice, q: string): boolean {
  const part = q.trim().toLowerCase();
  return [pattern, entry.title, entry.description, entry.group].some((text) =>
    text.toLowerCase().includes(part),
  );
}

/** `invoice.*` for `invoice.paid`; the type itself where it has no dot. */
export function prefixOf(type: string): string {
  const dot = type.indexOf(".");
  return dot === -1 ? type : `${type.slice(0, dot)}.*`;
}
