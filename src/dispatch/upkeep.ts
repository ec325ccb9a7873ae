/** What the worker does beside attempts: partitions ahead, retention, old keys, and the queue's gauges. */
import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "../database/pool.ts";
import type { Catalog } from "../events/catalog.ts";
import { announceCatalog } from "../events/outbox.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import {
  deleteOldIdempotencyKeys,
  deleteSuperseded,
  dropOldPartitions,
  makePartitionsAhead,
  measureQueue,
} from "./upkeep-store.ts";

const MEASURE_EVERY_MS = 5000;
const TIDY_EVERY_MS = 60_000;
const PARTITIONS_EVERY_MS = 600_000;

export type Upkeep = { start(): void; stop(): Promise<void> };

export function makeUpkeep(services: {
  db: Pool;
  catalog: Catalog;
  log: Log;
  metrics: Metrics;
  retentionDays: number;
}): Upkeep {
  const { db, log, metrics } = services;
  const stopping = new AbortController();
  let running: Promise<unknown> | null = null;

  async function measure(): Promise<void> {
    const depth = await measureQueue(db);
    for (const state of ["due", "leased", "scheduled", "held"] as const)
      metrics.queueDepth.set({ state }, depth[state]);
    metrics.queueOldestAge.set(depth.oldestDueAgeS);
  }

  async function dropOld(): Promise<void> {
    const dropped = await dropOldPartitions(db, services.retentionDays);
    if (dropped.length > 0)
      log.info({ partitions: dropped }, "dropped partitions that are past their retention");
  }

  async function deleteOldKeys(): Promise<void> {
    while (!stopping.signal.aborted && (await deleteOldIdempotencyKeys(db)));
  }

  async function every(ms: number, name: string, work: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        log.warn({ err: error, work: name }, "upkeep failed; it is tried again");
      }
      await delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    start() {
      running ??= Promise.all([
        every(MEASURE_EVERY_MS, "measuring the queue", measure),
        every(TIDY_EVERY_MS, "announcing the catalog", () => announceCatalog(db, services.catalog)),
        every(TIDY_EVERY_MS, "removing needless dispatches", () => deleteSuperseded(db)),
        every(PARTITIONS_EVERY_MS, "making partitions", () => makePartitionsAhead(db)),
        every(PARTITIONS_EVERY_MS, "dropping partitions", dropOld),
        every(PARTITIONS_EVERY_MS, "deleting old idempotency keys", deleteOldKeys),
      ]);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
