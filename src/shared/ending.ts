/** Ends that leave nothing behind: what fails in one step keeps no other from being done, and is thrown in the end. */
import { messageOf } from "./message-of.ts";

/** Each once the one before has ended. Throws the failures. */
export async function inTurn(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await Promise.try(step).catch((error: unknown) => failures.push(error));
  throwAny(failures);
}

/** All at once, until the last has ended. Throws the failures, in their order. */
export async function together<T>(all: readonly T[], end: (one: T) => unknown): Promise<void> {
  const results = await Promise.allSettled(all.map((one) => Promise.try(end, one)));
  throwAny(results.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
}

/** For a start that failed, and `why` is thrown: what its end fails with is `told`, and does not take its place. */
export async function endOfFailed(
  why: unknown,
  end: () => unknown,
  told: (failure: unknown) => void,
): Promise<never> {
  await Promise.try(end).catch(told);
  throw why;
}

/** One as it is; of several all that they say, and each with its place for the log. */
function throwAny(failures: readonly unknown[]): void {
  if (failures.length > 1) throw new AggregateError(failures, failures.map(messageOf).join("; "));
  if (failures.length === 1) throw failures[0];
}
