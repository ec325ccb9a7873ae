/** The statements of clients that fetch, as `statement-plans.test.ts` plans them. */
import type { Db } from "../../src/database/pool.ts";
import { ackOffers, leaseOffers } from "../../src/deliveries/person-offer-store.ts";
import { completeAttempts } from "../../src/queue/postgres/complete-store.ts";
import * as fetching from "../../src/queue/postgres/fetch-store.ts";
import { completed } from "./store-inputs.ts";
import { LEASE_OWNER, type Rows } from "./two-tenants.ts";

const TENANT = "postern_tenant" as const;
const WORKER = "postern_worker" as const;
const ofEndpoint = ["tenant_id", "endpoint_id"];

export const CLIENT_STATEMENTS = {
  "lease to a client": {
    as: TENANT,
    run: async (db: Db, [endpoint]: readonly [Rows, ...Rows[]]) => {
      await leaseOffers(db, endpoint, LEASE_OWNER, { sends: 100, bodyBytes: 1e6 });
      await fetching.leaseHeld(db, endpoint, LEASE_OWNER, { dispatches: 100, bodyBytes: 1e6 });
      await fetching.nextHeldInMs(db, endpoint);
    },
    also: { dispatches: ofEndpoint, person_sends: ofEndpoint },
  },
  "acknowledge of a client": {
    as: TENANT,
    run: async (db: Db, [rows]: readonly [Rows, ...Rows[]]) => {
      await ackOffers(db, rows, LEASE_OWNER, [{ id: rows.leasedId, refusal: null }]);
      await fetching.findHeldByLease(db, rows, LEASE_OWNER, [rows.leasedId]);
      await completeAttempts(db, [completed(rows)], "wait", "tenant");
    },
    also: { person_sends: ofEndpoint },
  },
  "find ended leases of clients": {
    as: WORKER,
    run: (db: Db) => fetching.findEndedLeases(db),
    also: { dispatches: ["claimable_at"] },
  },
  "end what nobody fetched": {
    as: WORKER,
    run: (db: Db) => fetching.endUnfetched(db, 30),
    also: { dispatches: ofEndpoint, endpoints: [] },
  },
};
