import { randomUUID } from "node:crypto";
import type { Pool } from "../../database/pool.ts";
import { acceptEvents, findEarlierEvents } from "./accept-store.ts";
import { claimDispatches, postponeDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";
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
): DispatchQueue {
  const nextLeaseId = makeLeaseIds();
  return {
    accept: (events, options, within = publisher) =>
      acceptEvents(within, events, {
        leaseId: options.lease && firstDelayMs === 0 ? nextLeaseId() : null,
        firstDelayMs,
        lockWaitMs: options.lockWaitMs ?? null,
      }),
    findEarlier: (events, within = publisher) => findEarlierEvents(within, events),
    claim: (limits, crowded) => claimDispatches(worker, nextLeaseId(), limits, crowded),
    complete: (attempts, whenLocked) => completeAttempts(worker, attempts, whenLocked),
    postpone: (dispatches) => postponeDispatches(worker, dispatches),
    hold: (dispatches) => holdDispatches(worker, dispatches),
  };
}

export const postgresDispatchHold: DispatchHold = {
  hold: holdPendingDispatches,
  resume: resumeDispatches,
  end: endDispatches,
  supersede: supersedeDispatches,
};

function makeLeaseIds(): () => string {
  const process = randomUUID().slice(0, 18);
  let claims = 0;
  return () => {
    const count = (claims++).toString(16).padStart(16, "0");
    return `${process}-${count.slice(0, 4)}-${count.slice(4)}`;
  };
}
