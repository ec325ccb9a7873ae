/**
 * Remembers whether commits of events and outcomes failed because of the whole
 * server. A probe is small: it may still fit on a disk that is full for events.
 */
import { codeOf } from "../database/passing-errors.ts";
import type { DispatchQueue } from "./queue.ts";

/** Without a commit since, a failure counts for so long. */
const REMEMBERED_MS = 30_000;
// disk_full, out_of_memory, configuration_limit_exceeded, io_error, read_only_sql_transaction. A time limit or
// a lock may be one tenant's doing.
const OF_THE_SERVER = new Set(["53100", "53200", "53400", "58030", "25006"]);

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
      if (OF_THE_SERVER.has(codeOf(error))) last = { error, at: performance.now() };
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
