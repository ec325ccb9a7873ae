import { mock } from "node:test";

/** What would be done so long after, until the mocks are restored. */
export function catchWaits(ms: number): { end: () => void; timer: NodeJS.Timeout }[] {
  const caught: { end: () => void; timer: NodeJS.Timeout }[] = [];
  const { setTimeout: wait } = globalThis;
  mock.method(globalThis, "setTimeout", (work: () => void, afterMs?: number, ...given: []) => {
    if (afterMs !== ms) return wait(work, afterMs, ...given);
    const timer = wait(() => undefined, 0);
    caught.push({ end: work, timer });
    return timer;
  });
  return caught;
}
