/** One object that the store refuses to delete, as for a lock of its own, must keep no other from being deleted. */
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { TRASH_PREFIX } from "../bytes/own-keys.ts";

/** It may refuse many thousands, one behind the other. */
const ASK_EVERY_MS = 1000;

/** What the deletion answers, or why the store refuses this one. */
type End<T> = { done: T } | { refusal: string };

/**
 * For one row of deletions, of which it asks once in a second at most.
 *
 * @throws StoreUnavailableError where the store is away.
 */
export function makeUnlessRefused(bucket: Pick<Bucket, "list">) {
  let askedAtMs = -Infinity;
  return async <T>(deletion: () => Promise<T>): Promise<End<T>> => {
    try {
      return { done: await deletion() };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      // A store that is away refuses this too, and each of the others would be waited for.
      if (performance.now() - askedAtMs >= ASK_EVERY_MS) {
        await bucket.list({ after: null, limit: 1, prefix: TRASH_PREFIX });
        askedAtMs = performance.now();
      }
      return { refusal: error.message };
    }
  };
}
