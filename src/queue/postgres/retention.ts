/** Retention: drops whole day partitions. If a lock prevents that, it is reported. */
import type { Pool } from "../../database/pool.ts";
import { pause } from "../../shared/every.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { dropOldPartition, readOldestDays } from "./retention-store.ts";

/** A long read of the log may have ended by then. */
const RETRY_MS = 30_000;

/**
 * Drops the partitions that are past their retention, and shows the oldest day
 * that is left. While a lock keeps one from being dropped, it warns, counts and
 * tries again every half a minute. Ends when nothing is left to drop.
 */
export async function dropOldPartitions(
  db: Pool,
  {
    retentionDays,
    log,
    metrics,
    signal,
    wait = pause,
  }: {
    retentionDays: number;
    log: Pick<Log, "info" | "warn">;
    metrics: Pick<Metrics, "retentionBlocked" | "oldestDay">;
    signal: AbortSignal;
    wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  },
): Promise<void> {
  while (!signal.aborted) {
    const found = await dropOldPartition(db, retentionDays);
    const dropped = found.filter(({ holders }) => holders === null);
    for (const { partition } of dropped)
      log.info({ partition }, "dropped a partition that is past its retention");
    for (const { table, day } of await readOldestDays(db)) {
      metrics.oldestDay.set({ table }, day === null ? 0 : day.getTime() / 1000);
    }
    if (dropped.length > 0) continue;
    // What is left was locked.
    if (found.length === 0) return;
    for (const { partition, holders } of found) {
      metrics.retentionBlocked.inc();
      log.warn({ partition, holders }, "a partition past its retention can't be dropped: it is locked");
    }
    await wait(RETRY_MS, signal);
  }
}
