/**
 * One page of comparing rows with objects: read both sides, judge, apply.
 *
 * Judging changes nothing. Applying is one transaction: rows, marks, what is
 * told of them, the cursor, and how much was destroyed. Bytes are deleted after it, since they cannot
 * be rolled back. A crash in between leaves an object that is still due to go,
 * and the next pass finds it again. A listing or a query that fails ends the
 * page: half a listing, taken at its word, would make a loss of every object
 * that it left out.
 */
import { randomUUID } from "node:crypto";
import type { Db, Pool } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import { publishOwn } from "../../events/own-events.ts";
import type { TenantId } from "../../shared/id.ts";
import { confirmingHead, type Bucket } from "../bytes/bucket.ts";
import { applyMutations } from "../rows/mutation-store.ts";
import type { ObjectDelete, OperationResult } from "../rules/mutations.ts";
import { findHorizon } from "../rules/reconcile-classify.ts";
import { reconcileObjects } from "../rules/reconcile-objects.ts";
import type {
  ListedObject,
  ReconcileEventType,
  ReconcileMutation,
  ReconcileObjectsInput,
  ReconcileObjectsOutput,
} from "../rules/reconcile-types.ts";
import { listRowsByKey, readDatabaseClock } from "../rows/stored-object-store.ts";
import { countDestruction, destructionOf, type Destruction } from "./destruction.ts";
import { showHiddenVersions, withhold } from "./prepare-page.ts";
import { findOwners, insertEvents, listMarks, readNextSequence, writeCursor } from "./reconcile-store.ts";

export type ReconcileServices = {
  db: Pool;
  bucket: Bucket;
};

export type PageOfPass = {
  runId: string;
  /** The last key of the page before; null at the beginning. */
  after: string | null;
  /** Rows, and objects, at most; 1 to 1,000. */
  batchSize: number;
  /** More results that destroy something stop the pass; 0 to 100. */
  maxDestructive: number;
  /** Objects without a row that no row was found to miss: only these may be destroyed. */
  examinedOrphans: ReadonlySet<string>;
  /** What an operator approved: it counts against no bound. */
  approved: ReadonlySet<Destruction>;
};

export type JudgedPage = {
  input: ReconcileObjectsInput;
  /** Of the page, as the store lists them. */
  listed: ListedObject[];
  result: OperationResult<ReconcileObjectsOutput, ReconcileMutation>;
};

/** What was read has changed before it could be applied: read the page again. */
export class PageChangedError extends Error {
  override readonly name = "PageChangedError";
}

/** What a tenant is told of an artifact of its own. */
const TOLD: Partial<Record<ReconcileEventType, string>> = {
  "object.missing": "storage.object.missing",
  "object.quarantined": "storage.object.quarantined",
  "object.healed": "storage.object.healed",
};

/** @throws StoreUnavailableError, or the database's error, when either side could not be read. */
export async function judgePage(services: ReconcileServices, page: PageOfPass): Promise<JudgedPage> {
  const { db, bucket } = services;
  const { after, batchSize } = page;
  // Before the two sides: what comes later than this is younger than any threshold.
  const now = await readDatabaseClock(db);
  const rows = await listRowsByKey(db, bucket.name, { after, limit: batchSize + 1 });
  const listing = await bucket.list({ after, limit: batchSize });
  const sides = {
    rows: rows.slice(0, batchSize),
    rows_truncated: rows.length > batchSize,
    objects: listing.objects,
    objects_truncated: listing.isTruncated,
  };
  const horizon = findHorizon(sides);
  const input: ReconcileObjectsInput = {
    run: {
      run_id: page.runId,
      next_sequence: await readNextSequence(db),
      // Room for versions that the listing hides.
      batch_size: 2 * batchSize,
      max_destructive: page.maxDestructive,
    },
    now,
    bucket: bucket.name,
    after,
    ...sides,
    marks: await listMarks(db, bucket.name, { after, upTo: horizon }),
  };
  await showHiddenVersions(bucket, input, horizon);
  withhold(input, page.examinedOrphans);
  return {
    input,
    listed: listing.objects,
    result: await reconcileObjects(input, { storage: confirmingHead(bucket) }),
  };
}

/**
 * Applies a judged page, whose code must be `OK`; answers the versions that are
 * to be deleted now. Nothing is applied when anything of it has changed since.
 *
 * @throws PageChangedError, DestructionBoundError
 */
export async function applyPage(
  services: ReconcileServices,
  judged: JudgedPage,
  approved: ReadonlySet<Destruction>,
): Promise<ObjectDelete[]> {
  const { input, result } = judged;
  const { output, mutations } = result;
  if (output.code !== "OK") throw new Error(`a page of code ${output.code} cannot be applied`);
  return inTransaction(services.db, async (transaction) => {
    const context = { now: input.now, bucket: input.bucket };
    const applied = await applyMutations(transaction, mutations, context);
    if (applied.skippedRows > 0 || (await hasNewOwner(transaction, input, applied.objectDeletes))) {
      throw new PageChangedError("a row of the page has changed since it was read");
    }
    const unapproved = destructionOf(result).filter((line) => !approved.has(line));
    await countDestruction(transaction, input.bucket, {
      runId: input.run.run_id,
      number: unapproved.length,
    });
    const owners = await insertEvents(transaction, output.events, {
      ...context,
      runId: input.run.run_id,
    });
    await tellTenants(transaction, { ...judged, owners });
    await writeCursor(transaction, input.bucket, {
      // A mark confirms only in a later pass than the one that made it.
      runId: output.pass_complete ? randomUUID() : input.run.run_id,
      afterKey: output.next_cursor,
      haltedReason: null,
    });
    return applied.objectDeletes;
  });
}

/** An upload may have claimed an object's key that had no row when the page was read. */
async function hasNewOwner(
  transaction: Db,
  { bucket, rows }: ReconcileObjectsInput,
  deletes: readonly ObjectDelete[],
): Promise<boolean> {
  const known = new Set(rows.map(({ key }) => key));
  const orphans = deletes.map(({ key }) => key).filter((key) => !known.has(key));
  return orphans.length > 0 && (await findOwners(transaction, bucket, orphans)).size > 0;
}

async function tellTenants(
  transaction: Db,
  { input, result, owners }: JudgedPage & { owners: Map<string, TenantId> },
): Promise<void> {
  const rows = new Map(input.rows.map((row) => [row.key, row]));
  for (const event of result.output.events) {
    const type = TOLD[event.type];
    const row = rows.get(event.key);
    const tenantId = owners.get(event.key);
    if (type === undefined || row === undefined || tenantId === undefined) continue;
    const data = {
      object_id: row.id,
      delivery_id: row.delivery_id,
      attempt: row.attempt,
      kind: row.kind,
    };
    await publishOwn(transaction, tenantId, { type, data });
  }
}
