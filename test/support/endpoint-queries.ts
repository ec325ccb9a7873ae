/** The queries of a tenant's endpoints, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import * as endpoints from "../../src/endpoints/endpoint-store.ts";
import { newEndpoint, secret } from "./store-inputs.ts";
import type { Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

export const asTenant: Record<string, Run> = {
  listEndpoints: (db, { tenantId }) => endpoints.listEndpoints(db, tenantId),
  findEndpoint: (db, { tenantId, endpointId }) => endpoints.findEndpoint(db, tenantId, endpointId),
  lockTenantEndpoints: (db, { tenantId }) => endpoints.lockTenantEndpoints(db, tenantId),
  insertEndpoint: (db, rows) => endpoints.insertEndpoint(db, newEndpoint(rows)),
  updateEndpoint: (db, { tenantId, endpointId }) =>
    endpoints.updateEndpoint(db, tenantId, endpointId, { description: "mine", enabled: false }),
  softDeleteEndpoint: (db, { tenantId, endpointId }) =>
    endpoints.softDeleteEndpoint(db, tenantId, endpointId),
  findHealth: (db, { tenantId, endpointId }) => endpoints.findHealth(db, tenantId, endpointId),
  lockHeaders: (db, { tenantId, endpointId }) => endpoints.lockHeaders(db, tenantId, endpointId),
  lockSecret: (db, { tenantId, endpointId }) => endpoints.lockSecret(db, tenantId, endpointId),
  replaceSecret: (db, { tenantId, endpointId }) =>
    endpoints.replaceSecret(db, tenantId, endpointId, { secret, graceSeconds: 60 }),
  loadTargets: (db, rows) => endpoints.loadTargets(db, [rows]),
};

export const asWorker: Record<string, Run> = {
  loadTargets: (db, rows) => endpoints.loadTargets(db, [rows]),
  disableEndpoint: (db, rows) =>
    endpoints.disableEndpoint(db, { ...rows, url: "https://example.com/", failingSince: null }, "gone"),
};
