import type { Pool } from "../../database/pool.ts";
import { acceptEvents, findEarlierEvents } from "./accept-store.ts";
import { makeLeaseIds, type LeaseIds } from "./lease-ids.ts";
import { claimDispatches, findBacklogs, parkDispatches, pullDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";
import { releaseDispatches } from "./release-store.ts";
import {
  endDispatches,
  holdDispatches,
  holdPendingDispatches,
  resumeDispatches,
  supersedeDispatches,
} from "./follow-store.ts";
import type { DispatchHold, DispatchQueue } from "../queue.ts";

/**
 * The queue in PostgreSQL's tables; the first attempt of an event is due
 * `firstDelayMs` after it is accepted. Events are accepted with the publisher's
 * rights, unless within a transaction of the caller's.
 */
export function makePostgresQueue(
  { publisher, worker }: { publisher: Pool; worker: Pool },
  firstDelayMs: number,
  leaseIds: LeaseIds = makeLeaseIds(),
): DispatchQueue {
  const nextLeaseId = () => leaseIds.next();
  return {
    accept: (events, options, within = publisher) =>
      acceptEvents(within, events, {
        leaseId: options.lease && firstDelayMs === 0 ? nextLeaseId() : null,
        parked: options.parked,
        firstDelayMs,
        lockWaitMs: options.lockWaitMs ?? null,
      }),
    findEarlier: (events, within = publisher) => findEarlierEvents(within, events),
    claim: (limits, without) => claimDispatches(worker, nextLeaseId(), limits, without),
    park: (endpoints) => parkDispatches(worker, endpoints),
    pull: (asks) => pullDispatches(worker, nextLeaseId(), asks),
    findBacklogs: () => findBacklogs(worker),
    complete: (attempts, whenLocked) => completeAttempts(worker, attempts, whenLocked),
    release: (dispatches, to) => releaseDispatches(worker, dispatches, to),
    hold: (dispatches, whenLocked) => holdDispatches(worker, dispatches, whenLocked),
  };
}

export const postgresDispatchHold: DispatchHold = {
  hold: holdPendingDispatches,
  resume: resumeDispatches,
  end: endDispatches,
  supersede: supersedeDispatches,
};
