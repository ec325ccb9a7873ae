/** How long the live tail waits before its stream is opened again. */

/** How a stream came to its end. `unopened`: it was refused, or nobody answered. */
export type Outcome = "ended" | "broken" | "unopened";

const MAX_PAUSE_MS = 30_000;

/** A stream that was open has shown that the service answers: what failed before it no longer counts. */
export function failuresAfter(failures: number, outcome: Outcome): number {
  if (outcome === "ended") return 0;
  return outcome === "broken" ? 1 : failures + 1;
}

/** A stream that ended as it should is opened again at once. */
export function pauseMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(1000 * 2 ** failures, MAX_PAUSE_MS);
}
