/**
 * An endpoint's pending dispatches follow its state: held while it is disabled,
 * ended once it is deleted. Those of a large backlog follow in slices, each in
 * a transaction of its own: in one alone they would be locked for seconds, or
 * for so long that the database gives up. What is left after the first slice is
 * noted at the endpoint, so that a process that dies leaves nothing behind.
 */
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { DispatchHold, FollowSlice } from "../queue/queue.ts";
import type { DeliveryId } from "../shared/id.ts";
import type { EndpointState } from "./endpoint.ts";
import { findUnsettled, lockUnsettled, setUnsettled } from "./endpoint-store.ts";
import type { TargetKey } from "./send-target.ts";

export type Followed = Pick<DispatchHold, "hold" | "resume" | "end">;

/** The first slice, in the transaction that gave the endpoint its state; the rest is left to {@link settleDispatches}. */
export async function followState(
  transaction: Db,
  dispatches: Followed,
  endpoint: TargetKey,
  state: EndpointState,
): Promise<void> {
  const last = await sliceOf(dispatches, state)(transaction, endpoint, null);
  // Set even when nothing is left: an earlier state may have left some.
  await setUnsettled(transaction, endpoint, last !== null);
}

/**
 * Takes along all that is left, of every endpoint: a slice of each in turn, so
 * that none waits for the whole of another's. Several processes may do it at once.
 */
export async function settleDispatches(db: Pool, dispatches: Followed, signal: AbortSignal): Promise<void> {
  let unsettled = (await findUnsettled(db)).map((endpoint) => ({ endpoint, after: null as SliceEnd | null }));
  while (unsettled.length > 0) {
    const left: typeof unsettled = [];
    for (const { endpoint, after } of unsettled) {
      if (signal.aborted) return;
      const end = await settleSlice(db, dispatches, endpoint, after);
      if (end !== null) left.push({ endpoint, after: end });
    }
    unsettled = left;
  }
}

type SliceEnd = { state: EndpointState; id: DeliveryId };

/** Where the slice ended; null when the endpoint is settled, or somebody else has it locked. */
async function settleSlice(
  db: Pool,
  dispatches: Followed,
  endpoint: TargetKey,
  after: SliceEnd | null,
): Promise<SliceEnd | null> {
  return inTransaction(db, async (transaction) => {
    const state = await lockUnsettled(transaction, endpoint);
    if (state === null) return null;
    // Its state changed in between: from the beginning.
    const from = after?.state === state ? after.id : null;
    const id = await sliceOf(dispatches, state)(transaction, endpoint, from);
    if (id !== null) return { state, id };
    await setUnsettled(transaction, endpoint, false);
    return null;
  });
}

function sliceOf(dispatches: Followed, state: EndpointState): FollowSlice {
  if (state === "deleted") return dispatches.end;
  return state === "enabled" ? dispatches.resume : dispatches.hold;
}
