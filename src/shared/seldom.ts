/**
 * For what happens often: tells it at once, and then at most every `ms`. `times` is how often it
 * happened since it was last told.
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
