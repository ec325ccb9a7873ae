/** When deprecated versions of event types end, as headers of the list that has them. Pure. */
import type { CatalogEntry } from "../events/catalog-entry.ts";

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of the version that was deprecated first, and that ends first. */
export function deprecationHeaders(
  entries: readonly Pick<CatalogEntry, "deprecated_since" | "sunset">[],
): Record<string, string> {
  const since = earliest(entries.map((entry) => entry.deprecated_since));
  const end = earliest(entries.map(({ sunset }) => sunset));
  return {
    ...(since === null ? {} : { deprecation: `@${Math.floor(since / 1000)}` }),
    ...(end === null ? {} : { sunset: new Date(end).toUTCString() }),
  };
}

function earliest(times: readonly (string | undefined)[]): number | null {
  const given = times.filter((time) => time !== undefined).map(Date.parse);
  return given.length === 0 ? null : Math.min(...given);
}
