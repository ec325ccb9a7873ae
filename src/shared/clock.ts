/** Time as a value, so that whatever waits can be simulated on a clock that the test owns. */
export type Clock = {
  /** Monotonic, in milliseconds. */
  nowMs(): number;
  /**
   * Runs `work` after `ms`, never earlier, or with 0 at the end of this turn of
   * the event loop. Does not keep the process alive. The answer cancels it.
   */
  after(ms: number, work: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after(ms, work) {
    if (ms === 0) {
      const immediate = setImmediate(work);
      return () => clearImmediate(immediate);
    }
    const dueMs = performance.now() + ms;
    let timer = setTimeout(tick, Math.ceil(ms)).unref();
    return () => clearTimeout(timer);

    // Node counts in whole milliseconds, and begins at any part of one: its timers may come early.
    function tick(): void {
      const leftMs = dueMs - performance.now();
      if (leftMs <= 0) return work();
      timer = setTimeout(tick, Math.ceil(leftMs)).unref();
    }
  },
};

/** Resolves after `ms`, or as soon as the signal aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, end);
  signal?.addEventListener("abort", end, { once: true });
  return promise;

  function end(): void {
    cancel();
    signal?.removeEventListener("abort", end);
    resolve();
  }
}
