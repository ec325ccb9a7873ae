/** Shows other processes, and `/ready`, that this process can commit. */
import { randomUUID } from "node:crypto";
import { every } from "../shared/every.ts";
import { messageOf } from "../shared/message-of.ts";
import { beat, removeOldHeartbeats, type ProcessIdentity } from "./heartbeat-store.ts";
import type { DatabaseLog } from "./log.ts";
import type { Pool } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

/** Beats are so far apart at most. A process without one for three times as long counts as dead. */
const BEAT_MS = 10_000;
const TIDY_MS = 3_600_000;
/** However many ask. */
const MAX_AGE_MS = 1000;
const BEGIN = "BEGIN; SET LOCAL lock_timeout = '1s'";

export type Heartbeat = {
  processId: string;
  /** Commits, unless it did within the last second. Throws what the database throws. */
  beat(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
};

export function makeHeartbeat({ db, name, log }: { db: Pool; name: string; log: DatabaseLog }): Heartbeat {
  const identity: ProcessIdentity = { id: randomUUID(), name };
  const stopping = new AbortController();
  let beating: Promise<void> | null = null;
  let running: Promise<unknown> | null = null;
  let freshUntil = -Infinity;

  async function beatOnce(): Promise<void> {
    try {
      await inTransaction(db, (transaction) => beat(transaction, identity), BEGIN);
      freshUntil = performance.now() + MAX_AGE_MS;
    } finally {
      beating = null;
    }
  }

  function beatNow(): Promise<void> {
    if (performance.now() < freshUntil) return Promise.resolve();
    beating ??= beatOnce();
    return beating;
  }

  function failed(error: unknown): void {
    log.warn(`The heartbeat of this process could not be written: ${messageOf(error)}`);
  }

  function repeat(ms: number, work: () => Promise<void>): Promise<void> {
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
