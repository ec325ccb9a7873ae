/**
 * Shows the other workers that this one lives. It holds an advisory lock in a
 * session of its own, which ends with the process, and confirms its row every
 * second. Both must be missing before others free its leases: a process whose
 * session was ended still confirms its row through the pool, and one that
 * stands still keeps its lock.
 */
import { openSession, type Session } from "../../database/session.ts";
import type { Pool } from "../../database/pool.ts";
import { every } from "../../shared/every.ts";
import { withinLimit } from "../../shared/time-limit.ts";
import type { Log } from "../../telemetry/log.ts";
import { LEASE_MS, type Presence } from "../queue.ts";
import { confirmWorker, holdWorkerLock, removeWorker } from "./presence-store.ts";

const CONFIRM_EVERY_MS = 1000;
/** An attempt starts for so long after a confirmation: for less than others take to find a worker dead. */
const CONFIRMED_FOR_MS = 3000;
const ANSWER_LIMIT_MS = 5000;

export type WorkerPresence = Presence & { start(): void; stop(): Promise<void> };

export function makePresence(services: {
  db: Pool;
  databaseUrl: string;
  firstLeaseId: string;
  log: Log;
}): WorkerPresence {
  const { db, firstLeaseId, log } = services;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let session: Session | null = null;
  let confirmedAtMs = -Infinity;
  let registered: string | null = null;
  let registeredAtMs = Infinity;

  async function confirm(): Promise<void> {
    try {
      session ??= await hold();
      const held = session;
      // From before the question: an answer can lie unread while the process stands still.
      const askedAtMs = performance.now();
      const answer = await confirmWorker(held, firstLeaseId);
      if (answer !== null && session === held) noteConfirmed(answer, askedAtMs);
    } catch (error) {
      log.warn({ err: error }, "this worker's session is lost; it starts no attempt until it has a new one");
      lose(session);
      await withinLimit(confirmWorker(db, firstLeaseId), ANSWER_LIMIT_MS, noAnswer);
    }
  }

  async function hold(): Promise<Session> {
    const opened = await openSession({
      url: services.databaseUrl,
      role: "postern_worker",
      applicationName: "postern worker session",
      queryTimeoutMs: ANSWER_LIMIT_MS,
    });
    void opened.ended.then(() => lose(opened));
    try {
      if (!(await holdWorkerLock(opened, firstLeaseId)))
        throw new Error("somebody else has the worker's lock");
      return opened;
    } catch (error) {
      await opened.close().catch(() => undefined);
      throw error;
    }
  }

  function lose(lost: Session | null): void {
    if (lost === null || session !== lost) return;
    session = null;
    confirmedAtMs = -Infinity;
    void lost.close().catch(() => undefined);
  }

  function noteConfirmed(answer: string, askedAtMs: number): void {
    if (registered !== null && answer !== registered) {
      log.warn("other workers took this one for dead; it gives up the leases that they freed");
    }
    if (answer !== registered) registeredAtMs = askedAtMs;
    registered = answer;
    confirmedAtMs = askedAtMs;
  }

  return {
    isConfirmed: () => performance.now() - confirmedAtMs < CONFIRMED_FOR_MS,
    covers: ({ leaseEndsMs }) => leaseEndsMs - LEASE_MS >= registeredAtMs,
    start() {
      running ??= every(CONFIRM_EVERY_MS, confirm, {
        signal: stopping.signal,
        failed: (error) => log.warn({ err: error }, "this worker cannot be confirmed"),
      });
    },
    async stop() {
      stopping.abort();
      await running;
      const last = session;
      if (last === null) return;
      // Where it stays, others find it dead, and nothing to free.
      await removeWorker(last, firstLeaseId).catch(() => undefined);
      session = null;
      confirmedAtMs = -Infinity;
      await last.close().catch(() => undefined);
    },
  };
}

function noAnswer(): Error {
  return new Error("the database does not answer");
}
