/** Whether a ZIP holds exactly what was staged for it, and nothing that could harm who unpacks it. */
import {
  ARCHIVE_CEILINGS,
  ceilingName,
  validateArchive,
  type CeilingName,
  type ValidateArchiveOutput,
} from "../rules/validate-archive.ts";
import { inspectArchive } from "./inspect-archive.ts";
import type { StagedFile } from "./part-file.ts";

type PromisedFile = Pick<StagedFile, "id" | "path" | "size" | "sha256">;

export type ArchiveVerdict = ValidateArchiveOutput | { code: "UNREADABLE"; reason: string };

/**
 * Reads the archive back and judges it.
 *
 * @param promised the tenant of storage, the export, and the files staged for it.
 */
export async function judgeArchive(
  place: string,
  promised: { tenantId: string; exportId: string; files: readonly PromisedFile[] },
  options: { ceilings?: Readonly<Record<CeilingName, number>>; signal?: AbortSignal } = {},
): Promise<ArchiveVerdict> {
  const { ceilings = ARCHIVE_CEILINGS } = options;
  const inspected = await inspectArchive(place, options);
  if (inspected.code === "UNREADABLE") return inspected;
  const owner = { tenant_id: promised.tenantId, delivery_id: promised.exportId };
  const { output } = validateArchive({
    ...owner,
    ignore_directories: false,
    container: inspected.container,
    entries: inspected.entries,
    ceilings: ceilingName.options.map((name) => ({ name, max: ceilings[name] })),
    manifest: promised.files.map(({ id, path, size, sha256 }) => ({ path, size, sha256, source_id: id })),
    sources: promised.files.map(({ id, size, sha256 }) => ({
      id,
      ...owner,
      state: "available" as const,
      size,
      sha256,
    })),
  });
  return output;
}
