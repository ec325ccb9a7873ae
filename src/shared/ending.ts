/** Ends that leave nothing behind: what fails in one step keeps no other from being done, and is thrown in the end. */

/** Each once the one before has ended. Throws the first failure. */
export async function inTurn(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await Promise.try(step).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** All at once, until the last has ended. Throws the first failure, in their order. */
export async function together<T>(all: readonly T[], end: (one: T) => unknown): Promise<void> {
  const results = await Promise.allSettled(all.map((one) => Promise.try(end, one)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
