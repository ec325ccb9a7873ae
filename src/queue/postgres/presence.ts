/**
 * Shows the other workers that this one lives. It holds an advisory lock in a
 * session of its own, which ends with the process, and confirms its row every
 * second. Both must be missing before others free its leases: a process whose
 * session was ended still confirms its row through the pool, and a suspended
 * process keeps its lock.
 */
import { openSession, type Session } from "../../database/session.ts";
import type { Pool } from "../../database/pool.ts";
import { every, type Background } from "../../shared/every.ts";
import { withinLimit } from "../../shared/time-limit.ts";
import type { Log } from "../../telemetry/log.ts";
import { warnSeldom } from "../../telemetry/warn-seldom.ts";
import { Confirmations } from "../confirmations.ts";
import { LEASE_MS, type Presence } from "../queue.ts";
import { confirmWorker, holdWorkerLock, removeWorker } from "./presence-store.ts";

const CONFIRM_EVERY_MS = 1000;
const ANSWER_LIMIT_MS = 5000;

export type WorkerPresence = Presence & Background;

type PresenceServices = {
  db: Pool;
  databaseUrl: string;
  firstLeaseId: string;
  log: Log;
};

export function makePresence(services: PresenceServices): WorkerPresence {
  return new SessionPresence(services);
}

class SessionPresence implements WorkerPresence {
  readonly #services: PresenceServices;
  readonly #stopping = new AbortController();
  readonly #listeners: (() => void)[] = [];
  readonly #tellLost: (error: unknown) => void;
  #running: Promise<void> | null = null;
  #session: Session | null = null;
  readonly #confirmations = new Confirmations();

  constructor(services: PresenceServices) {
    this.#services = services;
    this.#tellLost = warnSeldom(
      services.log,
      "this worker's session is lost; it starts no attempt until it has a new one",
    );
  }

  isConfirmed(): boolean {
    return this.#confirmations.isConfirmed(performance.now());
  }

  unbrokenSince(): number {
    return this.#confirmations.unbrokenSinceMs;
  }

  whenConfirmed(listener: () => void): void {
    this.#listeners.push(listener);
  }

  covers({ leaseEndsMs }: Parameters<Presence["covers"]>[0]): boolean {
    return leaseEndsMs - LEASE_MS >= this.#confirmations.registeredAtMs;
  }

  start(): void {
    const { log } = this.#services;
    this.#running ??= every(CONFIRM_EVERY_MS, () => this.#confirm(), {
      signal: this.#stopping.signal,
      failed: warnSeldom(log, "this worker's presence could not be confirmed"),
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    const last = this.#session;
    if (last === null) return;
    // Where it stays, others find it dead, and nothing to free.
    await removeWorker(last, this.#services.firstLeaseId).catch(() => undefined);
    this.#session = null;
    this.#confirmations.lose();
    await last.close().catch(() => undefined);
  }

  async #confirm(): Promise<void> {
    const { db, firstLeaseId } = this.#services;
    try {
      this.#session ??= await this.#hold();
      const held = this.#session;
      // Taken before the query: an answer can lie unread while the process is suspended.
      const askedAtMs = performance.now();
      const answer = await confirmWorker(held, firstLeaseId, "session");
      if (answer !== null && this.#session === held) this.#noteConfirmed(answer, askedAtMs);
    } catch (error) {
      this.#tellLost(error);
      this.#lose(this.#session);
      await withinLimit(confirmWorker(db, firstLeaseId, "pool"), ANSWER_LIMIT_MS, noAnswer);
    }
  }

  async #hold(): Promise<Session> {
    const { databaseUrl, firstLeaseId } = this.#services;
    const opened = await openSession({
      url: databaseUrl,
      role: "postern_worker",
      applicationName: "postern worker session",
      queryTimeoutMs: ANSWER_LIMIT_MS,
    });
    void opened.ended.then(() => this.#lose(opened));
    try {
      if (!(await holdWorkerLock(opened, firstLeaseId)))
        throw new Error("another process holds the worker's lock");
      return opened;
    } catch (error) {
      await opened.close().catch(() => undefined);
      throw error;
    }
  }

  #lose(lost: Session | null): void {
    if (lost === null || this.#session !== lost) return;
    this.#session = null;
    this.#confirmations.lose();
    void lost.close().catch(() => undefined);
  }

  #noteConfirmed(answer: string, askedAtMs: number): void {
    if (!this.#confirmations.note(answer, { askedAtMs, nowMs: performance.now() })) {
      this.#services.log.warn("other workers took this worker for dead; it drops the leases that they freed");
    }
    for (const listener of this.#listeners) listener();
  }
}

function noAnswer(): Error {
  return new Error("the database does not answer");
}
