/** Keeps the embedded database running: one that ended by itself is started again. */
import { statfsSync } from "node:fs";
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  type EmbeddedServer,
  startEmbeddedPostgres,
} from "./embedded.ts";
import { wantOfDisk } from "./want-of-room.ts";
import { pause } from "../../shared/every.ts";
import { messageOf } from "../../shared/message-of.ts";

/** Before each try to start it again. */
const BACKOFF_MS = [0, 1000, 2000, 4000, 8000];
const NOT_AGAIN = "The embedded database could not be started again";
/** Between tries while its disk is full, of which there is no end: space comes back when somebody makes some. */
const DISK_FULL_PAUSE_MS = 2000;
/** A file of the server's log, without which it can't run. */
const LOG_FILE_BYTES = 16 * 1024 * 1024;
/** A server that ran for so long has started well: its end is a new one. */
const STEADY_MS = 60_000;

/** Why it ended, or does not answer: it needs space on its disk, or stopped with the process that owned it. */
export type EmbeddedTrouble = "disk_full" | "left";

export type KeptPostgres = EmbeddedPostgres & {
  /** Another process owned its server when this one asked for it. */
  isJoined: boolean;
  trouble: () => EmbeddedTrouble | null;
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
  start: typeof startEmbeddedPostgres = startEmbeddedPostgres,
): Promise<KeptPostgres> {
  const { log } = options;
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let server = await start(options);
  const { url } = server;
  const tries = new Tries();
  const keeping = keep();

  async function keep(): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      await Promise.race([server.ended, stopped.promise]);
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_MS) tries.forget();
      log.warn("The embedded database ended by itself; server.log says why. It is started again.");
      if (!(await startAgain())) return stopping.signal.aborted ? undefined : failed(NOT_AGAIN);
      log.info("The embedded database runs again.");
    }
  }

  /** False once the tries are used up. */
  async function startAgain(): Promise<boolean> {
    for (;;) {
      const pauseMs = tries.pauseMs();
      if (pauseMs === undefined) return false;
      await pause(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return false;
      try {
        server = await start({ ...options, port: Number(new URL(url).port), isRestart: true });
        tries.succeeded();
        return true;
      } catch (error) {
        const reason = messageOf(error);
        if (tries.failed(reason)) log.warn(`The embedded database could not be started again: ${reason}`);
      }
    }
  }

  async function stop(): Promise<void> {
    stopping.abort();
    stopped.resolve();
    await keeping;
    await server.stop();
  }

  let ending: Promise<void> | null = null;
  return {
    url,
    isJoined: server.joined !== null,
    trouble: () => (tries.isDiskFull ? "disk_full" : troubleOf(server)),
    stop: () => (ending ??= stop()),
  };
}

/** Why a joined server does not run, its owner alone is told. */
function troubleOf({ joined, isLeft }: EmbeddedServer): EmbeddedTrouble | null {
  if (joined === null) return null;
  if (isFull(joined)) return "disk_full";
  return isLeft() ? "left" : null;
}

function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < LOG_FILE_BYTES;
  } catch {
    return false;
  }
}

/** Those to start the server again since it last ran for long. A full disk uses up none. */
export class Tries {
  #made = 0;
  isDiskFull = false;

  /** Before the next one; undefined once they are used up. */
  pauseMs(): number | undefined {
    return this.isDiskFull ? DISK_FULL_PAUSE_MS : BACKOFF_MS[this.#made];
  }

  succeeded(): void {
    if (!this.isDiskFull) this.#made++;
    this.isDiskFull = false;
  }

  /** Whether it is worth a line of the log: of a disk that stays full, one is enough. */
  failed(reason: string): boolean {
    const wasFull = this.isDiskFull;
    this.isDiskFull = wantOfDisk(reason) !== null;
    if (!this.isDiskFull) this.#made++;
    return !this.isDiskFull || !wasFull;
  }

  forget(): void {
    this.#made = 0;
  }
}
