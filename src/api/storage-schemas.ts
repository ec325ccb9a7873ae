/** The storage API's objects and inputs as callers see them, with the functions that make them. */
import { LOGGED_STATUSES } from "../deliveries/delivery.ts";
import * as z from "zod";
import { parseExportId } from "../shared/id.ts";
import { DEFAULT_LINK_SECONDS } from "../storage/library/downloads.ts";
import { DEFAULT_EXPORT_FORMATS, EXPORT_FORMATS, type LogExport } from "../storage/exports/log-export.ts";
import { MAX_SIGNED_URL_SECONDS } from "../storage/rules/issue-signed-url.ts";
import { artifactKind } from "../storage/rules/object-key.ts";
import type { LibraryCursor, LibraryItem } from "../storage/rules/project-library.ts";
import { instant as strictInstant, uuid as strictUuid } from "../storage/rules/values.ts";
import type { TenantSettings } from "../storage/rows/tenant-settings-store.ts";
import { chosenTypes } from "./delivery-query.ts";
import { givenInstant, idText, integerText } from "./page-query.ts";

const id = z.uuid();
const instant = z.iso.datetime();
const DAYS = { least: 1, most: 3650 };

/** One spelling alone, told to readers of the document as what it is. */
const givenUuid = strictUuid.meta({ format: "uuid" });

export const artifactObject = z
  .object({
    id,
    delivery_id: id.describe("The delivery, or for an export the export's own id."),
    attempt: z.int().min(1),
    kind: artifactKind,
    filename: z.string(),
    content_type: z.string(),
    size: z.int().min(0).describe("Bytes."),
    sha256: z.string(),
    status: z
      .enum(["ready", "expiring", "expired", "unavailable"])
      .describe(
        "`expiring`: ready, in its last 24 hours. `expired`: past its deadline, or erased. `unavailable`: its bytes are missing.",
      ),
    available_at: instant,
    expires_at: instant
      .nullable()
      .describe("Its deadline, which erasing it does not change. Null while it is held."),
    downloadable: z.boolean(),
  })
  .meta({ id: "Artifact" });

export const erasedObject = z.object({
  id,
  bytes: z
    .enum(["deleted", "waiting"])
    .describe(
      "`deleted`: verified as gone, so links fail. `waiting`: a worker will delete them; until then links that the object store serves still work.",
    ),
});

export const heldObject = z.object({ id, held: z.boolean() });

export function artifactView(item: LibraryItem): z.infer<typeof artifactObject> {
  return item;
}

export const exportObject = z
  .object({
    id,
    status: z
      .enum(["queued", "running", "ready", "failed", "expired"])
      .describe("`expired`: its archive can no longer be downloaded; request another."),
    from: instant,
    to: instant.describe("Exclusive."),
    endpoint_id: id.nullable(),
    event_type: z.string().nullable(),
    delivery_status: z.enum(LOGGED_STATUSES).nullable(),
    formats: z.array(z.enum(EXPORT_FORMATS)),
    progress: z.object({
      rows_done: z.int().min(0),
      rows_total: z
        .int()
        .min(0)
        .nullable()
        .describe(
          "Null until counted. Grows with rows_done where more was logged since. More than rows_done once the export is ready: the others were deleted at the end of their retention before the export came to them.",
        ),
      bytes: z.int().min(0),
    }),
    object_id: id
      .nullable()
      .describe(
        "The artifact to download, with the export's `id` as its `delivery_id`; null until the export is ready.",
      ),
    error: z.string().nullable(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: "Export" });

export function exportView(found: LogExport): z.infer<typeof exportObject> {
  const { rowsDone, rowsTotal, bytes } = found;
  // A row may be logged later than it was scheduled, so after its time was counted.
  const total = rowsTotal === null ? null : Math.max(rowsTotal, rowsDone);
  return {
    id: found.id,
    status: found.status,
    from: found.from.toISOString(),
    to: found.to.toISOString(),
    endpoint_id: found.endpointId,
    event_type: found.eventType,
    delivery_status: found.deliveryStatus,
    formats: [...found.formats],
    progress: { rows_done: rowsDone, rows_total: total, bytes },
    object_id: found.objectId,
    error: found.error,
    created_at: found.createdAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
  };
}

export const exportInput = z.strictObject({
  from: givenInstant.describe("Deliveries created at or after, as 2026-01-31T00:00:00Z."),
  to: givenInstant.describe("Created before; a time to come means now."),
  endpoint_id: givenUuid.optional().describe("Absent: all endpoints."),
  event_type: chosenTypes.describe("A type, or a prefix such as `invoice.*`. Absent: all types."),
  delivery_status: z.enum(LOGGED_STATUSES).optional().describe("Absent: all logged statuses."),
  formats: z
    .array(z.enum(EXPORT_FORMATS))
    .min(1)
    .refine((formats) => new Set(formats).size === formats.length, "must name each format once")
    .meta({ uniqueItems: true, maxItems: EXPORT_FORMATS.length })
    .default([...DEFAULT_EXPORT_FORMATS])
    .describe("Each format gets its own files."),
});

export const downloadInput = z.strictObject({
  delivery_id: givenUuid.describe("The artifact's `delivery_id`, as the library shows it."),
  ttl_seconds: z
    .int()
    .min(1)
    .max(MAX_SIGNED_URL_SECONDS)
    .default(DEFAULT_LINK_SECONDS)
    .describe("Lifetime of the link, which ends with the artifact at the latest."),
});

export const settingsObject = z
  .strictObject({
    keep_request_bodies: z.boolean(),
    keep_response_bodies: z.boolean().describe("Only bodies longer than the log keeps."),
    artifact_days: z
      .int()
      .min(DAYS.least)
      .max(DAYS.most)
      .nullable()
      .describe("Days for which artifacts are kept. Null: the operator's number, which is the maximum."),
  })
  .meta({ id: "StorageSettings" });

export function settingsView(settings: TenantSettings): z.infer<typeof settingsObject> {
  return {
    keep_request_bodies: settings.keepRequestBodies,
    keep_response_bodies: settings.keepResponseBodies,
    artifact_days: settings.artifactDays,
  };
}

export function toSettings(input: z.infer<typeof settingsObject>): TenantSettings {
  return {
    keepRequestBodies: input.keep_request_bodies,
    keepResponseBodies: input.keep_response_bodies,
    artifactDays: input.artifact_days,
  };
}

const CURSOR = /^(.+)_(.+)$/;

export const libraryQuery = z.strictObject({
  limit: integerText(1, 100, 50),
  after: z
    .string()
    .transform((text, context): LibraryCursor => {
      const [, availableAt, artifactId] = CURSOR.exec(text) ?? [];
      const cursor = z
        .object({ available_at: strictInstant, id: strictUuid })
        .safeParse({ available_at: availableAt, id: artifactId });
      if (cursor.success) return cursor.data;
      context.addIssue({ code: "custom", message: "must be the next of a page" });
      return z.NEVER;
    })
    .optional()
    .describe("The `next` of the page before."),
  kind: artifactKind.optional(),
});

export function cursorText(cursor: LibraryCursor | null): string | null {
  return cursor === null ? null : `${cursor.available_at}_${cursor.id}`;
}

export const exportsQuery = z.strictObject({
  limit: integerText(1, 100, 50),
  before: idText(parseExportId, "an export's id").describe(
    "An export's id: the page of exports older than it.",
  ),
});
