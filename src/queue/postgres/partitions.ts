/**
 * Makes the day partitions that are or will be needed, each day in a
 * transaction of its own, so that a failure for one day does not affect the others.
 */
import { isPassing } from "../../database/passing-errors.ts";
import type { Pool } from "../../database/pool.ts";
import { pause } from "../../shared/every.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  attachStaged,
  copyStagedRows,
  findMissingDays,
  makePartitionsOf,
  stagePartitions,
  type PartitionedTable,
} from "./partition-store.ts";

const DAYS = { from: -1, to: 7 };
/** Days that rows are added to now. */
const PRESENT = { from: -1, to: 0 };
/** 4 MiB of a table. */
const PAGES_AT_ONCE = 500;
const TRIES = 60;
const RETRY_MS = 1000;

type Options = { log: Pick<Log, "info" | "warn">; signal: AbortSignal; wait?: typeof pause };

/**
 * Makes the partitions from yesterday to a week ahead. If a table is locked, it
 * tries again each second, for a minute. Throws the first error once every day
 * has been tried.
 */
export async function makePartitionsAhead(db: Pool, options: Options): Promise<void> {
  const errors: unknown[] = [];
  for (const day of await findMissingDays(db, DAYS)) {
    await patiently(() => makePartitionsOf(db, day), options).catch((error: unknown) => errors.push(error));
  }
  const present = await findMissingDays(db, PRESENT);
  for (const table of present.length > 0 ? (["events", "deliveries"] as const) : []) {
    await moveFromDefault(db, table, options).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

/** For a default partition with many rows of a missing day. Traffic continues meanwhile. */
async function moveFromDefault(db: Pool, table: PartitionedTable, options: Options): Promise<void> {
  const pages = await patiently(() => stagePartitions(db, table, PRESENT), options);
  if (pages === null) return;
  options.log.info({ table, pages }, "rows of a day without a partition are moved to one");
  for (let from = 0; from < pages; from += PAGES_AT_ONCE) {
    await patiently(() => copyStagedRows(db, table, { from, to: from + PAGES_AT_ONCE }), options);
  }
  await patiently(() => attachStaged(db, table), options);
  options.log.info({ table }, "rows of a day without a partition have been moved");
  // Drops the emptied table, and finds a day that has become the present one meanwhile.
  await patiently(() => stagePartitions(db, table, PRESENT), options);
}

async function patiently<T>(work: () => Promise<T>, { log, signal, wait = pause }: Options): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || tried === TRIES || signal.aborted) throw error;
      if (tried === 1) log.warn({ err: error }, "a partition waits for a lock, and is tried again");
      await wait(RETRY_MS, signal);
    }
  }
}
