/** Accepts events from producers: checks them, gives them their ids and bytes, and has them made durable. */
import type { NewEvent } from "../queue/queue.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import { AcceptingRoom } from "./accepting-room.ts";
import { checkEvents } from "./checked-events.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import type { PublishInput } from "./publish-input.ts";

/**
 * A producer is answered within so long, even by a database or a stream that
 * is silent: then with 503, and whether the event was accepted is open. Longer
 * than the wait for a lock, which has an answer of its own.
 */
const ANSWER_LIMIT_MS = 8000;
const RETRY_AFTER_S = 2;
const LATE = `events were not stored within ${ANSWER_LIMIT_MS / 1000} s`;

/**
 * One event's answer: `isNew` is false when its idempotency key was used before
 * with the same content, `dispatchCount` null where only the relay will know it.
 */
export type Published = { id: EventId; dispatchCount: number | null; isNew: boolean };

export type Publisher = {
  /** `sessionTenant` null means that each event must name its tenant. An array is all or nothing. */
  publish(
    input: PublishInput | readonly PublishInput[],
    sessionTenant: TenantId | null,
    traceparent?: string,
  ): Promise<Published[]>;
};

/** Makes the events of one request durable, all or none, and answers them in their order. */
export type MakeDurable = (events: NewEvent[]) => Promise<Published[]>;

export function makePublisher(catalog: LiveCatalog, makeDurable: MakeDurable): Publisher {
  const room = new AcceptingRoom();
  return {
    async publish(input, sessionTenant, traceparent) {
      const events = checkEvents(input, sessionTenant, catalog.current());
      if (traceparent !== undefined) for (const event of events) event.traceparent = traceparent;
      const giveBack = room.take(events);
      if (giveBack === null) throw new Refusal("too_many_requests", { retryAfterS: 1 });
      // After a timeout, events keep their room until their commit has succeeded or failed.
      const finished = makeDurable(events).finally(giveBack);
      return withinLimit(
        finished,
        ANSWER_LIMIT_MS,
        () => new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause: new Error(LATE) }),
      );
    },
  };
}
