/** One object that the store refuses to delete, as for a lock of its own, must keep no other from being deleted. */
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { TRASH_PREFIX } from "../bytes/own-keys.ts";

/**
 * What the deletion answers, or why the store refuses this one.
 *
 * @throws StoreUnavailableError where the store is away.
 */
export async function unlessRefused<T>(
  bucket: Pick<Bucket, "list">,
  deletion: () => Promise<T>,
): Promise<{ done: T } | { refusal: string }> {
  try {
    return { done: await deletion() };
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // A store that is away refuses this too, and each of the others would be waited for.
    await bucket.list({ after: null, limit: 1, prefix: TRASH_PREFIX });
    return { refusal: error.message };
  }
}
