/** The queries of pull endpoints, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import * as offers from "../../src/deliveries/person-offer-store.ts";
import * as temporary from "../../src/endpoints/temporary-store.ts";
import * as fetching from "../../src/queue/postgres/fetch-store.ts";
import { notifyFetchers } from "../../src/queue/postgres/follow-store.ts";
import { LEASE_OWNER, type Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const LIMITS = { dispatches: 10, bodyBytes: 1e6 };
const sendOf = ({ tenantId, endpointId, personSendId: id }: Rows) => ({ tenantId, endpointId, id });

/** Its hour is over. */
async function makeTemporary(db: Db, { tenantId, endpointId }: Rows): Promise<void> {
  await db.query(
    "UPDATE postern.endpoints SET mode = 'pull', temporary_until = now() WHERE tenant_id = $1 AND id = $2",
    [tenantId, endpointId],
  );
}

export const asTenant: Record<string, Run> = {
  leaseHeld: (db, rows) => fetching.leaseHeld(db, rows, LEASE_OWNER, LIMITS),
  nextHeldInMs: async (db, rows) => (await fetching.nextHeldInMs(db, rows)) !== null,
  findHeldByLease: (db, rows) => fetching.findHeldByLease(db, rows, LEASE_OWNER, [rows.leasedId]),
  offerSend: (db, rows) => offers.offerSend(db, sendOf(rows), "mine"),
  leaseOffers: (db, rows) => offers.leaseOffers(db, rows, LEASE_OWNER, { sends: 10, bodyBytes: 1e6 }),
  noteOfferHeaders: (db, rows) => offers.noteOfferHeaders(db, sendOf(rows), { mine: "mine" }),
  ackOffers: async (db, rows) => {
    await offers.leaseOffers(db, rows, LEASE_OWNER, { sends: 10, bodyBytes: 1e6 });
    return offers.ackOffers(db, rows, LEASE_OWNER, [{ id: rows.personSendId, refusal: "mine" }]);
  },
  readOffer: (db, rows) => offers.readOffer(db, sendOf(rows)),
  withdrawOffer: (db, rows) => offers.withdrawOffer(db, sendOf(rows)),
  extendTemporary: async (db, rows) => {
    await makeTemporary(db, rows);
    await temporary.extendTemporary(db, rows);
  },
  lockAbandoned: async (db, rows) => {
    await makeTemporary(db, rows);
    return temporary.lockAbandoned(db, rows);
  },
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  findEndedLeases: (db) => fetching.findEndedLeases(db),
  endUnfetched: (db) => fetching.endUnfetched(db, 30),
  findAbandoned: (db) => temporary.findAbandoned(db),
  notifyFetchers: (db) => notifyFetchers(db, []),
};
