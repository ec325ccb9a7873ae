/** Shows other processes, and `/ready`, that this process can commit. */
import { randomUUID } from "node:crypto";
import { every } from "../shared/every.ts";
import { messageOf } from "../shared/message-of.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { clockDifferenceMs, isWrongClock } from "./clock-difference.ts";
import { beat, removeOldHeartbeats, type ProcessIdentity } from "./heartbeat-store.ts";
import type { DatabaseLog } from "./log.ts";
import type { Db, Pool } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

/** Beats are so far apart at most. A process without one for three times as long counts as dead. */
const BEAT_MS = 10_000;
const TIDY_MS = 3_600_000;
/** However many ask. */
const MAX_AGE_MS = 1000;
const BEGIN = "BEGIN; SET LOCAL lock_timeout = '1s'";

export type Heartbeat = {
  processId: string;
  /**
   * Commits, unless it did within the last second. Throws what the database throws.
   * Answers how the clock of this machine is wrong, if it is.
   */
  beat(): Promise<string | undefined>;
  start(): void;
  stop(): Promise<void>;
};

type Options = { db: Pool; name: string; log: DatabaseLog; metrics: Pick<Metrics, "clockDifference"> };

export function makeHeartbeat({ db, name, log, metrics }: Options): Heartbeat {
  const identity: ProcessIdentity = { id: randomUUID(), name };
  const stopping = new AbortController();
  let beating: Promise<string | undefined> | null = null;
  let running: Promise<unknown> | null = null;
  let freshUntil = -Infinity;
  let clockTrouble: string | undefined;

  async function beatOnce(): Promise<string | undefined> {
    try {
      const differenceMs = await inTransaction(db, (transaction) => beatTimed(transaction, identity), BEGIN);
      metrics.clockDifference.set(differenceMs / 1000);
      noteClock(isWrongClock(differenceMs) ? tellDifference(differenceMs) : undefined);
      freshUntil = performance.now() + MAX_AGE_MS;
      return clockTrouble;
    } finally {
      beating = null;
    }
  }

  function noteClock(trouble: string | undefined): void {
    if (trouble !== undefined && clockTrouble === undefined) log.warn(trouble);
    if (trouble === undefined && clockTrouble !== undefined)
      log.info("this machine's clock is that of the database again");
    clockTrouble = trouble;
  }

  function beatNow(): Promise<string | undefined> {
    if (performance.now() < freshUntil) return Promise.resolve(clockTrouble);
    beating ??= beatOnce();
    return beating;
  }

  function failed(error: unknown): void {
    log.warn(`The heartbeat of this process could not be written: ${messageOf(error)}`);
  }

  function repeat(ms: number, work: () => Promise<unknown>): Promise<void> {
    return every(ms, work, { signal: stopping.signal, failed });
  }

  return {
    processId: identity.id,
    beat: beatNow,
    start() {
      running ??= Promise.all([repeat(BEAT_MS, beatNow), repeat(TIDY_MS, () => removeOldHeartbeats(db))]);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Answers by how many milliseconds this machine's clock is ahead of the database's: requests are signed with it, and tokens judged by it. */
async function beatTimed(transaction: Db, identity: ProcessIdentity): Promise<number> {
  const askedAtMs = Date.now();
  const toldMs = await beat(transaction, identity);
  return clockDifferenceMs({ askedAtMs, toldMs, answeredAtMs: Date.now() });
}

function tellDifference(differenceMs: number): string {
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const apart = differenceMs > 0 ? `${seconds} s ahead of` : `${seconds} s behind`;
  return `this machine's clock is ${apart} the database's: let NTP set both, because receivers refuse requests that are signed at another time`;
}
