/**
 * Bounds what comparing may destroy: by page (a rule of reconciling), by pass
 * and by day, each as a number and as a share of what is known. What is beyond
 * waits for an operator, who approves the results of one dry run by their digest.
 */
import { createHash } from "node:crypto";
import type { Db } from "../../database/pool.ts";
import type { ReconcileMutation, ReconcileObjectsOutput } from "../rules/reconcile-types.ts";
import type { OperationResult } from "../rules/mutations.ts";
import { readDestroyed, recordDestroyed } from "./owner-store.ts";

type Bound = {
  number: number;
  /** Of the bucket's rows, but for purged ones. */
  share: number;
  /** So many always, however few rows there are. */
  least: number;
};

const OF_PASS: Bound = { number: 100, share: 0.25, least: 5 };
const OF_DAY: Bound = { number: 200, share: 0.5, least: 10 };
/** Of a page's keys; more at once looks like a wrong bucket or a listing that lies. */
export const MAX_OF_PAGE = 20;

/** A line for each result that destroys something: the decision, the key, and the version to delete. */
export type Destruction = string;

/** A page that was judged and would go beyond a bound. */
export class DestructionBoundError extends Error {
  override readonly name = "DestructionBoundError";
}

/** Objects without a row that are deleted, and rows that become missing or quarantined. */
export function destructionOf({
  output,
  mutations,
}: OperationResult<ReconcileObjectsOutput, ReconcileMutation>): Destruction[] {
  const versions = new Map(
    mutations.flatMap((mutation) =>
      mutation.target === "object" ? [[mutation.key, mutation.version_id] as const] : [],
    ),
  );
  return output.decisions.flatMap(({ key, class: keyClass, decision }) => {
    if (decision === "missing" || decision === "quarantined") return [`${decision} ${key}`];
    const isOrphan = decision === "purge" && keyClass === "object_without_row";
    return isOrphan ? [`${decision} ${key} ${versions.get(key) ?? ""}`] : [];
  });
}

/** Identifies exactly these results, in any order. */
export function digestOf(destruction: readonly Destruction[]): string {
  return createHash("sha256").update(destruction.toSorted().join("\n")).digest("hex");
}

/**
 * Counts a page's results in its transaction.
 *
 * @throws DestructionBoundError where they go beyond a bound; the transaction must not be committed then.
 */
export async function countDestruction(
  transaction: Db,
  bucket: string,
  page: { runId: string; number: number },
): Promise<void> {
  const { runId, number } = page;
  if (number === 0) return;
  if (number > MAX_OF_PAGE) {
    throw new DestructionBoundError(
      `a page would destroy ${number} artifacts, and ${MAX_OF_PAGE} are allowed`,
    );
  }
  const { inPass, inDay, known } = await readDestroyed(transaction, bucket, runId);
  requireWithin(OF_PASS, { name: "the pass", count: inPass + number, known });
  requireWithin(OF_DAY, { name: "24 hours", count: inDay + number, known });
  await recordDestroyed(transaction, bucket, page);
}

function requireWithin(
  { number, share, least }: Bound,
  { name, count, known }: { name: string; count: number; known: number },
): void {
  const allowed = Math.min(number, Math.max(least, Math.floor(share * known)));
  if (count <= allowed) return;
  throw new DestructionBoundError(
    `${name} would destroy ${count} artifacts, and of ${known} known ones ${allowed} are allowed`,
  );
}
