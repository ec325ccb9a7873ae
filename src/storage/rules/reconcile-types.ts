/** The page that reconciling reads, and the words it answers in. */
import * as z from "zod";
import type { GrantInsert, InstantUpdate, MarkClass, Mutation } from "./mutations.ts";
import { storedObject } from "./stored-object.ts";
import { bucketName, etag, instant, integer, listedKey, sizeBytes, uuid } from "./values.ts";

/** The most rows, objects or marks of one page. */
const MAX_PAGE = 1000;
/** Leaves room above it, so that a page's events never pass the safe integers. */
const MAX_FIRST_SEQUENCE = 9_000_000_000_000_000;

const markClass = z.enum(["adoptable", "row_without_object", "object_without_row", "identity_mismatch"]);

export const listedObject = z.strictObject({
  key: listedKey,
  size: sizeBytes,
  etag,
  last_modified: instant,
});
export type ListedObject = z.infer<typeof listedObject>;

/** A standing suspicion: what seemed wrong with a key, since when, and which run said so. */
export const mark = z.strictObject({
  key: listedKey,
  class: markClass,
  first_seen_at: instant,
  run_id: uuid,
});
export type Mark = z.infer<typeof mark>;

export const reconcileObjectsInput = z.strictObject({
  run: z.strictObject({
    run_id: uuid,
    next_sequence: integer(1, MAX_FIRST_SEQUENCE),
    batch_size: integer(1, MAX_PAGE),
    max_destructive: integer(0, 100),
  }),
  now: instant,
  bucket: bucketName,
  after: listedKey.nullable(),
  rows: z.array(storedObject).max(MAX_PAGE),
  rows_truncated: z.boolean(),
  objects: z.array(listedObject).max(MAX_PAGE),
  objects_truncated: z.boolean(),
  marks: z.array(mark).max(MAX_PAGE),
});
export type ReconcileObjectsInput = z.infer<typeof reconcileObjectsInput>;

/** How a key's row and object stand to each other. */
export type KeyClass = MarkClass | "consistent" | "healable" | "purge_due" | "purged_due" | "foreign";

/** What was made of it in this pass. */
export type Decision =
  | "ignored"
  | "none"
  | "recovered"
  | "in_flight"
  | "suspect"
  | "awaiting"
  | "deferred"
  | "rearmed"
  | "missing"
  | "quarantined"
  | "purge"
  | "healed"
  | "purged";

export type ReconcileEventType =
  | "object.suspected"
  | "object.revalidate"
  | "object.missing"
  | "object.quarantined"
  | "object.orphan_purged"
  | "object.listing_disagrees"
  | "object.recovered"
  | "object.healed"
  | "object.purged"
  | "object.purge_confirmed";

export interface ReconcileEvent {
  sequence: number;
  type: ReconcileEventType;
  key: string;
}

export type ReconcileMutation = Exclude<Mutation, GrantInsert | InstantUpdate>;

export interface ReconcileObjectsOutput {
  code: "OK" | "BATCH_INVALID" | "HALTED";
  decisions: { key: string; class: KeyClass; decision: Decision }[];
  events: ReconcileEvent[];
  next_cursor: string | null;
  pass_complete: boolean;
  next_sequence: number;
}
