/**
 * What is known beyond a listing, put into a page before the rules judge it.
 *
 * A listing shows current objects. The version of an erased artifact may lie
 * under a mark of deletion, where no listing shows it: it is looked for by its
 * version and shown to the rules, so that it is deleted before its row is called
 * purged. A key that must be left alone is shown as touched just now, which
 * the rules leave in flight.
 */
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import type { ListedObject, ReconcileObjectsInput } from "../rules/reconcile-types.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { toMs } from "../rules/instants.ts";
import { CONFIRM_MS } from "../rules/reconcile-judge.ts";
import { compareBytes } from "../rules/values.ts";

/** Adds the versions of expired rows that the listing hides; of those up to the horizon. */
export async function showHiddenVersions(
  bucket: Bucket,
  input: ReconcileObjectsInput,
  horizon: string | null,
): Promise<void> {
  const listed = new Set(input.objects.map(({ key }) => key));
  const hidden: ListedObject[] = [];
  for (const row of input.rows) {
    const isJudged = horizon === null || compareBytes(row.key, horizon) <= 0;
    if (row.state !== "expired" || listed.has(row.key) || !isJudged) continue;
    if (await mayBeThere(bucket, row)) {
      hidden.push({ key: row.key, size: row.size, etag: row.etag, last_modified: row.state_since });
    }
  }
  if (hidden.length === 0) return;
  input.objects = [...input.objects, ...hidden].toSorted((left, right) => compareBytes(left.key, right.key));
}

/** Unknown is shown to the rules as there: they look again, and put the decision off. */
async function mayBeThere(bucket: Bucket, { key, version_id }: StoredObject): Promise<boolean> {
  try {
    return (await bucket.head({ bucket: bucket.name, key, version_id })).found;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return true;
    throw error;
  }
}

/**
 * Leaves alone what is held, and objects without a row that no look for rows
 * which lost them has cleared.
 */
export function withhold(input: ReconcileObjectsInput, examinedOrphans: ReadonlySet<string>): void {
  const { now } = input;
  input.rows = input.rows.map((row) =>
    row.hold && row.state === "expired" ? { ...row, state_since: now } : row,
  );
  const confirmable = input.marks.filter(
    (mark) => mark.class === "object_without_row" && toMs(now) - toMs(mark.first_seen_at) >= CONFIRM_MS,
  );
  const suspected = new Set(confirmable.map(({ key }) => key));
  input.objects = input.objects.map((object) =>
    suspected.has(object.key) && !examinedOrphans.has(object.key)
      ? { ...object, last_modified: now }
      : object,
  );
}
