/**
 * Remembers whether the stream takes events. Its status does not show it: a NATS
 * server whose disk is full still leads the stream, and answers no message.
 */
import type { Clock } from "../shared/clock.ts";
import { messageOf } from "../shared/message-of.ts";
import { MessageTooLargeError, type IntakeStream } from "./stream.ts";

/** Without a message stored since, a failure counts for so long. */
const REMEMBERED_MS = 30_000;
/** Failing for less is an election of the stream's leader. */
const ELECTION_MS = 10_000;

export type StoreWatch = Pick<IntakeStream, "store"> & {
  /** Why the stream has taken nothing for longer than an election; null where it takes events, or none came. */
  failure(): string | null;
};

export function watchStores(stream: Pick<IntakeStream, "store">, clock: Clock): StoreWatch {
  let failing: { sinceMs: number; lastMs: number; why: string } | null = null;

  function current(): typeof failing {
    return failing !== null && clock.nowMs() - failing.lastMs < REMEMBERED_MS ? failing : null;
  }

  return {
    async store(message) {
      try {
        await stream.store(message);
        failing = null;
      } catch (error) {
        if (!(error instanceof MessageTooLargeError)) {
          const nowMs = clock.nowMs();
          failing = { sinceMs: current()?.sinceMs ?? nowMs, lastMs: nowMs, why: messageOf(error) };
        }
        throw error;
      }
    },
    failure() {
      const known = current();
      return known !== null && known.lastMs - known.sinceMs >= ELECTION_MS ? known.why : null;
    },
  };
}
