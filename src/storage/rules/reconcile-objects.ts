/**
 * One page of mark and sweep between the rows of Postgres and a bucket.
 *
 * Postgres is the truth about intent, the bucket about bytes, and a listing is
 * only a hint about either. A page is classified (reconcile-classify.ts), each
 * key judged (reconcile-judge.ts), and the results numbered here, unless too
 * many of them destroy something: then an operator decides.
 */
import type { ConfirmingStoragePort } from "./ports.ts";
import type { OperationResult } from "./mutations.ts";
import { findHorizon, isLawfulPage, joinKeys } from "./reconcile-classify.ts";
import { judgeKey, type Verdict } from "./reconcile-judge.ts";
import type {
  ReconcileEvent,
  ReconcileMutation,
  ReconcileObjectsInput,
  ReconcileObjectsOutput,
} from "./reconcile-types.ts";

type ReconcileResult = OperationResult<ReconcileObjectsOutput, ReconcileMutation>;

/**
 * Reconciles one page. Applying a page's mutations and judging it again comes to
 * rest after at most two passes, and reports no event of a key twice.
 *
 * @throws whatever `storage.head` throws; an object that cannot be reached now is an answer, not an error.
 */
export async function reconcileObjects(
  input: ReconcileObjectsInput,
  services: { storage: ConfirmingStoragePort },
): Promise<ReconcileResult> {
  if (!isLawfulPage(input)) return stay(input, "BATCH_INVALID", []);
  const horizon = findHorizon(input);
  const verdicts: Verdict[] = [];
  // One at a time: heads in key order make a run repeatable and spare the store.
  for (const facts of joinKeys(input, horizon)) {
    verdicts.push(await judgeKey(input, services.storage, facts));
  }
  const destructive = verdicts.filter(({ isDestructive }) => isDestructive).length;
  if (destructive > input.run.max_destructive) return stay(input, "HALTED", verdicts);

  const events = numberEvents(verdicts, input.run.next_sequence);
  return {
    output: {
      code: "OK",
      decisions: verdicts.map(toDecision),
      events,
      next_cursor: horizon,
      pass_complete: horizon === null,
      next_sequence: input.run.next_sequence + events.length,
    },
    mutations: verdicts.flatMap(({ mutations }) => mutations),
  };
}

/** Nothing is told and nothing moves: the same page is read again. */
function stay(
  input: ReconcileObjectsInput,
  code: "BATCH_INVALID" | "HALTED",
  verdicts: readonly Verdict[],
): ReconcileResult {
  const output: ReconcileObjectsOutput = {
    code,
    decisions: verdicts.map(toDecision),
    events: [],
    next_cursor: input.after,
    pass_complete: false,
    next_sequence: input.run.next_sequence,
  };
  return { output, mutations: [] };
}

function numberEvents(verdicts: readonly Verdict[], firstSequence: number): ReconcileEvent[] {
  return verdicts
    .flatMap(({ key, event }) => (event === null ? [] : [{ type: event, key }]))
    .map(({ type, key }, index) => ({ sequence: firstSequence + index, type, key }));
}

function toDecision({ key, class: keyClass, decision }: Verdict) {
  return { key, class: keyClass, decision };
}
