/**
 * The event catalog: the types that producers may publish and endpoints may
 * subscribe to. Read once at start from the operator's file, or built in.
 */
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { ConfigError } from "../shared/config-error.ts";
import { catalogEntrySchema, type CatalogEntry } from "./catalog-entry.ts";
import { builtInCatalog, serviceEvents } from "./built-in-catalog.ts";
import { patternsMatching } from "./subscription.ts";

/** One fault of an event's data against its type's schema. */
export type DataFault = { path: string[]; message: string };

export type Catalog = {
  entries: readonly CatalogEntry[];
  find(type: string): CatalogEntry | undefined;
  /** True when the pattern matches at least one type of the catalog. */
  knowsPattern(pattern: string): boolean;
  /** Faults of the data against the type's schema; empty when it has none or the data satisfy it. */
  faultsOf(type: string, data: unknown): DataFault[];
};

/** Reads the operator's catalog (JSON or YAML), or the built-in one; throws ConfigError naming file, line and fault. */
export function loadCatalog(file: string | undefined): Catalog {
  if (file !== undefined) return makeCatalog(readCatalogFile(file));
  return makeCatalog({ entries: builtInCatalog, placeOf: () => "the built-in catalog" });
}

type CatalogSource = {
  entries: readonly CatalogEntry[];
  /** Where a part of an entry stands, as an operator looks it up: file and line. */
  placeOf(path: readonly PropertyKey[]): string;
};

function makeCatalog({ entries: operatorEntries, placeOf }: CatalogSource): Catalog {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const byType = new Map<string, CatalogEntry>();
  const checks = new Map<string, ValidateFunction>();
  const patterns = new Set<string>();
  const own = serviceEvents.filter((event) => !operatorEntries.some((entry) => entry.type === event.type));
  for (const [index, entry] of [...operatorEntries, ...own].entries()) {
    if (byType.has(entry.type))
      throw new ConfigError(`${placeOf([index, "type"])}: the type ${entry.type} stands twice`);
    byType.set(entry.type, entry);
    for (const pattern of patternsMatching(entry.type)) patterns.add(pattern);
    if (entry.schema === undefined) continue;
    try {
      checks.set(entry.type, ajv.compile(entry.schema));
    } catch (error) {
      const place = placeOf([index, "schema"]);
      throw new ConfigError(`${place}: the schema of ${entry.type} is not valid: ${messageOf(error)}`);
    }
  }
  return {
    entries: [...byType.values()],
    find: (type) => byType.get(type),
    knowsPattern: (pattern) => patterns.has(pattern),
    faultsOf(type, data) {
      const check = checks.get(type);
      if (check === undefined || check(data)) return [];
      return (check.errors ?? []).map((fault) => ({
        path: fault.instancePath.split("/").slice(1),
        message: fault.message ?? "does not satisfy the schema",
      }));
    },
  };
}

function readCatalogFile(file: string): CatalogSource {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`EVENT_CATALOG: cannot read ${file}: ${messageOf(error)}`);
  }
  const lines = new LineCounter();
  // JSON is YAML, so that one reader with positions serves both.
  const document = parseDocument(text, { lineCounter: lines });
  const [syntaxError] = document.errors;
  if (syntaxError !== undefined) {
    throw new ConfigError(`${file}:${lines.linePos(syntaxError.pos[0]).line}: ${syntaxError.message}`);
  }
  const placeOf = (path: readonly PropertyKey[]): string => `${file}:${lineOf(document, lines, path)}`;
  const parsed = z.array(catalogEntrySchema).safeParse(document.toJS());
  if (parsed.success) return { entries: parsed.data, placeOf };
  const faults = parsed.error.issues.map(
    (issue) => `${placeOf(issue.path)}: ${issue.path.join(".")} ${issue.message}`,
  );
  throw new ConfigError(faults.join("\n"));
}

/** The line of the nearest node that exists on the path, since a missing member has none of its own. */
function lineOf(
  document: ReturnType<typeof parseDocument>,
  lines: LineCounter,
  path: readonly PropertyKey[],
): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = z.object({ range: z.tuple([z.number()], z.number()) }).safeParse(node);
    if (range.success) return lines.linePos(range.data.range[0]).line;
  }
  return 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
