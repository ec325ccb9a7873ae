/**
 * Waits of clients, for something to fetch, and of persons, for an
 * acknowledgement. Nothing polls: the first wait of a process opens one listening
 * connection, which all others share and which stays open for the next.
 */
import { EventEmitter } from "node:events";
import { keepListening } from "../database/keep-listening.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import { FETCH_CHANNEL } from "./channels.ts";

/** Commits in a burst wake a client once, so that it leases what they brought together. */
const GATHER_MS = 5;

/** Of a key: a pull endpoint's id, or that of a person's send. */
export type FetchWatch = {
  /** Resolves once the key was named since the watch, or the last such call, began; or after `ms`, or at the signal. */
  next(ms: number, signal?: AbortSignal): Promise<void>;
  end(): void;
};

type Watcher = { isWoken: boolean; wake: () => void };

export class FetchWaits {
  readonly #services: { databaseUrl: string; log: Log };
  /** Emits the keys that are named. It forgets a key that nobody watches any more. */
  readonly #named = new EventEmitter().setMaxListeners(0);
  readonly #gathering = new Set<string>();
  #listening: ReturnType<typeof keepListening> | null = null;

  constructor(services: { databaseUrl: string; log: Log }) {
    this.#services = services;
  }

  /** Begin it before looking, so that nothing is missed between the look and the wait. */
  watch(key: string): FetchWatch {
    this.#listening ??= this.#listen();
    const watcher: Watcher = { isWoken: false, wake: () => undefined };
    const heard = (): void => {
      watcher.isWoken = true;
      watcher.wake();
    };
    this.#named.on(key, heard);
    return {
      next: (ms, signal) => untilWoken(watcher, ms, signal),
      end: () => void this.#named.off(key, heard),
    };
  }

  async close(): Promise<void> {
    await this.#listening?.stop();
  }

  #listen(): ReturnType<typeof keepListening> {
    const { databaseUrl: url, log } = this.#services;
    return keepListening(
      { url, role: "postern_tenant", channel: FETCH_CHANNEL },
      {
        heard: (key) => this.#hear(key),
        // For notifications that were sent while no connection listened.
        opened: () => {
          for (const key of this.#named.eventNames()) this.#named.emit(key);
        },
        failed: warnSeldom(log, "cannot listen for events to fetch; clients wait for longer"),
      },
    );
  }

  #hear(key: string): void {
    if (this.#named.listenerCount(key) === 0 || this.#gathering.has(key)) return;
    this.#gathering.add(key);
    setTimeout(() => {
      this.#gathering.delete(key);
      this.#named.emit(key);
    }, GATHER_MS);
  }
}

async function untilWoken(watcher: Watcher, ms: number, signal?: AbortSignal): Promise<void> {
  if (!watcher.isWoken && signal?.aborted !== true) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    watcher.wake = resolve;
    const abort = (): void => resolve();
    signal?.addEventListener("abort", abort);
    await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
  watcher.isWoken = false;
}
