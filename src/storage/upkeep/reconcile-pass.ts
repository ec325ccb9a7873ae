/** A pass over a whole bucket, page by page, going on where an earlier one was interrupted. */
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../bytes/bucket.ts";
import type { ObjectDelete } from "../rules/mutations.ts";
import type { Decision, ReconcileObjectsOutput } from "../rules/reconcile-types.ts";
import { finishUploads, type FinishedUploads, type FinishServices } from "./finish-uploads.ts";
import {
  applyPage,
  judgePage,
  PageChangedError,
  type JudgedPage,
  type PageOfPass,
  type ReconcileServices,
} from "./reconcile-page.ts";
import { readCursor, writeCursor } from "./reconcile-store.ts";

/** What a pass needs: to compare, and to finish what was left half done. */
export type PassServices = ReconcileServices & FinishServices;

const BATCH_SIZE = 250;
/** Of a page's keys. More at once looks like a wrong bucket or a listing that lies, and is for an operator to see. */
const MAX_DESTRUCTIVE = 20;
/** What an operator acknowledged goes on in pages of which no more than the most that is allowed can be destroyed. */
const ACKNOWLEDGED = { batchSize: 50, maxDestructive: 100 };
const TRIES_OF_A_PAGE = 3;

export type PassOptions = {
  /** Judge and tell, but change nothing; begins at the first key. */
  isDryRun?: boolean;
  /** An operator has seen what stopped the last pass, and lets it happen. */
  isAcknowledged?: boolean;
  /** Ends the pass after the page under way; the next one goes on from there. */
  signal?: AbortSignal;
  onPage?: (page: JudgedPage) => void;
};

/** Decisions by kind, without those on keys of which there is nothing to say. */
export type PassSummary = {
  /** `halted`: a page would have destroyed too much, and nothing of it was done. */
  end: "complete" | "halted" | "interrupted";
  keys: number;
  decisions: Partial<Record<Decision, number>>;
  /** Objects that are due to go and could not be deleted; the next pass tries again. */
  undeleted: number;
  /** Uploads that a process which died had left, available now. */
  finished: number;
  /** Why an upload that is whole could not be made available, and what to do; the next pass tries again. */
  refusal: string | null;
};

/**
 * Only one process at a time may do this. Throws StoreUnavailableError when the
 * bucket cannot be listed, and the database's errors; what was done stays done.
 */
export async function runPass(services: PassServices, options: PassOptions = {}): Promise<PassSummary> {
  const uploads: FinishedUploads = { finished: 0, refusal: null };
  const summary: PassSummary = { end: "interrupted", keys: 0, decisions: {}, undeleted: 0, ...uploads };
  const cursor = options.isDryRun === true ? null : await readCursor(services.db, services.bucket.name);
  if (cursor?.isHalted === true && options.isAcknowledged !== true) return { ...summary, end: "halted" };
  const page = {
    runId: cursor?.runId ?? randomUUID(),
    after: cursor?.afterKey ?? null,
    ...(options.isAcknowledged === true
      ? ACKNOWLEDGED
      : { batchSize: BATCH_SIZE, maxDestructive: MAX_DESTRUCTIVE }),
  };
  while (options.signal?.aborted !== true) {
    const { judged, deletes } = await runPage(services, page, options.isDryRun === true);
    const { output } = judged.result;
    options.onPage?.(judged);
    count(output, summary);
    summary.undeleted += await deleteObjects(services, deletes);
    if (output.code === "HALTED" && options.isDryRun !== true) {
      await writeCursor(services.db, services.bucket.name, {
        runId: page.runId,
        afterKey: page.after,
        isHalted: true,
      });
    }
    if (output.code === "HALTED") return { ...summary, end: "halted" };
    if (options.isDryRun !== true) {
      const { finished, refusal } = await finishUploads(services, judged);
      summary.finished += finished;
      summary.refusal = refusal ?? summary.refusal;
    }
    if (output.pass_complete) return { ...summary, end: "complete" };
    page.after = output.next_cursor;
  }
  return summary;
}

async function runPage(
  services: ReconcileServices,
  page: PageOfPass,
  isDryRun: boolean,
): Promise<{ judged: JudgedPage; deletes: ObjectDelete[] }> {
  for (let tries = 1; ; tries++) {
    const judged = await judgePage(services, page);
    const { code } = judged.result.output;
    if (code === "BATCH_INVALID") {
      throw new StoreUnavailableError(
        "the bucket's listing is out of order, or ends where it says that it goes on",
      );
    }
    if (isDryRun || code === "HALTED") return { judged, deletes: [] };
    try {
      return { judged, deletes: await applyPage(services, judged) };
    } catch (error) {
      if (!(error instanceof PageChangedError) || tries === TRIES_OF_A_PAGE) throw error;
    }
  }
}

/** Answers how many are still there. */
async function deleteObjects(
  { bucket }: ReconcileServices,
  deletes: readonly ObjectDelete[],
): Promise<number> {
  let undeleted = 0;
  for (const { key, version_id: versionId } of deletes) {
    try {
      await bucket.deleteVersion({ key, versionId });
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      undeleted++;
    }
  }
  return undeleted;
}

function count({ decisions }: ReconcileObjectsOutput, summary: PassSummary): void {
  summary.keys += decisions.length;
  for (const { decision } of decisions) {
    if (decision !== "none") summary.decisions[decision] = (summary.decisions[decision] ?? 0) + 1;
  }
}
