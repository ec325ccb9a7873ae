/**
 * One run of an export: stage the log, make the archive, judge it, upload it,
 * try its links, and open it to the tenant. Each step can be done again: staged
 * files make the same archive byte by byte, and an upload that was done is
 * found and taken over.
 */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Db, Pool } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import { publishOwn } from "../../events/own-events.ts";
import type { Bucket } from "../bytes/bucket.ts";
import type { LinkProbes } from "../library/link-probes.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { insertPendingObject, readDatabaseClock } from "../rows/stored-object-store.ts";
import { readTenantSettings } from "../rows/tenant-settings-store.ts";
import { decideOpening, openObject, uploadObject } from "../library/upload-object.ts";
import { writeArchive, type WrittenArchive } from "./archive-writer.ts";
import {
  hasStagedFiles,
  placeOf,
  requireRoom,
  stageFile,
  stageLog,
  type StageLimits,
} from "./export-stage.ts";
import { countLog } from "./count-log.ts";
import { beginRun, finishExport } from "./export-store.ts";
import { judgeArchive } from "./judge-archive.ts";
import { MANIFEST } from "./read-manifest.ts";
import {
  ExportImpossibleError,
  ExportLeaseLostError,
  MAX_EXPORT_ROWS,
  type LeasedExport,
  type StagedPart,
} from "./log-export.ts";

export type ExportRunServices = {
  db: Pool;
  tenants: TenantPool;
  bucket: Bucket;
  probes: LinkProbes;
  /** Days for which the operator lets artifacts be kept. */
  planDays: number;
  limits: StageLimits;
  leaseMs: number;
};

const MAX_RUNS = 20;
/** Small, so that the memory of chunks that were sent is given back soon. */
const UPLOAD_CHUNK_BYTES = 8 * 1024;

/**
 * Makes the archive and opens it.
 *
 * @param folder this machine's place for the export's files.
 * @throws ExportImpossibleError where no run can succeed; ExportLeaseLostError where it is another's now; the signal's reason.
 */
export async function runExport(
  services: ExportRunServices,
  leased: LeasedExport,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<void> {
  const { db, tenants, limits, leaseMs } = services;
  const log = tenants.reading(leased.tenantId);
  const run = await continueOrBegin(services, leased, { folder, signal });
  const staging = { run, folder, log, db, limits, leaseMs, signal };
  const isStaged = run.parts.flatMap(({ files }) => files).some(({ path }) => path === MANIFEST);
  const parts = isStaged ? run.parts : await stageLog(staging);
  if (!isStaged) parts.push(await stageFile(staging, MANIFEST, manifestOf(run, parts)));
  // The manifest counts too.
  requireRoom(parts);

  const place = await freshArchivePlace(folder);
  const files = parts.flatMap((part) => part.files);
  const archive = await writeArchive(place, files, {
    placeOf: (file) => placeOf(folder, file),
    modifiedAt: run.createdAt,
    signal,
  });
  await requireValid(run, parts, { place, signal });
  await deliver(services, run, { archive, place, signal });
}

/** Continues after the last staged part if its files are here, otherwise starts over. */
async function continueOrBegin(
  { db, tenants }: ExportRunServices,
  leased: LeasedExport,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<LeasedExport> {
  if (leased.attempt > 0 && (await hasStagedFiles(folder, leased.parts))) return leased;
  if (leased.attempt >= MAX_RUNS)
    throw new ExportImpossibleError("It was begun too often without coming to an end.");
  const rowsTotal = await countLog(tenants.reading(leased.tenantId), leased, {
    limit: MAX_EXPORT_ROWS,
    signal,
  });
  if (rowsTotal > MAX_EXPORT_ROWS) {
    throw new ExportImpossibleError(
      `The range holds more than ${MAX_EXPORT_ROWS} deliveries. Ask for a shorter one.`,
    );
  }
  if (!(await beginRun(db, leased, rowsTotal))) throw new ExportLeaseLostError();
  await rm(folder, { recursive: true, force: true });
  return { ...leased, attempt: leased.attempt + 1, rowsTotal, rowsDone: 0, after: null, parts: [] };
}

/** The archive's manifest: its contents and their source. The same for the same parts. */
function manifestOf(run: LeasedExport, parts: readonly StagedPart[]): string {
  const files = parts.flatMap((part) =>
    part.files.map(({ path, size, sha256 }) => ({ path, rows: part.rows, size, sha256 })),
  );
  const manifest = {
    export_id: run.id,
    tenant_id: run.tenantId,
    from: run.from.toISOString(),
    to: run.to.toISOString(),
    endpoint_id: run.endpointId,
    event_type: run.eventType,
    delivery_status: run.deliveryStatus,
    formats: run.formats,
    deliveries: parts.reduce((sum, { rows }) => sum + rows, 0),
    files,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** A run that died may have left half an archive. */
async function freshArchivePlace(folder: string): Promise<string> {
  for (const name of await readdir(folder)) if (name.endsWith(".zip")) await rm(join(folder, name));
  return join(folder, `${randomUUID()}.zip`);
}

async function requireValid(
  run: LeasedExport,
  parts: readonly StagedPart[],
  { place, signal }: { place: string; signal: AbortSignal },
): Promise<void> {
  const files = parts.flatMap((part) => part.files);
  const promised = { tenantId: storageTenantId(run.tenantId), exportId: run.id, files };
  const verdict = await judgeArchive(place, promised, { signal });
  if (verdict.code === "VALID") return;
  const detail = "reason" in verdict ? verdict.reason : JSON.stringify(verdict.violations.slice(0, 3));
  throw new Error(`the archive is not valid: ${verdict.code} ${detail}`);
}

async function deliver(
  services: ExportRunServices,
  run: LeasedExport,
  { archive, place, signal }: { archive: WrittenArchive; place: string; signal: AbortSignal },
): Promise<void> {
  const { db, bucket, probes, planDays } = services;
  const wanted = {
    tenantId: run.tenantId,
    id: randomUUID(),
    deliveryId: run.id,
    attempt: run.attempt,
    kind: "export" as const,
    bucket: bucket.name,
    ...archive,
  };
  const object = await unlessAborted(
    uploadObject({ db, bucket, begin: (object) => insertPendingObject(db, object, "export") }, wanted, () =>
      createReadStream(place, { highWaterMark: UPLOAD_CHUNK_BYTES }),
    ),
    signal,
  );
  if (object === null) throw new Error("the archive's key is taken by something else");
  const now = await readDatabaseClock(db);
  const tried = await unlessAborted(probes.run(object, now), signal);
  const { artifactDays } = await readTenantSettings(db, run.tenantId);
  const opening = await decideOpening(
    bucket,
    {
      delivery: { id: run.id, tenant_id: storageTenantId(run.tenantId), latest_attempt: run.attempt },
      object,
      archive_code: "VALID",
      probes: tried,
      now,
    },
    { plan: planDays, tenant: artifactDays },
  );
  await inTransaction(db, async (transaction) => {
    if (!(await openObject(transaction, opening, now))) throw new Error("the archive's row has changed");
    await announce(transaction, { run, object, expiresAt: opening.deadline });
  });
}

async function announce(
  transaction: Db,
  { run, object, expiresAt }: { run: LeasedExport; object: StoredObject; expiresAt: string },
): Promise<void> {
  if (!(await finishExport(transaction, run, { objectId: object.id, bytes: object.size }))) {
    throw new ExportLeaseLostError();
  }
  await publishOwn(transaction, run.tenantId, {
    type: "storage.export.ready",
    data: { export_id: run.id, object_id: object.id, expires_at: expiresAt },
  });
}

/** For work that cannot be interrupted: it continues without being awaited. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // After a stop the work is not awaited, and then its failure must not end the process.
  work.catch(() => undefined);
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
