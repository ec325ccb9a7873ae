/**
 * The event catalog: the types that producers may publish and endpoints may
 * subscribe to. Read once at start from the operator's file, or built in.
 */
import { ConfigError } from "../shared/config-error.ts";
import { builtInCatalog, serviceEvents } from "./built-in-catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import type { CatalogSource } from "./catalog-file.ts";
import type { DataCheck, DataFault } from "./data-check.ts";
import { patternsMatching } from "./subscription.ts";

export type Catalog = {
  entries: readonly CatalogEntry[];
  find(type: string): CatalogEntry | undefined;
  /** True when the pattern matches at least one type of the catalog. */
  knowsPattern(pattern: string): boolean;
  /** Faults of the data against the type's schema; empty when it has none or the data satisfy it. */
  faultsOf(type: string, data: unknown): DataFault[];
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

async function makeCatalog(source: CatalogSource): Promise<Catalog> {
  const byType = new Map<string, CatalogEntry>();
  const patterns = new Set<string>();
  const own = serviceEvents.filter((event) => !source.entries.some((entry) => entry.type === event.type));
  for (const [index, entry] of [...source.entries, ...own].entries()) {
    if (byType.has(entry.type)) {
      throw new ConfigError(`${source.placeOf([index, "type"])}: the type ${entry.type} is listed twice`);
    }
    byType.set(entry.type, entry);
    for (const pattern of patternsMatching(entry.type)) patterns.add(pattern);
  }
  const checks = await compileChecks(source);
  return {
    entries: [...byType.values()],
    find: (type) => byType.get(type),
    knowsPattern: (pattern) => patterns.has(pattern),
    faultsOf: (type, data) => checks.get(type)?.(data) ?? [],
  };
}

async function compileChecks({ entries, placeOf }: CatalogSource): Promise<Map<string, DataCheck>> {
  const checks = new Map<string, DataCheck>();
  if (entries.every((entry) => entry.schema === undefined)) return checks;
  const { compileDataCheck } = await import("./data-check.ts");
  for (const [index, { type, schema }] of entries.entries()) {
    if (schema === undefined) continue;
    try {
      checks.set(type, compileDataCheck(schema));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConfigError(`${placeOf([index, "schema"])}: the schema of ${type} is not valid: ${reason}`);
    }
  }
  return checks;
}
