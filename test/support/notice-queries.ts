/** The queries of what tenants are told of their endpoints, for the tests of what a role may do. */
import type { Db } from "../../src/database/pool.ts";
import * as endpoints from "../../src/endpoints/endpoint-store.ts";
import * as notices from "../../src/endpoints/notice-store.ts";
import * as outbox from "../../src/events/outbox-store.ts";
import { event } from "./store-inputs.ts";
import { tenant, type Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const both: Record<string, Run> = {
  beginFailing: (db, rows) => endpoints.beginFailing(db, rows),
  endFailing: async (db, rows) => {
    await endpoints.beginFailing(db, rows);
    return endpoints.endFailing(db, rows, false);
  },
  addToOutbox: (db, rows) => {
    const { id, tenantId, type, body } = event(rows, null);
    return outbox.addToOutbox(db, [{ id, tenantId, type, body }]);
  },
};

export const asTenant = both;

export const asWorker: Record<string, Run> = {
  ...both,
  sumExhausted: (db, { tenantId, endpointId }) =>
    notices.sumExhausted(db, [{ tenantId, endpointId, url: "https://example.com/", isDeleted: false }]),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  takeFailing: async (db) => {
    await db.query(
      "UPDATE postern.endpoints SET failing_since = now() - interval '1 hour' WHERE tenant_id = $1",
      [tenant("acme")],
    );
    const found = await notices.takeFailing(db, { afterMs: [1, 2], without: [], limit: 10 });
    if (found.length !== 1) throw new Error("the failing endpoint is not found");
  },
  takeExhausting: async (db) => {
    const found = await notices.takeExhausting(db, { pauseMs: 1, limit: 10 });
    if (found.length !== 2) throw new Error("the endpoints with exhausted events are not found");
  },
};
