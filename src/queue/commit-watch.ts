/**
 * Remembers whether commits of events and outcomes failed because of the whole
 * server. A probe is small: it may still fit on a disk that is full for events.
 */
import { isOfTheServer } from "../database/passing-errors.ts";
import type { DispatchQueue } from "./queue.ts";

/** Without a commit since, a failure counts for so long. */
const REMEMBERED_MS = 30_000;

export type CommitWatch = {
  /** The queue, watched. */
  watch(queue: DispatchQueue): DispatchQueue;
  /** The last failure, unless something was committed since; null where commits happen. */
  failure(): unknown;
};

export function makeCommitWatch(): CommitWatch {
  let last: { error: unknown; at: number } | null = null;

  async function watched<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      last = null;
      return result;
    } catch (error) {
      if (isOfTheServer(error)) last = { error, at: performance.now() };
      throw error;
    }
  }

  return {
    watch: (queue) => ({
      ...queue,
      accept: (...given) => watched(queue.accept(...given)),
      acceptParts: (...given) => watched(queue.acceptParts(...given)),
      complete: (...given) => watched(queue.complete(...given)),
    }),
    failure: () => (last !== null && performance.now() - last.at < REMEMBERED_MS ? last.error : null),
  };
}
