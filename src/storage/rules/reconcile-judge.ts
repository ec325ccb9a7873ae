/**
 * Second stage of reconciling: what to make of one key.
 *
 * Nothing is destroyed at first sight. A difference must be quiet for 15
 * minutes before it is even suspected, then suspected for 2 hours, and then one
 * direct look at the object (a head) must confirm what the listing said.
 */
import type { ConfirmingStoragePort } from "./ports.ts";
import { matchesHead } from "./identity.ts";
import { toMs } from "./instants.ts";
import { moveState, type MarkClass } from "./mutations.ts";
import { classify, type Classified, type KeyFacts } from "./reconcile-classify.ts";
import type {
  Decision,
  KeyClass,
  ListedObject,
  Mark,
  ReconcileEventType,
  ReconcileMutation,
  ReconcileObjectsInput,
} from "./reconcile-types.ts";
import type { StoredObject } from "./stored-object.ts";

/** Equals the clock skew that S3-style stores tolerate, so their clock cannot cause a verdict. */
export const SETTLE_MS = 900_000;
/** Between the first suspicion and the look that may confirm it; by the database's clock only. */
export const CONFIRM_MS = 7_200_000;

export interface Verdict {
  key: string;
  class: KeyClass;
  decision: Decision;
  event: ReconcileEventType | null;
  mutations: ReconcileMutation[];
  /** Counts against the blast radius. */
  isDestructive: boolean;
}

type Step = Pick<Verdict, "decision"> & Partial<Pick<Verdict, "event" | "mutations" | "isDestructive">>;

interface Context {
  input: ReconcileObjectsInput;
  storage: ConfirmingStoragePort;
  facts: KeyFacts;
}

/** Judges one key; asks the store at most once. */
export async function judgeKey(
  input: ReconcileObjectsInput,
  storage: ConfirmingStoragePort,
  facts: KeyFacts,
): Promise<Verdict> {
  const classified = classify(facts);
  const step = await judgeClass(classified, { input, storage, facts });
  return {
    key: facts.key,
    class: classified.class,
    event: null,
    mutations: [],
    isDestructive: false,
    ...step,
  };
}

async function judgeClass(classified: Classified, context: Context): Promise<Step> {
  if (classified.class === "foreign") return { decision: "ignored" };
  if (classified.class === "consistent") {
    if (context.facts.mark === undefined) return { decision: "none" };
    return { decision: "recovered", event: "object.recovered", mutations: dropMark(context.facts) };
  }
  if (quietMs(context) < SETTLE_MS) return { decision: "in_flight" };
  switch (classified.class) {
    case "healable":
      return heal(classified.row, context);
    case "purge_due":
      return purge(classified.row, context);
    case "purged_due":
      return {
        decision: "purged",
        event: "object.purge_confirmed",
        mutations: [moveState(classified.row, "purged"), ...dropMark(context.facts)],
      };
    case "adoptable":
      return suspectFirst("adoptable", context) ?? { decision: "awaiting" };
    case "row_without_object":
      return standingSuspicion("row_without_object", context, (mark) =>
        confirmLostObject(classified.row, mark, context),
      );
    case "object_without_row":
      return standingSuspicion("object_without_row", context, (mark) =>
        confirmOrphan(classified.object, mark, context),
      );
    case "identity_mismatch":
      break;
  }
  const { class: mismatch, row } = classified;
  return standingSuspicion(mismatch, context, (mark) => confirmMismatch(row, mark, context));
}

function quietMs({ input, facts }: Context): number {
  const touched = [facts.row?.state_since, facts.object?.last_modified].filter((at) => at !== undefined);
  return toMs(input.now) - Math.max(...touched.map(toMs));
}

/** The first sighting in this class: leave a mark and go. */
function suspectFirst(markClass: MarkClass, { input, facts }: Context): Step | null {
  if (facts.mark?.class === markClass) return null;
  return {
    decision: "suspect",
    event: markClass === "adoptable" ? "object.revalidate" : "object.suspected",
    mutations: [
      ...dropMark(facts),
      {
        op: "insert",
        target: "mark",
        key: facts.key,
        class: markClass,
        first_seen_at: input.now,
        run_id: input.run.run_id,
      },
    ],
  };
}

async function standingSuspicion(
  markClass: MarkClass,
  context: Context,
  confirm: (mark: Mark) => Promise<Step>,
): Promise<Step> {
  const { mark } = context.facts;
  const first = suspectFirst(markClass, context);
  if (first !== null || mark === undefined) return first ?? { decision: "suspect" };
  const ageMs = toMs(context.input.now) - toMs(mark.first_seen_at);
  if (mark.run_id === context.input.run.run_id || ageMs < CONFIRM_MS) return { decision: "suspect" };
  return confirm(mark);
}

async function confirmLostObject(row: StoredObject, mark: Mark, context: Context): Promise<Step> {
  const head = await headOf(context, row.version_id);
  if ("error" in head) return { decision: "deferred" };
  if (!head.found) return demote(row, "missing", context.facts);
  return matchesHead(row, head) ? rearm(mark, context) : demote(row, "quarantined", context.facts);
}

async function confirmMismatch(row: StoredObject, mark: Mark, context: Context): Promise<Step> {
  const head = await headOf(context, null);
  if ("error" in head) return { decision: "deferred" };
  if (head.found && matchesHead(row, head)) return rearm(mark, context);
  return demote(row, "quarantined", context.facts);
}

async function confirmOrphan(object: ListedObject, mark: Mark, context: Context): Promise<Step> {
  const head = await headOf(context, null);
  if ("error" in head) return { decision: "deferred" };
  // Gone, or no longer as listed: another process is writing here after all.
  if (!head.found || head.size !== object.size || head.etag !== object.etag) return rearm(mark, context);
  if (head.version_id === null) return { decision: "deferred" };
  return {
    decision: "purge",
    event: "object.orphan_purged",
    mutations: [deleteVersion(context, head.version_id), ...dropMark(context.facts)],
    isDestructive: true,
  };
}

async function heal(row: StoredObject, context: Context): Promise<Step> {
  const head = await headOf(context, row.version_id);
  if ("error" in head || !head.found || !matchesHead(row, head)) return { decision: "deferred" };
  return {
    decision: "healed",
    event: "object.healed",
    mutations: [moveState(row, "available"), ...dropMark(context.facts)],
  };
}

async function purge(row: StoredObject, context: Context): Promise<Step> {
  const head = await headOf(context, row.version_id);
  if ("error" in head || !head.found || !matchesHead(row, head)) return { decision: "deferred" };
  return {
    decision: "purge",
    event: "object.purged",
    mutations: [deleteVersion(context, row.version_id), ...dropMark(context.facts)],
  };
}

function demote(row: StoredObject, to: "missing" | "quarantined", facts: KeyFacts): Step {
  return {
    decision: to,
    event: `object.${to}`,
    mutations: [moveState(row, to), ...dropMark(facts)],
    isDestructive: true,
  };
}

/** Waits another two hours. Dropping the mark instead would repeat the first sighting for ever. */
function rearm(mark: Mark, { input }: Context): Step {
  return {
    decision: "rearmed",
    event: "object.listing_disagrees",
    mutations: [{ op: "update", target: "mark", key: mark.key, class: mark.class, first_seen_at: input.now }],
  };
}

function dropMark({ mark }: KeyFacts): ReconcileMutation[] {
  return mark === undefined ? [] : [{ op: "delete", target: "mark", key: mark.key, class: mark.class }];
}

function deleteVersion({ input, facts }: Context, version_id: string): ReconcileMutation {
  return { op: "delete", target: "object", bucket: input.bucket, key: facts.key, version_id };
}

async function headOf({ input, storage, facts }: Context, version_id: string | null) {
  return storage.head({ bucket: input.bucket, key: facts.key, version_id });
}
