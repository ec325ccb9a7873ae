import type { TestContext } from "node:test";

/** Moves what `performance.now()` answers in a test, from now on. */
export function moveClockOf(test: TestContext): (ms: number) => void {
  // Whole, or the sum of the two may be a little more than it is.
  const startMs = Math.ceil(performance.now());
  let movedMs = 0;
  test.mock.method(performance, "now", () => startMs + movedMs);
  return (ms) => void (movedMs += ms);
}
