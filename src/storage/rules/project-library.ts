/** What a tenant sees of its artifacts. */
import * as z from "zod";
import { deadlinePhase } from "./evaluate-expiry.ts";
import type { OperationResult } from "./mutations.ts";
import { artifactFilename, type ArtifactKind } from "./object-key.ts";
import { storedObject, type ObjectState, type StoredObject } from "./stored-object.ts";
import { instant, integer, uuid } from "./values.ts";

const libraryCursor = z.strictObject({ available_at: instant, id: uuid });
export type LibraryCursor = z.infer<typeof libraryCursor>;

export const projectLibraryInput = z.strictObject({
  tenant_id: uuid,
  now: instant,
  /** The page's rows and one more, if there is one: that one only proves that more remain. */
  rows: z.array(storedObject).max(1000),
  after: libraryCursor.nullable(),
  limit: integer(1, 100),
});
export type ProjectLibraryInput = z.infer<typeof projectLibraryInput>;

export type LibraryStatus = "ready" | "expiring" | "expired" | "unavailable";

/** Names no place in storage: neither bucket, key, version nor revision. */
export interface LibraryItem {
  id: string;
  delivery_id: string;
  attempt: number;
  kind: ArtifactKind;
  filename: string;
  content_type: string;
  size: number;
  sha256: string;
  status: LibraryStatus;
  available_at: string;
  expires_at: string | null;
  downloadable: boolean;
}

export type ProjectLibraryOutput =
  | { code: "OK"; items: LibraryItem[]; next: LibraryCursor | null }
  | { code: "TENANT_LEAK"; items: never[]; next: null };

interface Candidate {
  row: StoredObject;
  availableAt: string;
  status: LibraryStatus;
}

/**
 * Projects one page, newest first. A row of another tenant fails the whole page:
 * dropping it would hide that a query lost its tenant condition.
 */
export function projectLibrary(input: ProjectLibraryInput): OperationResult<ProjectLibraryOutput> {
  if (input.rows.some((row) => row.tenant_id !== input.tenant_id)) {
    return { output: { code: "TENANT_LEAK", items: [], next: null }, mutations: [] };
  }
  const candidates = input.rows.flatMap((row) => toCandidate(row, input.now));
  const remaining = highestAttempts(candidates)
    .toSorted(byNewest)
    .filter((candidate) => isAfter(candidate, input.after));
  const items = remaining.slice(0, input.limit).map(toItem);
  const last = items.at(-1);
  const hasMore = remaining.length > items.length && last !== undefined;
  const next = hasMore ? { available_at: last.available_at, id: last.id } : null;
  return { output: { code: "OK", items, next }, mutations: [] };
}

function toCandidate(row: StoredObject, now: string): Candidate[] {
  const status = visibleStatus(row, now);
  if (status === null || row.available_at === null) return [];
  return [{ row, availableAt: row.available_at, status }];
}

/** Null is hidden; an available artifact's status follows its deadline. */
const STATUS_OF_STATE: Readonly<Record<ObjectState, LibraryStatus | null>> = {
  pending: null,
  available: "ready",
  missing: "unavailable",
  quarantined: null,
  expired: "expired",
  purged: null,
};

function visibleStatus(row: StoredObject, now: string): LibraryStatus | null {
  const status = STATUS_OF_STATE[row.state];
  if (status !== "ready") return status;
  const { phase } = deadlinePhase(row, now);
  if (phase === "EXPIRED") return "expired";
  return phase === "EXPIRING" ? "expiring" : "ready";
}

function highestAttempts(candidates: Candidate[]): Candidate[] {
  const highest = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const place = `${candidate.row.delivery_id} ${candidate.row.kind}`;
    const known = highest.get(place);
    if (known === undefined || supersedes(candidate.row, known.row)) highest.set(place, candidate);
  }
  return [...highest.values()];
}

/** Two buckets may hold the same attempt during a move; the lower id then represents both. */
function supersedes(row: StoredObject, known: StoredObject): boolean {
  return row.attempt === known.attempt ? row.id < known.id : row.attempt > known.attempt;
}

function byNewest(left: Candidate, right: Candidate): number {
  if (left.availableAt !== right.availableAt) return left.availableAt > right.availableAt ? -1 : 1;
  if (left.row.id === right.row.id) return 0;
  return left.row.id < right.row.id ? -1 : 1;
}

function isAfter({ availableAt, row }: Candidate, after: LibraryCursor | null): boolean {
  if (after === null || availableAt < after.available_at) return true;
  return availableAt === after.available_at && row.id > after.id;
}

function toItem({ row, availableAt, status }: Candidate): LibraryItem {
  return {
    id: row.id,
    delivery_id: row.delivery_id,
    attempt: row.attempt,
    kind: row.kind,
    filename: artifactFilename(row),
    content_type: row.content_type,
    size: row.size,
    sha256: row.sha256,
    status,
    available_at: availableAt,
    expires_at: row.hold ? null : row.deadline,
    downloadable: status === "ready" || status === "expiring",
  };
}
