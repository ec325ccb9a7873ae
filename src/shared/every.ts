/** Work that a process does again and again until it stops. */
import { setTimeout as delay } from "node:timers/promises";

/** Rare work that failed is not left until its next turn, which may be half an hour away. */
const RETRY_MS = 60_000;

/**
 * Does the work, and again `ms` after each end, until the signal. A failure is
 * told and ends nothing; behind it the work is done again within a minute.
 */
export async function every(
  ms: number,
  work: () => Promise<unknown>,
  {
    signal,
    failed,
    wait = pause,
  }: { signal: AbortSignal; failed: (error: unknown) => void; wait?: typeof pause },
): Promise<void> {
  while (!signal.aborted) {
    let waitMs = ms;
    try {
      await work();
    } catch (error) {
      failed(error);
      waitMs = Math.min(ms, RETRY_MS);
    }
    await wait(waitMs, signal);
  }
}

/** What runs beside the rest; a stop waits for what is under way. */
export type Background = { start(): void; stop(): Promise<void> };

/**
 * Such work between a start and a stop, which waits for the round under way.
 *
 * @param work gets the signal of the stop.
 */
export function makeRepeated(
  ms: number,
  work: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Background {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> | null = null;
  return {
    start() {
      running ??= every(ms, () => work(signal), { signal, failed });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Waits, but not beyond the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
