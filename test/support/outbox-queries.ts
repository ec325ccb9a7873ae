/** The queries of the outbox, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import * as outbox from "../../src/events/outbox-store.ts";
import * as relay from "../../src/queue/postgres/relay-store.ts";
import { EVENT_TYPE, type Rows } from "./two-tenants.ts";

export const asWorker: Record<string, (db: Db, rows: Rows) => Promise<unknown>> = {
  takeFromOutbox: async (db, { tenantId }) =>
    (await relay.takeFromOutbox(db, [tenantId], [EVENT_TYPE], { events: 10, bodyBytes: 1024 })).events,
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  findOutboxTenants: (db) => relay.findOutboxTenants(db),
  mirrorEventTypes: (db) =>
    outbox.mirrorEventTypes(db, [{ type: EVENT_TYPE, newest: 2, needed: [1], others: [1] }]),
};
