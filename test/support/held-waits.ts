/** Waits of the code, by `setTimeout` of node:timers/promises, that end when a test says so. */
import { syncBuiltinESMExports } from "node:module";
import { mock } from "node:test";
import timers from "node:timers/promises";

type HeldWait = { ms: number; end: () => void };

/** From here on, and until {@link releaseWaits}; by default those alone that a signal can end. */
export function holdWaits(held: "stoppable" | "all" = "stoppable"): HeldWait[] {
  const waits: HeldWait[] = [];
  const { setTimeout: wait } = timers;
  mock.method(timers, "setTimeout", (ms: number, value: unknown, options?: { signal?: AbortSignal }) => {
    const signal = options?.signal;
    if (signal?.aborted === true || (signal === undefined && held === "stoppable"))
      return wait(ms, value, options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waits.push({ ms, end: resolve });
    signal?.addEventListener("abort", () => reject(new Error("stopped")));
    return promise;
  });
  syncBuiltinESMExports();
  return waits;
}

/** Undoes this and all other mocks of the file. */
export function releaseWaits(): void {
  mock.restoreAll();
  syncBuiltinESMExports();
}
