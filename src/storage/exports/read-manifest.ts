/** Reads back what an archive says of itself, and whether all of it is true. */
import { LOGGED_STATUSES } from "../../deliveries/delivery.ts";
import { createHash, randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { openPromise, type ZipFile } from "yauzl";
import * as z from "zod";
import { parseEndpointId, parseExportId, parseTenantId, type ExportId } from "../../shared/id.ts";
import { parseJson } from "../../shared/parse-json.ts";
import { instant, sha256, sizeBytes } from "../rules/values.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { judgeArchive } from "./judge-archive.ts";
import { DEFAULT_EXPORT_FORMATS, EXPORT_FORMATS, type ExportFilter, type LogExport } from "./log-export.ts";

export const MANIFEST = "manifest.json";
/** That of an archive with as many files as are allowed is a tenth of it. */
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

const manifest = z.object({
  export_id: z.string().transform(parseExportId),
  tenant_id: z.string().transform(parseTenantId),
  from: instant,
  to: instant,
  endpoint_id: z.string().transform(parseEndpointId).nullable(),
  // Archives of before had neither a choice of rows nor of formats.
  event_type: z.string().nullable().default(null),
  delivery_status: z.enum(LOGGED_STATUSES).nullable().default(null),
  formats: z
    .array(z.enum(EXPORT_FORMATS))
    .min(1)
    .default([...DEFAULT_EXPORT_FORMATS]),
  deliveries: z.int().min(0),
  files: z.array(z.object({ path: z.string(), size: sizeBytes, sha256 })),
});

export type ArchiveManifest = ExportFilter &
  Pick<LogExport, "tenantId" | "from" | "to" | "formats"> & { exportId: ExportId; deliveries: number };

/** What the archive holds, where every file of it is as its manifest says; else why it is not believed. */
export async function readManifest(place: string): Promise<ArchiveManifest | { fault: string }> {
  const bytes = await readEntry(place, MANIFEST).catch(() => null);
  if (bytes === null) return { fault: "it has no manifest that can be read" };
  const parsed = manifest.safeParse(parseJson(bytes.toString("utf8")));
  if (!parsed.success) return { fault: "its manifest is not one that Postern writes" };
  const { export_id: exportId, tenant_id: tenantId, files, ...rest } = parsed.data;
  if (exportId === null || tenantId === null) return { fault: "its manifest names no export or tenant" };
  const own = {
    path: MANIFEST,
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
  const promised = {
    tenantId: storageTenantId(tenantId),
    exportId,
    files: [...files, own].map(({ path, size, sha256: digest }) => ({
      id: randomUUID(),
      path,
      size,
      sha256: digest,
    })),
  };
  const { code } = await judgeArchive(place, promised);
  if (code !== "VALID") return { fault: `its files are not what its manifest says: ${code}` };
  return {
    exportId,
    tenantId,
    from: new Date(rest.from),
    to: new Date(rest.to),
    endpointId: rest.endpoint_id,
    eventType: rest.event_type,
    deliveryStatus: rest.delivery_status,
    formats: rest.formats,
    deliveries: rest.deliveries,
  };
}

/** Null where there is none of that path, or a larger one than is read. */
async function readEntry(place: string, path: string): Promise<Buffer | null> {
  const zip: ZipFile = await openPromise(place, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== path) continue;
      if (entry.uncompressedSize > MAX_MANIFEST_BYTES) return null;
      return await buffer(await zip.openReadStreamPromise(entry));
    }
    return null;
  } finally {
    zip.close();
  }
}
