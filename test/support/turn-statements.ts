/** The statements by which tenants take turns, as `statement-plans.test.ts` plans them. */
import type { Db } from "../../src/database/pool.ts";
import { claimInTurns, FIRST_TURN } from "../../src/queue/postgres/claim-turns-store.ts";
import { findOutboxTenants, takeFromOutbox } from "../../src/queue/postgres/relay-store.ts";
import { findUnsettled } from "../../src/queue/postgres/unsettled-store.ts";
import { claimBodies, findBodyTenants } from "../../src/storage/artifacts/kept-body-store.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { EVENT_TYPE, LEASE_OWNER, type Rows } from "./two-tenants.ts";

const WORKER = "postern_worker" as const;

type Batch = readonly [Rows, ...Rows[]];

const tenantsOf = (batch: Batch) => [...new Set(batch.map(({ tenantId }) => tenantId))];

export const TURN_STATEMENTS = {
  "find whose turn it is": {
    as: WORKER,
    run: async (db: Db) => {
      await findOutboxTenants(db);
      await findBodyTenants(db);
      await findUnsettled(db);
    },
    // The first of an index, and the first behind each tenant; of endpoints those of a small index.
    also: { outbox: [], bodies_to_keep: [], endpoints: [] },
  },
  "claim in turns": {
    as: WORKER,
    run: (db: Db, [{ endpointId }]: Batch) =>
      claimInTurns(
        db,
        LEASE_OWNER,
        { dispatches: 500, bodyBytes: 1e6 },
        { slots: ALL_SLOTS, without: [endpointId], turn: FIRST_TURN },
      ),
    also: { dispatches: [] },
    // What is due, a tenant's part of it, the first tenant and the next one, and what is leased.
    through: [
      "dispatches_claimable",
      "dispatches_pkey",
      "dispatches_turns",
      "dispatches_turns",
      "dispatches_turns",
    ],
    hashes: true,
  } as const,
  "claim bodies to keep": {
    as: WORKER,
    run: (db: Db, batch: Batch) => claimBodies(db, tenantsOf(batch), { each: 16, leaseMs: 1000 }),
    also: { bodies_to_keep: ["tenant_id", "due_at"] },
  },
  "outbox take": {
    as: WORKER,
    run: (db: Db, batch: Batch) =>
      takeFromOutbox(db, tenantsOf(batch), [EVENT_TYPE], { events: 500, bodyBytes: 1e6 }),
    also: { outbox: ["tenant_id"] },
  },
};
