/** The queries of exports, of kept bodies and of a tenant's settings, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import { newDeliveryId, newExportId } from "../../src/shared/id.ts";
import * as bodies from "../../src/storage/artifacts/kept-body-store.ts";
import * as log from "../../src/storage/exports/export-log-store.ts";
import * as exports from "../../src/storage/exports/export-store.ts";
import * as settings from "../../src/storage/rows/tenant-settings-store.ts";
import { DEFAULT_EXPORT_FORMATS } from "../../src/storage/exports/log-export.ts";
import { LEASE_OWNER, type Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const keepsBodies = async (db: Db, { tenantId }: Rows) =>
  (await settings.readTenantSettings(db, tenantId)).keepRequestBodies;

const range = ({ tenantId }: Rows) => ({
  tenantId,
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() + 3_600_000),
  endpointId: null,
  eventType: null,
  deliveryStatus: null,
  formats: DEFAULT_EXPORT_FORMATS,
});

const leasedExport = ({ tenantId, exportId: id }: Rows) => ({ tenantId, id, leaseOwner: LEASE_OWNER });

const waitingBody = ({ tenantId, endpointId, deliveryId }: Rows) => ({
  tenantId,
  endpointId,
  deliveryId,
  attempt: 1,
  kind: "request_body" as const,
  body: null,
  days: null,
  tries: 1,
  waitedS: 1,
});

export const asTenant: Record<string, Run> = {
  insertBodies: (db, rows) =>
    bodies.insertBodies(
      db,
      { ...waitingBody(rows), id: newDeliveryId() },
      { requestBody: true, responseBody: null, days: null },
    ),
  readRequestBody: (db, rows) => bodies.readRequestBody(db, waitingBody(rows)),
  readTenantSettings: keepsBodies,
  writeTenantSettings: (db, { tenantId }) =>
    settings.writeTenantSettings(db, tenantId, {
      keepRequestBodies: false,
      keepResponseBodies: false,
      artifactDays: 1,
    }),
  lockUnfinishedExports: (db, { tenantId }) => exports.lockUnfinishedExports(db, tenantId),
  insertExport: (db, rows) =>
    exports.insertExport(db, { ...range(rows), id: newExportId(), requestedBy: "intruder" }),
  insertExportOfEndpoint: (db, rows) =>
    exports.insertExport(db, { ...range(rows), ...rows, id: newExportId(), requestedBy: "intruder" }),
  insertAdoptedExport: async (db, rows) => {
    const archive = { exportId: newExportId(), deliveries: 1, objectId: rows.objectId, attempt: 1, bytes: 1 };
    await exports.insertAdoptedExport(db, { ...range(rows), ...archive });
  },
  findExport: (db, { tenantId, exportId }) => exports.findExport(db, tenantId, exportId),
  listExports: (db, { tenantId }) => exports.listExports(db, tenantId, { before: null, limit: 10 }),
  countLogSlice: async (db, rows) =>
    (await log.countLogSlice(db, range(rows), { after: null, limit: 10 })).count,
  readLogPage: async (db, rows) =>
    (await log.readLogPage(db, range(rows), { after: null, limit: 10, maxBodyBytes: 1000 })).rows,
  readNarrowedLogPage: async (db, rows) =>
    (
      await log.readLogPage(
        db,
        { ...range(rows), deliveryStatus: "failed" },
        { after: null, limit: 10, maxBodyBytes: 1000 },
      )
    ).rows,
};

export const asWorker: Record<string, Run> = {
  readTenantSettings: keepsBodies,
  renewExport: (db, rows) => exports.renewExport(db, leasedExport(rows), 1000),
  beginRun: (db, rows) => exports.beginRun(db, leasedExport(rows), 7),
  recordPart: (db, rows) =>
    exports.recordPart(db, leasedExport(rows), { part: { rows: 1, files: [] }, after: null, leaseMs: 1000 }),
  releaseExport: (db, rows) =>
    exports.releaseExport(db, leasedExport(rows), { delayMs: 1000, isFruitless: true }),
  claimBodies: (db, { tenantId }) => bodies.claimBodies(db, [tenantId], { each: 10, leaseMs: 60_000 }),
  deleteBodiesOf: (db, { tenantId }) => bodies.deleteBodiesOf(db, tenantId),
  deleteBody: (db, rows) => bodies.deleteBody(db, waitingBody(rows)),
  postponeBody: (db, rows) => bodies.postponeBody(db, waitingBody(rows), 60_000),
  finishExport: (db, rows) => exports.finishExport(db, leasedExport(rows), { error: "ended" }),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  findBodyTenants: (db) => bodies.findBodyTenants(db),
  measureBodies: (db) => bodies.measureBodies(db),
  claimExport: (db) => exports.claimExport(db, LEASE_OWNER, 1000),
  readAttempts: (db) => exports.readAttempts(db, [newExportId()]),
  listUnfinishedExports: (db) => exports.listUnfinishedExports(db, [newExportId()]),
};
