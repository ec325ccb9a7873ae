/**
 * An endpoint's pending dispatches follow its state: held while it is disabled
 * or pull, claimable once it is enabled and push, ended once it is deleted.
 *
 * Why nothing is left behind: the transaction that changes an endpoint marks it
 * `unsettled`. The mark goes in the transaction that makes its last dispatches
 * follow, under the endpoint's lock. So a process that dies in between leaves
 * the mark, and a worker's upkeep finds it. Who adds a dispatch that is held keeps
 * a lock of the tenant until it is committed, so that it is found as well; or the
 * tenant is moving, and who undoes the move waits for the commit (reopen.ts).
 *
 * A large backlog follows in slices, each in a transaction of its own: in one
 * alone its dispatches would be locked for seconds, or for so long that the
 * database gives up.
 */
import { randomInt } from "node:crypto";
import { isLockConflict } from "../../database/passing-errors.ts";
import type { Db, Pool } from "../../database/pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import type { DeliveryId, EndpointId, EndpointKey, TenantId } from "../../shared/id.ts";
import { endDispatches, holdPendingDispatches, resumeDispatches, type FollowSlice } from "./follow-store.ts";
import {
  findUnsettled,
  lockUnsettled,
  setSettled,
  type EndpointState,
  type FollowPatience,
} from "./unsettled-store.ts";

/** Accepting takes a few milliseconds from where a dispatch is found to be held. */
const HELD_MS = 50;
/** Longer than commits that wait for a slow disk, or for a standby far away. Outcomes of the endpoint wait as long. */
const LONG_HELD_MS = 2000;

const SLICES: Record<EndpointState, FollowSlice> = {
  claimed: resumeDispatches,
  held: holdPendingDispatches,
  deleted: endDispatches,
};

/**
 * The first slice of the endpoint. None where dispatches are being added as held for long, as those of a wide array:
 * outcomes and changes of the endpoint would wait as long, and a worker finds it within a second.
 */
export async function followFirst(
  within: <T>(work: (transaction: Db) => Promise<T>) => Promise<T>,
  endpoint: EndpointKey,
): Promise<void> {
  const patience = { whenLocked: "wait", heldMs: HELD_MS } as const;
  await within((transaction) => followSlice(transaction, endpoint, { after: null, ...patience })).catch(
    busyOr,
  );
}

/**
 * All that is left, of every endpoint: slices of the tenants in turn, and of a
 * tenant's endpoints in turn, so that none waits for the whole of another's. Those
 * that are locked are passed over, and left to the next call where no others are
 * left, and so is a tenant for which dispatches are being added as held: one of
 * these a call is waited for longer. Several processes may do it at once. `sliced`
 * is called before each slice.
 */
export async function followAll(
  db: Pool,
  signal: AbortSignal,
  sliced?: (endpoint: EndpointKey) => void,
): Promise<void> {
  const ends = new Map<EndpointId, SliceEnd>();
  /** With the endpoint that was tried. The next call finds them again. */
  const busy = new Map<TenantId, EndpointKey>();
  const follow = (endpoint: EndpointKey, heldMs: number) => {
    sliced?.(endpoint);
    const after = ends.get(endpoint.endpointId) ?? null;
    return inTransaction(db, (transaction) =>
      followSlice(transaction, endpoint, { after, whenLocked: "skip", heldMs }),
    ).catch(busyOr);
  };
  let isIdle = false;
  for (let round = 0; !isIdle; round++) {
    isIdle = true;
    const left = await findUnsettled(db);
    for (const [tenantId, own] of Map.groupBy(left, (endpoint) => endpoint.tenantId)) {
      if (busy.has(tenantId)) continue;
      const first = round % own.length;
      for (const endpoint of [...own.slice(first), ...own.slice(0, first)]) {
        if (signal.aborted) return;
        const end = await follow(endpoint, HELD_MS);
        if (end === "busy") {
          busy.set(tenantId, endpoint);
          break;
        }
        if (end === "skipped") continue;
        isIdle = false;
        if (end === "settled") ends.delete(endpoint.endpointId);
        else ends.set(endpoint.endpointId, end);
        break;
      }
    }
  }
  // One of them a call, by chance: the others' endpoints wait meanwhile.
  const chosen = busy.size === 0 ? undefined : [...busy.values()][randomInt(busy.size)];
  if (chosen !== undefined && !signal.aborted) await follow(chosen, LONG_HELD_MS);
}

/** Of the tenant; the transaction can only be rolled back. */
class StillAddingError extends Error {}

function busyOr(error: unknown): "busy" {
  if (error instanceof StillAddingError) return "busy";
  throw error;
}

type SliceEnd = { state: EndpointState; id: DeliveryId };

/** Where the slice ended; or the endpoint is settled by it, or was before, or is locked. */
async function followSlice(
  transaction: Db,
  endpoint: EndpointKey,
  { after, ...patience }: FollowPatience & { after: SliceEnd | null },
): Promise<SliceEnd | "settled" | "skipped"> {
  const state = await lockUnsettled(transaction, endpoint, patience).catch((error: unknown) => {
    if (!isLockConflict(error)) throw error;
    throw new StillAddingError("dispatches are being added as held", { cause: error });
  });
  if (state === null) return "skipped";
  // Its state changed in between: from the beginning.
  const from = after?.state === state ? after.id : null;
  const id = await SLICES[state](transaction, endpoint, from);
  if (id !== null) return { state, id };
  await setSettled(transaction, endpoint);
  return "settled";
}
