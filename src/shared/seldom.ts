/**
 * Tells of something frequent at once, and then at most once every `ms`. `times` counts how often
 * it happened since it was last told.
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
