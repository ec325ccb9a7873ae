/** The statements of statistics, and where a replay's count begins, as `statement-plans.test.ts` plans them. */
import type { Db } from "../../src/database/pool.ts";
import * as stats from "../../src/deliveries/stats-store.ts";
import { sliceFailures } from "../../src/replays/failure-store.ts";
import type { Rows } from "./two-tenants.ts";

const TENANT = "postern_tenant" as const;
const DAY_MS = 86_400_000;
const span = { fromMs: Date.now() - DAY_MS, toMs: Date.now() };
const counts = ["tenant_id", "at"];

export const LOG_STATEMENTS = {
  "statistics of endpoints": {
    as: TENANT,
    run: async (db: Db, [{ tenantId }]: readonly [Rows, ...Rows[]]) => {
      await stats.readEndpointBuckets(db, tenantId, { grain: 60, span });
      await stats.readEndpointsNow(db, tenantId, { maxEndpoints: 1000, maxPending: 100 });
    },
    also: {
      delivery_totals: ["tenant_id", "grain", "at"],
      delivery_counts: counts,
      endpoints: ["tenant_id"],
      dispatches: ["tenant_id", "endpoint_id"],
    },
  },
  "newest attempts": {
    as: TENANT,
    run: (db: Db, [{ tenantId }]: readonly [Rows, ...Rows[]]) => stats.readNewestAttempts(db, tenantId),
    also: { newest_attempts: ["tenant_id"], delivery_counts: ["tenant_id"] },
  },
  "statistics over time and causes": {
    as: TENANT,
    run: async (db: Db, [{ tenantId, endpointId }]: readonly [Rows, ...Rows[]]) => {
      for (const id of [endpointId, null]) {
        await stats.readBuckets(db, tenantId, { endpointId: id, grain: 60, span });
        await stats.readCauses(db, tenantId, { endpointId: id, spans: [{ ...span, grain: 10 }], limit: 100 });
      }
    },
    also: { delivery_stats: ["tenant_id", "endpoint_id", "grain", "at"], delivery_counts: counts },
  },
  "count failures": {
    as: TENANT,
    run: async (db: Db, [rows]: readonly [Rows, ...Rows[]]) => {
      await sliceFailures(
        db,
        { ...rows, to: new Date() },
        { after: rows.eventId, size: 5000, most: 100_000 },
      );
    },
    also: { deliveries: ["tenant_id", "endpoint_id", "event_id"] },
  },
};
