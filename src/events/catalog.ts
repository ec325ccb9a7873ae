/**
 * The event catalog: the types that producers may publish and endpoints may
 * subscribe to. From the operator's file, or built in.
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
  const faults: string[] = [];
  for (const [index, entry] of [...source.entries, ...own].entries()) {
    if (byType.has(entry.type)) {
      faults.push(`${source.placeOf([index, "type"])}: the type ${entry.type} is listed twice`);
    }
    byType.set(entry.type, entry);
    for (const pattern of patternsMatching(entry.type)) patterns.add(pattern);
  }
  const checks = await compileChecks(source, faults);
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return {
    entries: [...byType.values()],
    find: (type) => byType.get(type),
    knowsPattern: (pattern) => patterns.has(pattern),
    faultsOf: (type, data) => checks.get(type)?.(data) ?? [],
  };
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
  for (const [index, { type, schema }] of entries.entries()) {
    if (schema === undefined) continue;
    try {
      checks.set(type, compile(schema));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      faults.push(`${placeOf([index, "schema"])}: the schema of ${type} is not valid: ${reason}`);
    }
  }
  return checks;
}
