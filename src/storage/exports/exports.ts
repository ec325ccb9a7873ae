/** Asking for exports, and seeing how far they are. The worker makes them. */
import { recordDone } from "../../audit/audit.ts";
import type { Caller } from "../../audit/audit-entry.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { newExportId, parseEndpointId, type ExportId, type TenantId } from "../../shared/id.ts";
import { issueAt, Refusal, type Issue } from "../../shared/refusal.ts";
import { readDatabaseClock } from "../rows/stored-object-store.ts";
import { findExport, insertExport, listExports, lockUnfinishedExports } from "./export-store.ts";
import { exportAt, MAX_EXPORT_RANGE_MS, MAX_UNFINISHED_EXPORTS, type LogExport } from "./log-export.ts";

export type ExportRequest = Pick<LogExport, "eventType" | "deliveryStatus" | "formats"> & {
  from: Date;
  /** Exclusive; a time to come means now. */
  to: Date;
  /** As the caller spells it; null: all endpoints. */
  endpointId: string | null;
  /** The subject of the session that asks. */
  requestedBy: string;
};

export type Exports = ReturnType<typeof makeExports>;

export function makeExports(tenants: TenantPool) {
  async function request(caller: Caller, asked: ExportRequest): Promise<ExportId> {
    const { tenantId } = caller;
    const { requestedBy } = asked;
    const endpointId = asked.endpointId === null ? null : parseEndpointId(asked.endpointId);
    if (endpointId === null && asked.endpointId !== null) throw new Refusal("endpoint_not_found");
    const db = tenants.of(tenantId);
    const now = new Date(await readDatabaseClock(db));
    const { from, eventType, deliveryStatus, formats } = asked;
    // Deliveries of the future would make the archive depend on when it is read.
    const to = asked.to < now ? asked.to : now;
    requireRange(from, to);
    const id = newExportId();
    await db.transaction(async (transaction) => {
      const unfinished = await lockUnfinishedExports(transaction, tenantId);
      if (unfinished >= MAX_UNFINISHED_EXPORTS) throw new Refusal("export_limit_reached");
      const filter = { endpointId, eventType, deliveryStatus };
      if (!(await insertExport(transaction, { tenantId, id, from, to, ...filter, formats, requestedBy }))) {
        throw new Refusal("endpoint_not_found");
      }
      const details = {
        export_id: id,
        from: from.toISOString(),
        to: to.toISOString(),
        event_type: eventType,
        delivery_status: deliveryStatus,
        formats,
      };
      await recordDone(transaction, caller, { action: "export.requested", endpointId, details });
    });
    return id;
  }

  async function get(tenantId: TenantId, id: ExportId | null): Promise<LogExport> {
    const db = tenants.of(tenantId);
    const found = id === null ? null : await findExport(db, tenantId, id);
    if (found === null) throw new Refusal("not_found");
    return exportAt(found, await readDatabaseClock(db));
  }

  async function list(
    tenantId: TenantId,
    page: { before: ExportId | null; limit: number },
  ): Promise<LogExport[]> {
    const db = tenants.of(tenantId);
    const found = await listExports(db, tenantId, page);
    const now = await readDatabaseClock(db);
    return found.map((one) => exportAt(one, now));
  }

  return { request, get, list };
}

function requireRange(from: Date, to: Date): void {
  const issues: Issue[] = [];
  if (from >= to) issues.push(issueAt("from", "must be before to, and in the past"));
  if (to.getTime() - from.getTime() > MAX_EXPORT_RANGE_MS)
    issues.push(issueAt("to", "must be within 366 days"));
  if (issues.length > 0) throw new Refusal("validation_failed", { issues });
}
