/**
 * The event catalog: the types that producers may publish and endpoints may
 * subscribe to, each in one or more versions. From the operator's file, or built in.
 */
import { ConfigError } from "../shared/config-error.ts";
import { builtInCatalog, serviceEvents } from "./built-in-catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import type { CatalogSource } from "./catalog-file.ts";
import type { DataCheck, DataFault } from "./data-check.ts";
import { parseVersionedType, patternsMatching, versionedType } from "./subscription.ts";
import { messageOf } from "../shared/message-of.ts";

/** A type and its versions. */
export type CatalogType = {
  /** The version that the bare type means: the newest that is no preview. */
  newest: CatalogEntry;
  /** By number. */
  versions: ReadonlyMap<number, CatalogEntry>;
};

export type Catalog = {
  entries: readonly CatalogEntry[];
  types: ReadonlyMap<string, CatalogType>;
  /** An entry by its type, `a.b` for the newest version that is no preview, or `a.b@2`. */
  find(name: string): CatalogEntry | undefined;
  /** True when the pattern matches at least one type of the catalog. */
  knowsPattern(pattern: string): boolean;
  /** Faults of the data against the schema of a version; empty when it has none or the data satisfy it. */
  faultsOf(entry: Pick<CatalogEntry, "type" | "version">, data: unknown): DataFault[];
  /** Examples that do not satisfy their own schema, each with file and line: no event can be as a test dispatch shows it. */
  findFaultyExamples(): string[];
};

/**
 * Reads the operator's catalog (JSON or YAML), or the built-in one; throws
 * ConfigError naming file, line and fault. The reader of files and the checker
 * of schemas are loaded only where they are needed: each costs 10 MB of memory.
 */
export async function loadCatalog(file: string | undefined): Promise<Catalog> {
  if (file === undefined) {
    return makeCatalog({ entries: builtInCatalog, placeOf: () => "the built-in catalog" });
  }
  const { readCatalogFile } = await import("./catalog-file.ts");
  return makeCatalog(readCatalogFile(file));
}

/** A version's name, which no other entry has. */
export function nameOf({ type, version }: Pick<CatalogEntry, "type" | "version">): string {
  return versionedType(type, version);
}

async function makeCatalog(source: CatalogSource): Promise<Catalog> {
  const faults: string[] = [];
  const own = serviceEvents.filter((event) => !source.entries.some((entry) => entry.type === event.type));
  const entries = [...source.entries, ...own];
  const byType = groupByType(entries, source, faults);
  const types = new Map<string, CatalogType>();
  const patterns = new Set<string>();
  for (const [type, versions] of byType) {
    const newest = newestOf([...versions.values()]);
    if (newest !== undefined) types.set(type, { newest, versions });
    else faults.push(`${placeOfType(source, type)}: every version of ${type} is a preview`);
    for (const pattern of patternsMatching(type, [...versions.keys()])) patterns.add(pattern);
  }
  const checks = await compileChecks(source, faults);
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const faultsOf: Catalog["faultsOf"] = (entry, data) => checks.get(nameOf(entry))?.(data) ?? [];
  return {
    entries,
    types,
    find(name) {
      const { type = "", version = null } = parseVersionedType(name) ?? {};
      const found = types.get(type);
      return version === null ? found?.newest : found?.versions.get(version);
    },
    knowsPattern: (pattern) => patterns.has(pattern),
    faultsOf,
    findFaultyExamples: () =>
      source.entries.flatMap((entry, index) =>
        faultsOf(entry, entry.payloadShape).map(
          ({ path, message }) =>
            `${source.placeOf([index, "payloadShape"])}: the example of ${entry.type} breaks its own schema: ${["data", ...path].join(".")} ${message}`,
        ),
      ),
  };
}

/** Adds to `faults` what is listed twice. */
function groupByType(
  entries: readonly CatalogEntry[],
  { placeOf }: CatalogSource,
  faults: string[],
): Map<string, Map<number, CatalogEntry>> {
  const byType = new Map<string, Map<number, CatalogEntry>>();
  for (const [index, entry] of entries.entries()) {
    const versions = byType.get(entry.type) ?? new Map<number, CatalogEntry>();
    if (versions.has(entry.version)) {
      const what = entry.version === 1 ? `the type ${entry.type}` : nameOf(entry);
      faults.push(`${placeOf([index, "type"])}: ${what} is listed twice`);
    }
    byType.set(entry.type, versions.set(entry.version, entry));
  }
  return byType;
}

/** Of the versions of one type; undefined where each is a preview. */
export function newestOf(versions: readonly CatalogEntry[]): CatalogEntry | undefined {
  return versions.filter(({ preview }) => !preview).toSorted((one, other) => other.version - one.version)[0];
}

function placeOfType({ entries, placeOf }: CatalogSource, type: string): string {
  return placeOf([entries.findIndex((entry) => entry.type === type), "type"]);
}

/** Adds to `faults` what is no schema. */
async function compileChecks(
  { entries, placeOf }: CatalogSource,
  faults: string[],
): Promise<Map<string, DataCheck>> {
  const checks = new Map<string, DataCheck>();
  if (entries.every((entry) => entry.schema === undefined)) return checks;
  const { makeDataCheckCompiler } = await import("./data-check.ts");
  const compile = makeDataCheckCompiler();
  for (const [index, entry] of entries.entries()) {
    if (entry.schema === undefined) continue;
    try {
      checks.set(nameOf(entry), compile(entry.schema));
    } catch (error) {
      faults.push(
        `${placeOf([index, "schema"])}: the schema of ${entry.type} is not valid: ${messageOf(error)}`,
      );
    }
  }
  return checks;
}
