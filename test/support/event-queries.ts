/** The queries of a tenant's events and of what is sent again, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import { findEndpointOf } from "../../src/deliveries/delivery-store.ts";
import * as events from "../../src/deliveries/event-log-store.ts";
import { rangeOf } from "../../src/deliveries/search-filter.ts";
import { lockEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { insertOnce } from "../../src/queue/postgres/once-store.ts";
import { EVENT_TYPE, type Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const anyType = { exactly: null, prefix: null };
const slice = { range: rangeOf({}), most: 5, limit: 5 };

export const asTenant: Record<string, Run> = {
  findEndpointOf: (db, { tenantId, deliveryId }) => findEndpointOf(db, tenantId, deliveryId),
  "findEndpointOf, pending": (db, { tenantId, leasedId }) => findEndpointOf(db, tenantId, leasedId),
  listEventSlice: async (db, { tenantId }) =>
    (await events.listEventSlice(db, tenantId, anyType, slice)).found,
  findEvent: (db, { tenantId, eventId }) => events.findEvent(db, tenantId, eventId),
  lockEndpoint: (db, rows) => lockEndpoint(db, rows),
  findNewestAttempt: (db, rows) => events.findNewestAttempt(db, rows),
  insertOnce: (db, rows) => insertOnce(db, { ...rows, eventType: EVENT_TYPE, attempt: 2 }),
  findAttempts: async (db, { tenantId, eventId }) =>
    (await events.findAttempts(db, { tenantId, eventId }, 100)).keys,
};
