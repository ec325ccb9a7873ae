/** Makes exports, one at a time in a process: claims, runs, and says how each ended. */
import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isPassing } from "../../database/passing-errors.ts";
import { every } from "../../shared/every.ts";
import { parseExportId, type ExportId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { StoreUnavailableError } from "../bytes/bucket.ts";
import { runExport, type ExportRunServices } from "./export-run.ts";
import {
  claimExport,
  finishExport,
  listUnfinishedExports,
  releaseExport,
  renewExport,
} from "./export-store.ts";
import { ExportImpossibleError, ExportLeaseLostError, type LeasedExport } from "./log-export.ts";

const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const POLL_MS = 1000;
const RETRY_MS = 5000;
/** An outage of the object store or the database counts as no failure for so long without a staged part. */
const OUTAGE_LIMIT_MS = 3_600_000;
const OUTAGE_RETRY_MS = 30_000;
const TIDY_EVERY_MS = 3_600_000;
const MAX_FRUITLESS_RUNS = 3;
const GIVEN_UP = "It could not be made in three tries. The operator's log says why.";

export type ExportWorker = { start(): void; stop(): Promise<void> };

export type ExportWorkerServices = Omit<ExportRunServices, "leaseMs"> & {
  /** Staged files lie below it. */
  dataDir: string;
  log: Log;
  metrics: Pick<Metrics, "exportsTotal">;
};

export function makeExportWorker(services: ExportWorkerServices): ExportWorker {
  const { db, log, metrics } = services;
  const root = join(services.dataDir, "exports");
  const stopping = new AbortController();
  let running: Promise<unknown> | null = null;
  const outages = new Map<ExportId, { since: number; parts: number }>();

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const found = await makeOne().catch((error: unknown) => {
        log.warn({ err: error }, "no export could be claimed");
        return false;
      });
      if (!found) await delay(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Whether there was one to make. */
  async function makeOne(): Promise<boolean> {
    const leased = await claimExport(db, randomUUID(), LEASE_MS);
    if (leased === null) return false;
    if (leased.fruitlessRuns > MAX_FRUITLESS_RUNS) {
      log.error(
        { exportId: leased.id, tenantId: leased.tenantId },
        "an export's runs all died; it has failed",
      );
      await end(leased, GIVEN_UP);
      return true;
    }
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    const renewal = setInterval(() => void renew(leased, lost), RENEW_MS);
    try {
      await runExport({ ...services, leaseMs: LEASE_MS }, leased, { folder: folderOf(leased.id), signal });
      outages.delete(leased.id);
      await rm(folderOf(leased.id), { recursive: true, force: true });
      metrics.exportsTotal.inc({ outcome: "ready" });
      log.info({ exportId: leased.id, tenantId: leased.tenantId }, "an export is ready");
    } catch (error) {
      await settle(leased, error);
    } finally {
      clearInterval(renewal);
    }
    return true;
  }

  async function renew(leased: LeasedExport, lost: AbortController): Promise<void> {
    try {
      if (!(await renewExport(db, leased, LEASE_MS))) lost.abort(new ExportLeaseLostError());
    } catch (error) {
      log.warn({ err: error, exportId: leased.id }, "an export's lease could not be renewed yet");
    }
  }

  async function settle(leased: LeasedExport, error: unknown): Promise<void> {
    const about = { err: error, exportId: leased.id, tenantId: leased.tenantId };
    if (error instanceof ExportLeaseLostError) {
      log.warn(about, "an export passed to another worker");
    } else if (stopping.signal.aborted) {
      await release(leased, { delayMs: 0, isFruitless: false });
    } else if (error instanceof ExportImpossibleError) {
      await end(leased, error.message);
    } else {
      await failOnce(leased, error);
    }
  }

  async function failOnce(leased: LeasedExport, error: unknown): Promise<void> {
    const about = { err: error, exportId: leased.id, tenantId: leased.tenantId };
    // What the world refuses, it may allow later; anything else may lie in what was staged.
    const isOutage = error instanceof StoreUnavailableError || isPassing(error);
    if (isOutage && outageMs(leased) < OUTAGE_LIMIT_MS) {
      log.warn(about, "an export waits for the object store or the database; it goes on when they are back");
      await release(leased, { delayMs: OUTAGE_RETRY_MS, isFruitless: false });
      return;
    }
    const isLast = leased.fruitlessRuns >= MAX_FRUITLESS_RUNS;
    log.error(about, isLast ? "an export has failed for good" : "an export's run failed; it is tried again");
    if (isLast) return end(leased, GIVEN_UP);
    const delayMs = RETRY_MS * leased.fruitlessRuns;
    const isOurs = await release(leased, { delayMs, isFruitless: true });
    // Another process of this machine may have it by now, and be at work on these very files.
    if (isOurs && !isOutage) await rm(folderOf(leased.id), { recursive: true, force: true });
  }

  /** For how long this process has seen the export's runs end by an outage, without a part staged between them. */
  function outageMs({ id, parts }: LeasedExport): number {
    const known = outages.get(id);
    if (known?.parts === parts.length) return performance.now() - known.since;
    outages.set(id, { since: performance.now(), parts: parts.length });
    return 0;
  }

  /**
   * Gives the lease back as soon as the database takes it: a lease that ends by
   * itself would count its run as fruitless. Until then no export can run anyway.
   */
  async function release(
    leased: LeasedExport,
    how: { delayMs: number; isFruitless: boolean },
  ): Promise<boolean> {
    for (;;) {
      try {
        return await releaseExport(db, leased, how);
      } catch (error) {
        if (!isPassing(error) || stopping.signal.aborted) throw error;
        log.warn({ err: error, exportId: leased.id }, "an export's lease could not be given back yet");
        await delay(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  }

  async function end(leased: LeasedExport, error: string): Promise<void> {
    outages.delete(leased.id);
    if (!(await finishExport(db, leased, { error }))) return;
    metrics.exportsTotal.inc({ outcome: "failed" });
    await rm(folderOf(leased.id), { recursive: true, force: true });
  }

  /** Removes what exports left here that ended elsewhere: a process on another machine may have taken one over. */
  async function tidy(): Promise<void> {
    const names = await readdir(root).catch(() => []);
    const ids = names.flatMap((name) => parseExportId(name) ?? []);
    const needed = await listUnfinishedExports(db, ids);
    for (const id of ids) if (!needed.has(id)) await rm(folderOf(id), { recursive: true, force: true });
  }

  function tidyFailed(error: unknown): void {
    log.warn({ err: error }, "old staged files could not be removed");
  }

  function folderOf(id: ExportId): string {
    return join(root, id);
  }

  return {
    start() {
      running ??= Promise.all([
        work(),
        every(TIDY_EVERY_MS, tidy, { signal: stopping.signal, failed: tidyFailed }),
      ]);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
