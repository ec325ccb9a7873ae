/** The statements of presence, slots, upkeep, hand-overs, replays and the log's pages, as `statement-plans.test.ts` plans them. */
import type { Db } from "../../src/database/pool.ts";
import { countPending } from "../../src/deliveries/log-page-store.ts";
import { foldCounts } from "../../src/deliveries/stats-store.ts";
import { sumExhausted, takeExhausting, takeFailing } from "../../src/endpoints/notice-store.ts";
import {
  claimHandovers,
  deleteHandovers,
  findDestinations,
  findTenantsHere,
  redirectHandovers,
} from "../../src/queue/postgres/handover-store.ts";
import { insertOnce, insertReplayed } from "../../src/queue/postgres/once-store.ts";
import { confirmWorker, findUnheldWorkers } from "../../src/queue/postgres/presence-store.ts";
import { findInFlight, leaveSlots, readSlots, takeSlots } from "../../src/queue/postgres/slot-store.ts";
import { leased } from "./store-inputs.ts";
import { EVENT_TYPE, LEASE_OWNER, type Rows } from "./two-tenants.ts";

const WORKER = "postern_worker" as const;
const TENANT = "postern_tenant" as const;

type Batch = readonly [Rows, ...Rows[]];

const onceOf = ({ tenantId, endpointId, eventId }: Rows) => ({
  tenantId,
  endpointId,
  eventId,
  eventType: EVENT_TYPE,
  version: 1,
  attempt: 2,
});

export const UPKEEP_STATEMENTS = {
  "count pending": {
    as: TENANT,
    run: (db: Db, [{ tenantId, endpointId }]: Batch) => countPending(db, tenantId, endpointId),
    also: { dispatches: ["tenant_id", "endpoint_id"] },
  },
  "look at workers": {
    as: WORKER,
    run: async (db: Db) => {
      await confirmWorker(db, LEASE_OWNER, "session");
      await findUnheldWorkers(db);
      await readSlots(db);
    },
    // One row for each process, and one for each database of the server.
    also: { workers: "whole" as const, pg_database: "whole" as const },
  },
  "find attempts in flight": {
    as: WORKER,
    run: (db: Db, batch: Batch) => findInFlight(db, batch.map(leased)),
  },
  "take slots": { as: WORKER, run: (db: Db) => takeSlots(db, LEASE_OWNER, [{ slot: 1, term: 0 }]) },
  "leave slots": {
    as: WORKER,
    run: (db: Db) => leaveSlots(db, LEASE_OWNER, [{ slot: 1, term: 1 }], new Map()),
  },
  "fold counts": {
    as: WORKER,
    run: (db: Db) => foldCounts(db),
    // The first of them, whichever these are, and then by their places.
    also: { delivery_counts: "whole" as const },
  },
  "take failing endpoints": {
    as: WORKER,
    run: (db: Db) => takeFailing(db, { afterMs: [1000, 2000], without: ["endpoint.*"], limit: 500 }),
    also: { endpoints: ["failing_since"] },
  },
  "sum exhausted events": {
    as: WORKER,
    run: (db: Db, batch: Batch) =>
      sumExhausted(
        db,
        batch.map((rows) => ({ ...rows, url: "https://example.com/", isDeleted: false })),
      ),
  },
  "take exhausting endpoints": {
    as: WORKER,
    run: (db: Db) => takeExhausting(db, { pauseMs: 1000, limit: 500 }),
    // What no endpoint was told of yet.
    also: { exhausted_events: [] },
  },
  "take hand-overs": {
    as: WORKER,
    run: async (db: Db, batch: Batch) => {
      await findDestinations(db);
      await claimHandovers(db, "eu2", { events: 500, bodyBytes: 1e6, leaseMs: 1000 });
      await findTenantsHere(
        db,
        batch.map(({ tenantId }) => tenantId),
      );
    },
    // In the order of the key, as far as the limit.
    also: { handovers: [], shard_tenants: ["tenant_id"] },
  },
  "redirect and delete hand-overs": {
    as: WORKER,
    run: async (db: Db, batch: Batch) => {
      await redirectHandovers(
        db,
        batch.map(({ eventId: id }) => ({ id, shard: "eu3" })),
        1000,
      );
      await deleteHandovers(
        db,
        batch.map(({ eventId }) => eventId),
      );
    },
    also: { handovers: ["id"] },
  },
  "send again, once and by a replay": {
    as: TENANT,
    run: async (db: Db, [rows]: Batch) => {
      // Nobody may insert another tenant's.
      await db.query("SELECT set_config('postern.tenant', $1, true)", [rows.tenantId]);
      await insertOnce(db, onceOf(rows));
      await insertReplayed(db, { ...rows, events: [onceOf(rows)] });
    },
  },
};
