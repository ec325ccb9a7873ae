import { randomUUID } from "node:crypto";
import type { Pool } from "../database/pool.ts";
import { acceptEvents, findEarlierEvents } from "./accept-store.ts";
import { claimDispatches, postponeDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";
import { endDispatches, holdDispatches, resumeDispatches, supersedeDispatches } from "./hold-store.ts";
import type { DispatchHold, DispatchQueue } from "./queue.ts";

/** The queue in PostgreSQL's tables. Every process has an owner id of its own for its leases. */
export function makePostgresQueue(db: Pool): DispatchQueue {
  const owner = randomUUID();
  return {
    accept: (events, options, within = db) => acceptEvents(within, events, options.lease ? owner : null),
    findEarlier: (events, within = db) => findEarlierEvents(within, events),
    claim: (limit) => claimDispatches(db, owner, limit),
    complete: (attempts) => completeAttempts(db, owner, attempts),
    postpone: (dispatches) => postponeDispatches(db, owner, dispatches),
    hold: (dispatches) => holdDispatches(db, owner, dispatches),
  };
}

export const postgresDispatchHold: DispatchHold = {
  resume: resumeDispatches,
  endAll: endDispatches,
  supersede: supersedeDispatches,
};
