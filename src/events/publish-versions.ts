/** Which versions of its type a published event has, and what is wrong with them. Pure. */
import type { Issue } from "../shared/refusal.ts";
import type { Catalog, CatalogType } from "./catalog.ts";
import { dataIssues } from "./data-issues.ts";
import type { PublishInput } from "./publish-input.ts";

/** The newest version that is no preview, and the data to write of each version. */
export type JudgedVersions = { issues: Issue[]; newest: number; versions: Map<number, unknown> };

/**
 * `data` is the newest version, unless `versions` has it. Every version of the
 * catalog is needed, but for previews: otherwise endpoints that name it would
 * miss the event unnoticed.
 */
export function judgeVersions(input: PublishInput, catalog: Catalog): JudgedVersions {
  const { type, data, versions: others = {}, exact = {} } = input;
  const known = catalog.types.get(type);
  const versions = new Map<number, unknown>();
  if (known === undefined) return { issues: [unknown(["type"], "event_type")], newest: 1, versions };
  const newest = known.newest.version;
  const issues = missing(input, known);
  for (const [name, given] of Object.entries(others)) {
    const entry = known.versions.get(Number(name));
    const at = ["versions", name];
    const sent = exact.versions?.[name] ?? given;
    issues.push(
      ...(entry === undefined
        ? [unknown(at, "version")]
        : dataIssues(entry, given, { catalog, at, exact: sent })),
    );
    versions.set(Number(name), sent);
  }
  if (data !== undefined) {
    const sent = exact.data ?? data;
    issues.push(...dataIssues(known.newest, data, { catalog, at: ["data"], exact: sent }));
    versions.set(newest, sent);
  }
  return { issues, newest, versions };
}

function missing({ data, versions = {} }: PublishInput, { newest, versions: known }: CatalogType): Issue[] {
  const isNewestGiven = Object.hasOwn(versions, newest.version);
  if (isNewestGiven && data !== undefined) {
    const message = `version ${newest.version} is what data is`;
    return [{ path: ["versions", String(newest.version)], message, code: "given_twice" }];
  }
  const issues = [...known.values()]
    .filter((entry) => entry !== newest && !entry.preview && !Object.hasOwn(versions, entry.version))
    .map(({ version }) => ({
      path: ["versions", String(version)],
      message: "is required",
      code: "required",
    }));
  if (isNewestGiven || data !== undefined) return issues;
  return [{ path: ["data"], message: "must be an object", code: "required" }, ...issues];
}

function unknown(path: string[], what: "event_type" | "version"): Issue {
  return { path, message: `unknown_${what}`, code: `unknown_${what}` };
}
