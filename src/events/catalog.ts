/**
 * The event catalog: the types that producers may publish and endpoints may
 * subscribe to. Read once at start from the operator's file, or built in.
 */
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { ConfigError } from "../shared/config-error.ts";
import { builtInCatalog, serviceEvents } from "./built-in-catalog.ts";
import { isEventTypeName, patternsMatching } from "./subscription.ts";

const exampleObject = z.record(z.string(), z.unknown());

export const catalogEntrySchema = z.object({
  type: z
    .string()
    .max(255)
    .refine(isEventTypeName, "must be dotted segments of letters, digits and underscores"),
  title: z.string().max(200),
  description: z.string().max(2000),
  group: z.string().max(100),
  payloadShape: exampleObject.describe("Example of the event's data; a test dispatch sends it."),
  schema: exampleObject.optional().describe("JSON Schema 2020-12 that published data must satisfy."),
  deprecated: z.boolean().default(false),
});

export type CatalogEntry = z.infer<typeof catalogEntrySchema>;

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
  const entries = file === undefined ? builtInCatalog : readCatalogFile(file);
  return makeCatalog(entries, file ?? "the built-in catalog");
}

function makeCatalog(operatorEntries: readonly CatalogEntry[], source: string): Catalog {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
  const byType = new Map<string, CatalogEntry>();
  const checks = new Map<string, ValidateFunction>();
  const patterns = new Set<string>();
  const own = serviceEvents.filter((event) => !operatorEntries.some((entry) => entry.type === event.type));
  for (const entry of [...operatorEntries, ...own]) {
    if (byType.has(entry.type)) throw new ConfigError(`${source}: the type ${entry.type} stands twice`);
    byType.set(entry.type, entry);
    for (const pattern of patternsMatching(entry.type)) patterns.add(pattern);
    if (entry.schema === undefined) continue;
    try {
      checks.set(entry.type, ajv.compile(entry.schema));
    } catch (error) {
      throw new ConfigError(`${source}: the schema of ${entry.type} is not valid: ${messageOf(error)}`);
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

function readCatalogFile(file: string): CatalogEntry[] {
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
  const parsed = z.array(catalogEntrySchema).safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => {
    const line = lineOf(document, lines, issue.path);
    return `${file}:${line}: ${issue.path.join(".")} ${issue.message}`;
  });
  throw new ConfigError(faults.join("\n"));
}

/** The line of the nearest node that exists on the path, since a missing member has none of its own. */
function lineOf(document: ReturnType<typeof parseDocument>, lines: LineCounter, path: PropertyKey[]): number {
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
