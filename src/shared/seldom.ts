/**
 * Tells of something that happens often: of the first time, and of the next one
 * after `ms` have passed. `times` counts what happened since the last telling, with this one.
 */
export function seldom<What extends unknown[]>(
  ms: number,
  tell: (times: number, ...what: What) => void,
): (...what: What) => void {
  let quietUntilMs = -Infinity;
  let times = 0;
  return (...what) => {
    times++;
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + ms;
    tell(times, ...what);
    times = 0;
  };
}
