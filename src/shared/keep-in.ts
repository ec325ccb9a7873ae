/** In the set until it ends, so that a stop can wait for what is under way. */
export function keepIn<T>(set: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  set.add(work);
  const forget = (): void => void set.delete(work);
  work.then(forget, forget);
  return work;
}
