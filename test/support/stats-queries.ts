/** The queries of statistics and of watching the log, for the tests of what a role may do. */
import type { Db } from "../../src/database/pool.ts";
import * as tail from "../../src/deliveries/tail-store.ts";
import * as stats from "../../src/deliveries/stats-store.ts";
import { LEASE_OWNER, type Rows } from "./two-tenants.ts";

const DAY_MS = 86_400_000;
const span = { fromMs: Date.now() - DAY_MS, toMs: Date.now() + DAY_MS };

export const asTenant: Record<string, (db: Db, rows: Rows) => Promise<unknown>> = {
  readBuckets: (db, { tenantId, endpointId }) =>
    stats.readBuckets(db, tenantId, { endpointId, grain: 10, span }),
  "readBuckets, of all": (db, { tenantId }) =>
    stats.readBuckets(db, tenantId, { endpointId: null, grain: 10, span }),
  readEndpointBuckets: async (db, { tenantId }) =>
    (await stats.readEndpointBuckets(db, tenantId, { grain: 60, span })).size,
  readEndpointsNow: (db, { tenantId }) =>
    stats.readEndpointsNow(db, tenantId, { maxEndpoints: 10, maxPending: 10 }),
  readNewestAttempts: async (db, { tenantId }) => (await stats.readNewestAttempts(db, tenantId)).size,
  noteWatch: (db, { tenantId }) => tail.noteWatch(db, tenantId, LEASE_OWNER),
  endWatch: (db, { tenantId }) => tail.endWatch(db, tenantId, LEASE_OWNER),
  readCauses: (db, { tenantId, endpointId }) =>
    stats.readCauses(db, tenantId, { endpointId, spans: [{ ...span, grain: 10 }], limit: 10 }),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  foldCounts: (db) => stats.foldCounts(db),
  removeOldWatches: (db) => tail.removeOldWatches(db),
  forgetOldStats: (db) => stats.forgetOldStats(db, 30),
};
