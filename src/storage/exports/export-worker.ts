/** Makes exports, one at a time in a process: claims, runs, and says how each ended. */
import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isPassing } from "../../database/passing-errors.ts";
import { hasCode } from "../../shared/error-code.ts";
import { every, pause, type Background } from "../../shared/every.ts";
import { parseExportId, type ExportId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { warnSeldom } from "../../telemetry/warn-seldom.ts";
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
import { Outages } from "./outages.ts";

const LEASE_MS = 60_000;
const RENEW_MS = 15_000;
const POLL_MS = 1000;
const RETRY_MS = 5000;
/** The disk of DATA_DIR is full, read-only or not this user's. Other faults may lie in what was staged there. */
const DISK_CODES = ["ENOSPC", "EDQUOT", "EROFS", "EACCES"];
/** An outage of the object store, the database or that disk counts as no failure for so long without a staged part. */
const OUTAGE_LIMIT_MS = 3_600_000;
const OUTAGE_RETRY_MS = 30_000;
const TIDY_EVERY_MS = 3_600_000;
const MAX_FRUITLESS_RUNS = 3;
const GIVEN_UP = "It could not be made in three tries. The operator's log says why.";

export type ExportWorkerServices = Omit<ExportRunServices, "leaseMs"> & {
  /** Staged files lie below it. */
  dataDir: string;
  log: Log;
  metrics: Pick<Metrics, "exportsTotal">;
};

export function makeExportWorker(services: ExportWorkerServices): Background {
  return new ExportLoop(services);
}

class ExportLoop implements Background {
  readonly #services: ExportWorkerServices;
  readonly #root: string;
  readonly #stopping = new AbortController();
  readonly #outages = new Outages();
  #running: Promise<unknown> | null = null;

  constructor(services: ExportWorkerServices) {
    this.#services = services;
    this.#root = join(services.dataDir, "exports");
  }

  start(): void {
    this.#running ??= Promise.all([
      this.#work(),
      every(TIDY_EVERY_MS, () => this.#tidy(), {
        signal: this.#stopping.signal,
        failed: (error) => this.#tidyFailed(error),
      }),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #work(): Promise<void> {
    const failed = warnSeldom(this.#services.log, "no export could be claimed");
    while (!this.#stopping.signal.aborted) {
      const found = await this.#makeOne().catch((error: unknown) => {
        failed(error);
        return false;
      });
      if (!found) await pause(POLL_MS, this.#stopping.signal);
    }
  }

  /** Whether there was one to make. */
  async #makeOne(): Promise<boolean> {
    const { db, log, metrics } = this.#services;
    const leased = await claimExport(db, randomUUID(), LEASE_MS);
    if (leased === null) return false;
    if (leased.fruitlessRuns > MAX_FRUITLESS_RUNS) {
      log.error(
        { exportId: leased.id, tenantId: leased.tenantId },
        "an export's runs all died; it has failed",
      );
      await this.#end(leased, GIVEN_UP);
      return true;
    }
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, lost.signal]);
    const renewal = setInterval(() => void this.#renew(leased, lost), RENEW_MS);
    try {
      await runExport({ ...this.#services, leaseMs: LEASE_MS }, leased, {
        folder: this.#folderOf(leased.id),
        signal,
      });
      await rm(this.#folderOf(leased.id), { recursive: true, force: true });
      metrics.exportsTotal.inc({ outcome: "ready" });
      log.info({ exportId: leased.id, tenantId: leased.tenantId }, "an export is ready");
    } catch (error) {
      await this.#settle(leased, error);
    } finally {
      clearInterval(renewal);
    }
    return true;
  }

  async #renew(leased: LeasedExport, lost: AbortController): Promise<void> {
    const { db, log } = this.#services;
    try {
      if (!(await renewExport(db, leased, LEASE_MS))) lost.abort(new ExportLeaseLostError());
    } catch (error) {
      log.warn({ err: error, exportId: leased.id }, "an export's lease could not be renewed yet");
    }
  }

  async #settle(leased: LeasedExport, error: unknown): Promise<void> {
    const { log } = this.#services;
    const about = { err: error, exportId: leased.id, tenantId: leased.tenantId };
    if (error instanceof ExportLeaseLostError) {
      log.warn(about, "an export passed to another worker");
    } else if (this.#stopping.signal.aborted) {
      await this.#release(leased, { delayMs: 0, isFruitless: false });
    } else if (error instanceof ExportImpossibleError) {
      await this.#end(leased, error.message);
    } else {
      await this.#failOnce(leased, error);
    }
  }

  async #failOnce(leased: LeasedExport, error: unknown): Promise<void> {
    const { log } = this.#services;
    const about = { err: error, exportId: leased.id, tenantId: leased.tenantId };
    // What the world refuses, it may allow later; anything else may lie in what was staged.
    const isOutage =
      error instanceof StoreUnavailableError || isPassing(error) || hasCode(error, ...DISK_CODES);
    const outageMs = () => this.#outages.meet(leased.id, leased.parts.length, performance.now());
    if (isOutage && outageMs() < OUTAGE_LIMIT_MS) {
      log.warn(
        about,
        "an export waits for object store, database or the disk of DATA_DIR; it continues by itself",
      );
      await this.#release(leased, { delayMs: OUTAGE_RETRY_MS, isFruitless: false });
      return;
    }
    const isLast = leased.fruitlessRuns >= MAX_FRUITLESS_RUNS;
    log.error(about, isLast ? "an export has failed for good" : "an export's run failed; it is tried again");
    if (isLast) return this.#end(leased, GIVEN_UP);
    const delayMs = RETRY_MS * leased.fruitlessRuns;
    const isOurs = await this.#release(leased, { delayMs, isFruitless: true });
    // Another process of this machine may have it by now, and be at work on these very files.
    if (isOurs && !isOutage) await rm(this.#folderOf(leased.id), { recursive: true, force: true });
  }

  /**
   * Gives the lease back as soon as the database takes it: a lease that ends by
   * itself would count its run as fruitless. Until then no export can run anyway.
   */
  async #release(leased: LeasedExport, how: { delayMs: number; isFruitless: boolean }): Promise<boolean> {
    const { db, log } = this.#services;
    for (;;) {
      try {
        return await releaseExport(db, leased, how);
      } catch (error) {
        if (!isPassing(error) || this.#stopping.signal.aborted) throw error;
        log.warn({ err: error, exportId: leased.id }, "an export's lease could not be released yet");
        await pause(POLL_MS, this.#stopping.signal);
      }
    }
  }

  async #end(leased: LeasedExport, error: string): Promise<void> {
    const { db, metrics } = this.#services;
    if (!(await finishExport(db, leased, { error }))) return;
    metrics.exportsTotal.inc({ outcome: "failed" });
    await rm(this.#folderOf(leased.id), { recursive: true, force: true });
  }

  /** Removes what exports left here that ended elsewhere: a process on another machine may have taken one over. */
  async #tidy(): Promise<void> {
    const { db } = this.#services;
    const names = await readdir(this.#root).catch(() => []);
    const ids = names.flatMap((name) => parseExportId(name) ?? []);
    const needed = await listUnfinishedExports(db, ids);
    for (const id of ids) if (!needed.has(id)) await rm(this.#folderOf(id), { recursive: true, force: true });
  }

  #tidyFailed(error: unknown): void {
    const { log } = this.#services;
    log.warn({ err: error }, "old staged files could not be removed");
  }

  #folderOf(id: ExportId): string {
    return join(this.#root, id);
  }
}
