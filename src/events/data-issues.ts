/** What is wrong with an event's data, as a caller who published them is told. */
import type { Issue } from "../shared/refusal.ts";
import type { Catalog } from "./catalog.ts";
import { brokenDataRule } from "./event-data.ts";

/** Issues below `data`: of the rules for all data first, and only then of the type's schema. */
export function dataIssues(type: string, data: unknown, catalog: Catalog): Issue[] {
  const rule = brokenDataRule(data);
  if (rule !== null) return [{ path: ["data"], message: rule, code: rule }];
  return catalog
    .faultsOf(type, data)
    .map((fault) => ({ path: ["data", ...fault.path], message: fault.message, code: "schema" }));
}

/** Data are members by name, not a list. */
export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
