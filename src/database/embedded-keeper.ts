/** Keeps the embedded database running: one that ended by itself is started again. */
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.ts";
import { pause } from "../shared/every.ts";

/** Before each try to start it again. */
const BACKOFF_MS = [0, 1000, 2000, 4000, 8000];
/** Between tries while its disk is full, of which there is no end: space comes back when somebody makes some. */
const DISK_FULL_PAUSE_MS = 2000;
/** PostgreSQL's words in its log, or Node's. */
const NO_SPACE = /no space left on device/i;
/** A server that ran for so long has started well: its end is a new one. */
const STEADY_MS = 60_000;

export type KeptPostgres = EmbeddedPostgres & {
  /** It ended, and can't be started again before its disk has space. */
  isDiskFull: () => boolean;
};

/**
 * Starts the embedded database, or joins it. Where this process owns it and it
 * ends by itself, starts it again at the same address, with growing pauses;
 * `failed` is called once when it ended or could not be started too often. A
 * full disk, for which the server ends when it can't write its log, is waited for.
 */
export async function keepEmbeddedPostgres(
  options: EmbeddedOptions,
  failed: (reason: string) => void,
): Promise<KeptPostgres> {
  const { log } = options;
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let server = await startEmbeddedPostgres(options);
  const { url } = server;
  const port = Number(new URL(url).port);
  let isDiskFull = false;
  const keeping = keep();

  async function keep(): Promise<void> {
    for (let tries = 0; ;) {
      const startedAt = performance.now();
      await Promise.race([server.ended, stopped.promise]);
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_MS) tries = 0;
      log.warn("The embedded database ended by itself; server.log says why. It is started again.");
      const next = await startAgain(tries);
      if (next === null) {
        if (!stopping.signal.aborted) failed("The embedded database could not be started again");
        return;
      }
      tries = next;
      log.info("The embedded database runs again.");
    }
  }

  /** Answers how many tries have been made in all, or null once they are used up. */
  async function startAgain(already: number): Promise<number | null> {
    for (let tries = already; tries < BACKOFF_MS.length;) {
      await pause(isDiskFull ? DISK_FULL_PAUSE_MS : (BACKOFF_MS[tries] ?? 0), stopping.signal);
      if (stopping.signal.aborted) return null;
      try {
        server = await startEmbeddedPostgres({ ...options, port, isRestart: true });
        isDiskFull = false;
        return tries + 1;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const wasFull = isDiskFull;
        isDiskFull = NO_SPACE.test(reason);
        if (!isDiskFull) tries++;
        // Once is enough.
        if (!isDiskFull || !wasFull) log.warn(`The embedded database could not be started again: ${reason}`);
      }
    }
    return null;
  }

  async function stop(): Promise<void> {
    stopping.abort();
    stopped.resolve();
    await keeping;
    await server.stop();
  }

  let ending: Promise<void> | null = null;
  return { url, isDiskFull: () => isDiskFull, stop: () => (ending ??= stop()) };
}
