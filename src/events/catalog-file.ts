/** The operator's catalog file: JSON or YAML, with every fault told by file and line. */
import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import { ConfigError, UnreadableFileError } from "../shared/config-error.ts";
import { messageOf } from "../shared/message-of.ts";
import { nearName } from "../shared/near-name.ts";
import { catalogEntryMembers, catalogEntrySchema, type CatalogEntry } from "./catalog-entry.ts";

/** As in OpenAPI: members for the operator's own tools. */
const OWN_PREFIX = "x-";
const MEMBERS = Object.keys(catalogEntryMembers.shape);

export type CatalogSource = {
  entries: readonly CatalogEntry[];
  /** The place of a part of an entry: file and line. */
  placeOf: (path: readonly PropertyKey[]) => string;
};

/** A JSON or YAML file whose parts know where they stand. */
export type LinedFile = { value: unknown; placeOf: CatalogSource["placeOf"] };

/** Throws ConfigError naming file, line and fault. */
export function readCatalogFile(file: string): CatalogSource {
  const { value, placeOf } = readLinedFile(file, "EVENT_CATALOG");
  const parsed = z.array(catalogEntrySchema).safeParse(value);
  const slips = slipsIn(value, placeOf);
  if (parsed.success && slips.length === 0) return { entries: parsed.data, placeOf };
  const faults = (parsed.error?.issues ?? []).map(
    ({ path, message }) =>
      `${placeOf(path)}: ${path.join(".")} ${message.endsWith(", received undefined") ? "is missing" : message}`,
  );
  throw new ConfigError([...slips, ...faults].join("\n"));
}

/** Ignored, a misspelled `schema` would let any data through. */
function slipsIn(value: unknown, placeOf: CatalogSource["placeOf"]): string[] {
  const entries = z.array(z.record(z.string(), z.unknown())).safeParse(value).data ?? [];
  return entries.flatMap((entry, index) =>
    Object.keys(entry).flatMap((name) => {
      const meant = name.startsWith(OWN_PREFIX) ? null : nearName(name, MEMBERS);
      return meant === null ? [] : [`${placeOf([index, name])}: did you mean ${meant} by ${name}?`];
    }),
  );
}

/**
 * Throws ConfigError naming file, line and fault.
 *
 * @param what is read, for a file that cannot be
 */
export function readLinedFile(file: string, what: string): LinedFile {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UnreadableFileError(`${what}: cannot read ${file}: ${messageOf(error)}`);
  }
  const lines = new LineCounter();
  // JSON is YAML, so that one reader with positions serves both.
  const document = parseDocument(text, { lineCounter: lines });
  const [syntaxError] = document.errors;
  if (syntaxError !== undefined) {
    throw new ConfigError(`${file}:${lines.linePos(syntaxError.pos[0]).line}: ${syntaxError.message}`);
  }
  return {
    value: valueOf(document, file),
    placeOf: (path) => `${file}:${lineOf(document, lines, path)}`,
  };
}

/** Aliases that would fill the memory, or that stand for nothing, are found only here. */
function valueOf(document: ReturnType<typeof parseDocument>, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new ConfigError(`${file}:1: ${messageOf(error)}`);
  }
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
