/** What is wrong with an event's data, as a caller who published them is told. */
import type { Issue } from "../shared/refusal.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { brokenDataRule } from "./event-data.ts";

/**
 * Issues below `at`: of the rules for all data first, and only then of the version's schema.
 * `exact` is what is sent, where that is not `data`.
 */
export function dataIssues(
  entry: Pick<CatalogEntry, "type" | "version">,
  data: unknown,
  { catalog, at, exact = data }: { catalog: Catalog; at: readonly string[]; exact?: unknown },
): Issue[] {
  const rule = brokenDataRule(exact);
  if (rule !== null) return [{ path: [...at], message: rule, code: rule }];
  return catalog
    .faultsOf(entry, data)
    .map((fault) => ({ path: [...at, ...fault.path], message: fault.message, code: "schema" }));
}

/** Data are members by name, not a list. */
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
