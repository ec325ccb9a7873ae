/** A tenant's request for an archive of its delivery log. */
import type { LoggedStatus } from "../../deliveries/delivery.ts";
import * as z from "zod";
import type { DeliveryId, EndpointId, ExportId, TenantId } from "../../shared/id.ts";
import { deadlinePhase } from "../rules/evaluate-expiry.ts";
import { DAY_MS } from "../rules/instants.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { integer } from "../rules/values.ts";
import { stagedFile } from "./part-file.ts";

/** Queued and running ones of a tenant. */
export const MAX_UNFINISHED_EXPORTS = 3;
export const MAX_EXPORT_RANGE_MS = 366 * DAY_MS;
/** More are not counted, and not exported in one archive. */
export const MAX_EXPORT_ROWS = 10_000_000;

/** In the order in which an archive holds them. */
export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
export const DEFAULT_EXPORT_FORMATS: readonly ExportFormat[] = ["ndjson", "csv"];

/** What of the log an export holds; null: all. */
export type ExportFilter = {
  endpointId: EndpointId | null;
  /** A type, or a prefix such as `invoice.*`. */
  eventType: string | null;
  deliveryStatus: LoggedStatus | null;
};

/** `expired`: it was ready, and its archive can no longer be downloaded. */
export type ExportStatus = "queued" | "running" | "ready" | "failed" | "expired";

/** As a tenant sees it. */
export type LogExport = ExportFilter & {
  tenantId: TenantId;
  id: ExportId;
  from: Date;
  /** Exclusive. */
  to: Date;
  formats: readonly ExportFormat[];
  status: ExportStatus;
  attempt: number;
  /** Null until counted. */
  rowsTotal: number | null;
  rowsDone: number;
  /** Of the files staged so far, and at the end of the archive. */
  bytes: number;
  objectId: string | null;
  error: string | null;
  createdAt: Date;
  updatedAt: Date;
};

/** An export as stored, with its archive's row: null before there is one, and when it is gone. */
export type ExportWithArchive = LogExport & {
  archive: Pick<StoredObject, "state" | "deadline" | "hold"> | null;
};

/**
 * The export as a tenant sees it now. What is stored says that it became ready;
 * for how long its archive is there is told by the archive alone, so that both
 * end at the same millisecond, whatever job has run.
 */
export function exportAt({ archive, ...found }: ExportWithArchive, now: string): LogExport {
  const isOver =
    archive === null ||
    archive.state === "expired" ||
    archive.state === "purged" ||
    deadlinePhase(archive, now).phase === "EXPIRED";
  return found.status === "ready" && isOver ? { ...found, status: "expired" } : found;
}

/** The rows of one stretch of the log, in each form. */
export const stagedPart = z.strictObject({ rows: integer(0), files: z.array(stagedFile) });
export type StagedPart = z.infer<typeof stagedPart>;

/** The last delivery that a staged part holds. */
export type LogPosition = { endpointId: EndpointId; deliveryId: DeliveryId };

/** An export whose lease this process holds, and how far earlier runs came. */
export type LeasedExport = LogExport & {
  /** Fences every change that the run makes. */
  leaseOwner: string;
  /** Runs begun since the last staged part, this one included. */
  fruitlessRuns: number;
  after: LogPosition | null;
  parts: StagedPart[];
};

/** Why an export cannot be made, in words for its tenant. Another run would end the same. */
export class ExportImpossibleError extends Error {
  override readonly name = "ExportImpossibleError";
}

/** The lease passed to another worker, or the export was ended. */
export class ExportLeaseLostError extends Error {
  override readonly name = "ExportLeaseLostError";
}
