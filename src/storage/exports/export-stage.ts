/** The first half of a run: the log, page by page, into parts of an archive in a folder of this machine. */
import { randomUUID } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Db } from "../../database/pool.ts";
import { makeFolders } from "../../shared/make-folders.ts";
import { ARCHIVE_CEILINGS } from "../rules/validate-archive.ts";
import { readLogPage, type LogPage } from "./export-log-store.ts";
import { recordPart } from "./export-store.ts";
import {
  ExportImpossibleError,
  ExportLeaseLostError,
  type LeasedExport,
  type LogPosition,
  type StagedPart,
} from "./log-export.ts";
import { openLogFile } from "./log-files.ts";
import { openPartFile, writeFiles, type LogFile, type PartFile, type StagedFile } from "./part-file.ts";

/** What bounds a run's memory and what a crash can cost it. */
export type StageLimits = {
  pageRows: number;
  /** Bodies in memory at once, in bytes; a larger one comes alone. */
  pageBodyBytes: number;
  partRows: number;
  /** Of the part's largest file. */
  partBytes: number;
};

export const STAGE_LIMITS: StageLimits = {
  pageRows: 200,
  pageBodyBytes: 1024 * 1024,
  partRows: 50_000,
  partBytes: 64 * 1024 * 1024,
};

type Staging = {
  run: LeasedExport;
  folder: string;
  /** Of the tenant's role: what it reads is the tenant's, whatever is asked. */
  log: Db;
  /** Of the worker's role. */
  db: Db;
  limits: StageLimits;
  leaseMs: number;
  signal: AbortSignal;
};

/** Where a staged file lies. */
export function placeOf(folder: string, { id }: Pick<StagedFile, "id">): string {
  return join(folder, id);
}

/** Whether every file that earlier runs staged is here, as long as it was. */
export async function hasStagedFiles(folder: string, parts: readonly StagedPart[]): Promise<boolean> {
  for (const file of parts.flatMap(({ files }) => files)) {
    const size = await stat(placeOf(folder, file)).then(
      (stats) => stats.size,
      () => -1,
    );
    if (size !== file.compressed_size) return false;
  }
  return true;
}

/** Stages what is still missing of the range; answers all parts. */
export async function stageLog(staging: Staging): Promise<StagedPart[]> {
  const { run, folder } = staging;
  await makeFolders(folder);
  const parts = [...run.parts];
  let { after } = run;
  for (;;) {
    const staged = await stagePart(staging, { number: parts.length + 1, after });
    if (staged === null) return parts;
    parts.push(staged.part);
    after = staged.after;
    requireRoom(parts);
    await record(staging, staged.part, after);
  }
}

/** Writes one file that is not of the log, as a part of its own. */
export async function stageFile(staging: Staging, path: string, content: string): Promise<StagedPart> {
  const file = openPart(staging.folder, path);
  const files = await writeFiles([file], async () => file.writeText(content));
  const part = { rows: 0, files };
  await record(staging, part, null);
  return part;
}

async function record(staging: Staging, part: StagedPart, after: LogPosition | null): Promise<void> {
  const { db, run, leaseMs, folder } = staging;
  await syncFolder(folder);
  if (!(await recordPart(db, run, { part, after, leaseMs }))) throw new ExportLeaseLostError();
}

/** Null at the end of the range: there is no empty part. */
async function stagePart(
  staging: Staging,
  { number, after }: { number: number; after: LogPosition | null },
): Promise<{ part: StagedPart; after: LogPosition | null } | null> {
  const { run, limits, signal } = staging;
  let page = await nextFilledPage(staging, after);
  if (page.rows.length === 0) return null;
  const name = `deliveries-${String(number).padStart(5, "0")}`;
  const files: LogFile[] = [];
  let position = page.after;
  let rows = 0;
  const staged = await writeFiles(files, async () => {
    for (const format of run.formats) {
      files.push(openLogFile(format, openPart(staging.folder, `${format}/${name}.${format}`)));
    }
    for (;;) {
      signal.throwIfAborted();
      for (const file of files) await file.add(page.rows);
      rows += page.rows.length;
      position = page.after ?? position;
      if (rows >= limits.partRows || files.some((file) => file.size() >= limits.partBytes)) return;
      page = await nextFilledPage(staging, position);
      if (page.rows.length === 0) return;
    }
  });
  return { part: { rows, files: staged }, after: position };
}

function openPart(folder: string, path: string): PartFile {
  const id = randomUUID();
  return openPartFile(placeOf(folder, { id }), { id, path });
}

/** The next page with rows that fit; one without rows ends the range. */
async function nextFilledPage(
  { run, log, limits, signal }: Staging,
  after: LogPosition | null,
): Promise<LogPage> {
  const page = { limit: limits.pageRows, maxBodyBytes: limits.pageBodyBytes };
  let found = await readLogPage(log, run, { ...page, after });
  while (found.rows.length === 0 && found.after !== null) {
    signal.throwIfAborted();
    found = await readLogPage(log, run, { ...page, after: found.after });
  }
  return found;
}

/** Before a disk is filled with what no archive may hold. */
export function requireRoom(parts: readonly StagedPart[]): void {
  const total = parts.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
  if (total <= ARCHIVE_CEILINGS.total_bytes) return;
  throw new ExportImpossibleError(
    "The range holds more than 4 GiB. Ask for a shorter one, for one endpoint, or for one format.",
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
