import { randomUUID } from "node:crypto";
import type { Pool } from "../database/pool.ts";
import { acceptEvents, findEarlierEvents } from "./accept-store.ts";
import { claimDispatches, postponeDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";
import {
  endDispatches,
  holdDispatches,
  holdPendingDispatches,
  resumeDispatches,
  supersedeDispatches,
} from "./hold-store.ts";
import type { DispatchHold, DispatchQueue } from "./queue.ts";

/** The queue in PostgreSQL's tables; the first attempt of an event is due `firstDelayMs` after it is accepted. */
export function makePostgresQueue(db: Pool, firstDelayMs: number): DispatchQueue {
  const nextLeaseId = makeLeaseIds();
  return {
    accept: (events, options, within = db) =>
      acceptEvents(within, events, {
        leaseId: options.lease && firstDelayMs === 0 ? nextLeaseId() : null,
        firstDelayMs,
      }),
    findEarlier: (events, within = db) => findEarlierEvents(within, events),
    claim: (limit) => claimDispatches(db, nextLeaseId(), limit),
    complete: (attempts) => completeAttempts(db, attempts),
    postpone: (dispatches) => postponeDispatches(db, dispatches),
    hold: (dispatches) => holdDispatches(db, dispatches),
  };
}

export const postgresDispatchHold: DispatchHold = {
  holdAll: holdPendingDispatches,
  resume: resumeDispatches,
  endAll: endDispatches,
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
