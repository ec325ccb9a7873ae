/** The queries of claims and of the workers' slots, as `tenancy-queries.test.ts` runs them. */
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/database/pool.ts";
import * as claim from "../../src/queue/postgres/claim-store.ts";
import { claimInTurns, FIRST_TURN } from "../../src/queue/postgres/claim-turns-store.ts";
import * as slots from "../../src/queue/postgres/slot-store.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { LEASE_OWNER } from "./two-tenants.ts";

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  readSlots: (db) => slots.readSlots(db),
  takeSlots: (db) => slots.takeSlots(db, randomUUID(), [{ slot: 1, term: 7 }]),
  leaveSlots: (db) => slots.leaveSlots(db, randomUUID(), [{ slot: 1, term: 7 }], new Map()),
  retireFromSlots: (db) => slots.retireFromSlots(db, randomUUID()),
  askForSlots: (db) => slots.askForSlots(db),
  findInFlight: (db) => slots.findInFlight(db, []),
  parkDispatches: (db) => claim.parkDispatches(db, []),
  parkOldest: (db) => claim.parkOldest(db, []),
  findBacklogs: (db) => claim.findBacklogs(db),
  findDue: (db) => claim.findDue(db, ALL_SLOTS),
  claimDispatches: (db) =>
    claim.claimDispatches(
      db,
      LEASE_OWNER,
      { dispatches: 10, bodyBytes: 1e6 },
      { slots: ALL_SLOTS, without: [] },
    ),
  claimInTurns: (db) =>
    claimInTurns(
      db,
      LEASE_OWNER,
      { dispatches: 10, bodyBytes: 1e6 },
      { slots: ALL_SLOTS, without: [], turn: FIRST_TURN },
    ),
};
