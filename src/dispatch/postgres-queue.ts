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

/** The queue in PostgreSQL's tables; the first attempt of an event is due `firstDelayMs` after it is accepted. Every process has an owner id of its own for its leases. */
export function makePostgresQueue(db: Pool, firstDelayMs: number): DispatchQueue {
  const owner = randomUUID();
  return {
    accept: (events, options, within = db) =>
      acceptEvents(within, events, {
        leaseOwner: options.lease && firstDelayMs === 0 ? owner : null,
        firstDelayMs,
      }),
    findEarlier: (events, within = db) => findEarlierEvents(within, events),
    claim: (limit) => claimDispatches(db, owner, limit),
    complete: (attempts) => completeAttempts(db, owner, attempts),
    postpone: (dispatches) => postponeDispatches(db, owner, dispatches),
    hold: (dispatches) => holdDispatches(db, owner, dispatches),
  };
}

export const postgresDispatchHold: DispatchHold = {
  holdAll: holdPendingDispatches,
  resume: resumeDispatches,
  endAll: endDispatches,
  supersede: supersedeDispatches,
};
