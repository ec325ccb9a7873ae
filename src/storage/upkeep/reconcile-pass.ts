/** A pass over a whole bucket, page by page, going on where an earlier one was interrupted. */
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../bytes/bucket.ts";
import type { Decision, ReconcileObjectsOutput } from "../rules/reconcile-types.ts";
import { deleteObjects } from "./delete-objects.ts";
import {
  destructionOf,
  DestructionBoundError,
  digestOf,
  MAX_OF_PAGE,
  type Destruction,
} from "./destruction.ts";
import { finishUploads, type FinishedUploads, type FinishServices } from "./finish-uploads.ts";
import {
  checkOwner,
  forgetEarlierBegins,
  judgeOwner,
  markAsNewer,
  readLastBegin,
  renewOwner,
  unknownObject,
} from "./ownership.ts";
import {
  applyPage,
  judgePage,
  PageChangedError,
  type JudgedPage,
  type PageOfPass,
  type ReconcileServices,
} from "./reconcile-page.ts";
import { readCursor, writeCursor, type ReconcileCursor } from "./reconcile-store.ts";
import { relinkLost } from "./relink-lost.ts";
import { findUnknownObject } from "./unknown-object.ts";

/** What a pass needs: to compare, and to finish what was left half done. */
export type PassServices = ReconcileServices & FinishServices;

const USUAL = { batchSize: 250, maxDestructive: MAX_OF_PAGE };
/** Pages of which no more than the most that is allowed can be destroyed: none of them is halted by its rule. */
const WHOLE = { batchSize: 50, maxDestructive: 100 };
const NOTHING: ReadonlySet<Destruction> = new Set();
const TRIES_OF_A_PAGE = 3;
const TOO_MUCH_OF_A_PAGE = `a page would destroy more than ${MAX_OF_PAGE} artifacts`;

export type PassOptions = {
  /** Judge and tell, but change nothing; begins at the first key. */
  isDryRun?: boolean;
  /** The digest of the dry run that an operator has seen and approves. */
  acknowledged?: string;
  /** Ends the pass after the current page; the next one continues there. */
  signal?: AbortSignal;
  onPage?: (page: JudgedPage) => void;
};

/** Decisions by kind, without those on keys of which there is nothing to say. */
export type PassSummary = {
  /**
   * `halted`: it would destroy too much, and waits for an operator. `unapproved`: what would be
   * destroyed is not what the acknowledged dry run showed. `refused`: the bucket may not be ours.
   */
  end: "complete" | "halted" | "unapproved" | "refused" | "interrupted";
  /** Why it was halted or refused; of a dry run, why the next pass would be. */
  reason: string | null;
  keys: number;
  decisions: Partial<Record<Decision, number>>;
  /** Results that destroy something, and the digest by which an operator approves them. */
  destruction: { number: number; digest: string };
  /** Objects that are due to go and could not be deleted; the next pass tries again. */
  undeleted: number;
  /** Artifacts whose bytes lay under other keys, and are where they belong again. */
  relinked: number;
  /** Uploads that a process which died had left, available now. */
  finished: number;
  /** Why an upload that is whole could not be made available, and what to do; the next pass tries again. */
  refusal: string | null;
};

type Pass = {
  services: PassServices;
  options: PassOptions;
  page: PageOfPass;
  /** When the last pass began that came to its end, by the store's clock; null before the first. */
  since: string | null;
  summary: PassSummary;
  destruction: Destruction[];
};

/**
 * Only one process at a time may do this. Throws StoreUnavailableError when the
 * bucket cannot be listed, and the database's errors; what was done stays done.
 */
export async function runPass(services: PassServices, options: PassOptions = {}): Promise<PassSummary> {
  const cursor = await readCursor(services.db, services.bucket.name);
  if (options.isDryRun === true) return runDry(services, options, cursor);
  const begun = beginPass(services, options, cursor);
  const { summary } = begun;
  const isAcknowledged = options.acknowledged !== undefined;
  if (cursor !== null && cursor.haltedReason !== null && !isAcknowledged) {
    return { ...summary, end: "halted", reason: cursor.haltedReason };
  }
  begun.since = await readLastBegin(services);
  // A continued pass keeps the mark of its beginning: the next one judges what this one has skipped since.
  const isResumed = cursor !== null && cursor.afterKey !== null;
  const trouble = await (isResumed ? checkOwner(services) : renewOwner(services));
  if (trouble !== null) return { ...summary, end: "refused", reason: trouble };
  const orphans = await relinkLost(services, false, options.signal);
  summary.relinked = orphans.relinked;
  begun.page.examinedOrphans = orphans.examined;
  if (!isAcknowledged) return runPages(begun);
  const dry = await collectDestruction(services, cursor, orphans.examined);
  if (digestOf(dry) !== options.acknowledged) return { ...summary, end: "unapproved" };
  begun.page = { ...begun.page, ...WHOLE, after: null, approved: new Set(dry) };
  return runPages(begun);
}

function beginPass(services: PassServices, options: PassOptions, cursor: ReconcileCursor | null): Pass {
  const uploads: FinishedUploads = { finished: 0, refusal: null };
  return {
    services,
    options,
    page: {
      runId: cursor?.runId ?? randomUUID(),
      after: cursor?.afterKey ?? null,
      examinedOrphans: new Set(),
      approved: NOTHING,
      ...USUAL,
    },
    since: null,
    summary: {
      end: "interrupted",
      reason: null,
      keys: 0,
      decisions: {},
      destruction: { number: 0, digest: digestOf([]) },
      undeleted: 0,
      relinked: 0,
      ...uploads,
    },
    destruction: [],
  };
}

/** The whole bucket, whatever halted the last pass: so that an operator sees all that would be destroyed. */
async function runDry(
  services: PassServices,
  options: PassOptions,
  cursor: ReconcileCursor | null,
): Promise<PassSummary> {
  const begun = beginPass(services, options, cursor);
  begun.summary.reason = (await judgeOwner(services)) ?? cursor?.haltedReason ?? null;
  begun.since = await readLastBegin(services);
  const { examined } = await relinkLost(services, true, options.signal);
  begun.page = { ...begun.page, ...WHOLE, after: null, examinedOrphans: examined };
  return runPages(begun);
}

async function collectDestruction(
  services: PassServices,
  cursor: ReconcileCursor | null,
  examinedOrphans: ReadonlySet<string>,
): Promise<Destruction[]> {
  const begun = beginPass(services, { isDryRun: true }, cursor);
  begun.page = { ...begun.page, ...WHOLE, after: null, examinedOrphans };
  await runPages(begun);
  return begun.destruction;
}

async function runPages(pass: Pass): Promise<PassSummary> {
  const { services, options, page, summary, destruction } = pass;
  while (options.signal?.aborted !== true) {
    const judged = await runPage(pass);
    if ("stopped" in judged) return { ...summary, ...judged.stopped };
    const { output } = judged.result;
    options.onPage?.(judged);
    count(output, summary);
    destruction.push(...destructionOf(judged.result));
    summary.destruction = { number: destruction.length, digest: digestOf(destruction) };
    if (output.code === "HALTED") return halt(pass, TOO_MUCH_OF_A_PAGE);
    if (options.isDryRun !== true) {
      const { finished, refusal } = await finishUploads(services, judged);
      summary.finished += finished;
      summary.refusal = refusal ?? summary.refusal;
    }
    if (output.pass_complete) {
      if (options.isDryRun !== true) await forgetEarlierBegins(services);
      return { ...summary, end: "complete" };
    }
    page.after = output.next_cursor;
  }
  return summary;
}

/** The continued pass reads the same page again. */
async function halt({ services, page, summary }: Pass, reason: string): Promise<PassSummary> {
  await writeCursor(services.db, services.bucket.name, {
    runId: page.runId,
    afterKey: page.after,
    haltedReason: reason,
  });
  return { ...summary, end: "halted", reason };
}

type Stopped = { stopped: PassSummary };

async function runPage(pass: Pass): Promise<JudgedPage | Stopped> {
  const { services, options, page, summary } = pass;
  for (let tries = 1; ; tries++) {
    const judged = await judgePage(services, page);
    const { code } = judged.result.output;
    if (code === "BATCH_INVALID") {
      throw new StoreUnavailableError(
        "the bucket's listing is out of order, or ends although it announces more",
      );
    }
    const unknown = pass.since === null ? null : await findUnknownObject(services, judged, pass.since);
    if (options.isDryRun === true) {
      if (unknown !== null) summary.reason ??= unknownObject(unknown, services.bucket.name);
      return judged;
    }
    const trouble = await (unknown === null
      ? recheckOwner(services, judged)
      : markAsNewer(services, unknown));
    if (trouble !== null) return { stopped: { ...summary, end: "refused", reason: trouble } };
    if (code === "HALTED") return judged;
    try {
      const deletes = await applyPage(services, judged, page.approved);
      summary.undeleted += await deleteObjects(services, deletes, {
        now: judged.input.now,
        decisions: judged.result.output.decisions,
      });
      return judged;
    } catch (error) {
      if (error instanceof DestructionBoundError) return { stopped: await halt(pass, error.message) };
      if (!(error instanceof PageChangedError) || tries === TRIES_OF_A_PAGE) throw error;
    }
  }
}

/** Another may have taken the bucket over since the last page. */
async function recheckOwner(services: PassServices, { result }: JudgedPage): Promise<string | null> {
  return result.mutations.length === 0 ? null : checkOwner(services);
}

function count({ decisions }: ReconcileObjectsOutput, summary: PassSummary): void {
  summary.keys += decisions.length;
  for (const { decision } of decisions) {
    if (decision !== "none") summary.decisions[decision] = (summary.decisions[decision] ?? 0) + 1;
  }
}
