/**
 * Is a ZIP safe to hand out, and exactly what was promised?
 *
 * Judged from its metadata alone (both headers of each entry), before a byte is
 * inflated. Who inflates later counts again against the same ceilings: declared
 * sizes are only claims.
 */
import { Buffer } from "node:buffer";
import * as z from "zod";
import { archiveEntry, archivePath, type ArchiveEntry } from "./archive-entry.ts";
import { findCollisions, isNestedArchive, isNormalPath } from "./archive-path.ts";
import type { OperationResult } from "./mutations.ts";
import { objectState } from "./stored-object.ts";
import { compareBytes, integer, sha256, sizeBytes, uuid } from "./values.ts";

const MAX_ENTRIES = 10_000;
/** The largest value of each ceiling; an input may lower it, never raise it. */
export const ARCHIVE_CEILINGS = {
  entries: 10_000,
  entry_bytes: 1_073_741_824,
  total_bytes: 4_294_967_296,
  entry_ratio: 200,
  path_bytes: 240,
} as const;

export const ceilingName = z.enum(["entries", "entry_bytes", "total_bytes", "entry_ratio", "path_bytes"]);
export type CeilingName = z.infer<typeof ceilingName>;

export const validateArchiveInput = z.strictObject({
  tenant_id: uuid,
  delivery_id: uuid,
  ignore_directories: z.boolean(),
  container: z.strictObject({
    prefix_bytes: sizeBytes,
    trailing_bytes: sizeBytes,
    comment_bytes: integer(0, 65_535),
    disks: integer(0, 65_535),
    directory_offset: sizeBytes,
  }),
  entries: z.array(archiveEntry).max(MAX_ENTRIES),
  ceilings: z.array(z.strictObject({ name: ceilingName, max: sizeBytes })).max(16),
  manifest: z
    .array(z.strictObject({ path: archivePath, size: sizeBytes, sha256, source_id: uuid }))
    .max(MAX_ENTRIES),
  sources: z
    .array(
      z.strictObject({
        id: uuid,
        tenant_id: uuid,
        delivery_id: uuid,
        state: objectState,
        size: sizeBytes,
        sha256,
      }),
    )
    .max(MAX_ENTRIES),
});
export type ValidateArchiveInput = z.infer<typeof validateArchiveInput>;

/** In the order in which findings are reported: by rule, then alphabetically. */
const VIOLATION_RULE = {
  CONTAINER: 1,
  PATH: 2,
  COLLISION: 3,
  DESCRIPTOR: 4,
  ENCRYPTED: 4,
  ENTRY_TYPE: 4,
  HEADER_MISMATCH: 4,
  METHOD: 4,
  NESTED: 4,
  LAYOUT: 5,
  CEILING_SET: 6,
  CEILING: 7,
  MANIFEST: 8,
  SOURCE: 9,
  DIRECTORY_ENTRY: 10,
} as const;
export type ViolationCode = keyof typeof VIOLATION_RULE;

export const ARCHIVE_CODES = [
  "CONTAINER",
  "PATH",
  "COLLISION",
  "DESCRIPTOR",
  "ENCRYPTED",
  "ENTRY_TYPE",
  "HEADER_MISMATCH",
  "METHOD",
  "NESTED",
  "LAYOUT",
  "CEILING_SET",
  "CEILING",
  "MANIFEST",
  "SOURCE",
  "DIRECTORY_ENTRY",
  "VALID",
] as const satisfies readonly (ViolationCode | "VALID")[];

export interface ArchiveViolation {
  code: ViolationCode;
  /** As the archive spells it; null where the archive as a whole is at fault. */
  path: string | null;
  ceiling: CeilingName | null;
}

export interface ValidateArchiveOutput {
  /** The first violation's code. */
  code: ViolationCode | "VALID";
  violations: ArchiveViolation[];
}

/** Reports every violation, sorted by rule, path, code and ceiling. */
export function validateArchive(input: ValidateArchiveInput): OperationResult<ValidateArchiveOutput> {
  const ceilings = readCeilings(input.ceilings);
  const violations = [
    ...judgeContainer(input),
    ...input.entries.flatMap((entry) => judgeEntry(entry, input.ignore_directories)),
    ...findCollisions(input.entries).map(({ path }) => violation("COLLISION", path)),
    ...(ceilings === null ? [violation("CEILING_SET")] : judgeCeilings(input.entries, ceilings)),
    ...judgeManifest(input),
    ...judgeSources(input),
  ].toSorted(compareViolations);
  return { output: { code: violations[0]?.code ?? "VALID", violations }, mutations: [] };
}

function violation(
  code: ViolationCode,
  path: string | null = null,
  ceiling: CeilingName | null = null,
): ArchiveViolation {
  return { code, path, ceiling };
}

function compareViolations(left: ArchiveViolation, right: ArchiveViolation): number {
  return (
    VIOLATION_RULE[left.code] - VIOLATION_RULE[right.code] ||
    compareNullable(left.path, right.path) ||
    compareNullable(left.code, right.code) ||
    compareNullable(left.ceiling, right.ceiling)
  );
}

function compareNullable(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  return compareBytes(left, right);
}

function judgeContainer({ container, entries }: ValidateArchiveInput): ArchiveViolation[] {
  const { prefix_bytes, trailing_bytes, comment_bytes, disks, directory_offset } = container;
  const found: ArchiveViolation[] = [];
  if (prefix_bytes + trailing_bytes + comment_bytes !== 0 || disks !== 1) found.push(violation("CONTAINER"));
  // Entries must tile the space before the directory: an overlap inflates one
  // range twice, a gap hides data that no reader of the directory sees.
  let end = 0;
  const isTiled = entries.every((entry) => {
    const isNext = entry.local_offset === end;
    end += entry.local_length;
    return isNext;
  });
  if (!isTiled || end !== directory_offset) found.push(violation("LAYOUT"));
  return found;
}

function judgeEntry(entry: ArchiveEntry, ignoreDirectories: boolean): ArchiveViolation[] {
  const isStored = entry.method === 0;
  const isDirectory = entry.type === "directory";
  const faults: [code: ViolationCode, isFault: boolean][] = [
    ["PATH", !isNormalPath(entry)],
    ["ENTRY_TYPE", entry.type === "symlink" || entry.type === "other"],
    ["ENCRYPTED", entry.encrypted],
    ["METHOD", (!isStored && entry.method !== 8) || (isStored && entry.compressed_size !== entry.size)],
    ["DESCRIPTOR", entry.data_descriptor],
    ["NESTED", isNestedArchive(entry)],
    ["HEADER_MISMATCH", !entry.local_name_equal || !entry.local_sizes_equal],
    ["DIRECTORY_ENTRY", isDirectory && (!ignoreDirectories || entry.size !== 0)],
  ];
  return faults.filter(([, isFault]) => isFault).map(([code]) => violation(code, entry.path));
}

function readCeilings(ceilings: ValidateArchiveInput["ceilings"]): Record<CeilingName, number> | null {
  const isLawful = ({ name, max }: { name: CeilingName; max: number }) => max <= ARCHIVE_CEILINGS[name];
  if (ceilings.length !== ceilingName.options.length || !ceilings.every(isLawful)) return null;
  const byName = new Map(ceilings.map(({ name, max }) => [name, max]));
  // As many as there are names, and all different: each exactly once.
  return byName.size === ceilings.length ? { ...ARCHIVE_CEILINGS, ...Object.fromEntries(byName) } : null;
}

function judgeCeilings(
  entries: readonly ArchiveEntry[],
  max: Record<CeilingName, number>,
): ArchiveViolation[] {
  const found: ArchiveViolation[] = [];
  const totalBytes = entries.reduce((sum, { size }) => sum + size, 0);
  if (entries.length > max.entries) found.push(violation("CEILING", null, "entries"));
  if (totalBytes > max.total_bytes) found.push(violation("CEILING", null, "total_bytes"));
  for (const { path, size, compressed_size } of entries) {
    if (size > max.entry_bytes) found.push(violation("CEILING", path, "entry_bytes"));
    // Multiplied, not divided: a quotient would round a bomb down to the limit.
    if (size > max.entry_ratio * compressed_size) found.push(violation("CEILING", path, "entry_ratio"));
    if (Buffer.byteLength(path) > max.path_bytes) found.push(violation("CEILING", path, "path_bytes"));
  }
  return found;
}

function describe({ path, size, sha256 }: { path: string; size: number; sha256: string }): string {
  return `${sha256} ${size} ${path}`;
}

function judgeManifest({ entries, manifest }: ValidateArchiveInput): ArchiveViolation[] {
  const files = entries.filter(({ type }) => type === "file").map(describe);
  const promised = manifest.map(describe);
  // Sorted lists, not sets: a line given twice promises two files.
  const isSame = files.length === promised.length && isEqual(files.toSorted(), promised.toSorted());
  return isSame ? [] : [violation("MANIFEST")];
}

function isEqual(left: string[], right: string[]): boolean {
  return left.every((item, index) => item === right[index]);
}

function judgeSources(input: ValidateArchiveInput): ArchiveViolation[] {
  const byId = Map.groupBy(input.sources, ({ id }) => id);
  const found = input.manifest
    .filter((line) => {
      const [source, ...doubles] = byId.get(line.source_id) ?? [];
      return (
        source === undefined ||
        doubles.length > 0 ||
        source.tenant_id !== input.tenant_id ||
        source.delivery_id !== input.delivery_id ||
        source.state !== "available" ||
        source.size !== line.size ||
        source.sha256 !== line.sha256
      );
    })
    .map(({ path }) => violation("SOURCE", path));
  const used = new Set(input.manifest.map(({ source_id }) => source_id));
  if (input.sources.some(({ id }) => !used.has(id))) found.push(violation("SOURCE"));
  return found;
}
