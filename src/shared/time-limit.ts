/** The work's outcome, or after `limitMs` the error that `late` makes; the work itself continues. */
export function withinLimit<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
