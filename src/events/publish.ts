/** Accepts events from producers: checks them, gives them their ids and bytes, and has them made durable. */
import type { NewEvent } from "../queue/queue.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import { checkEvents, sizeOfBodies } from "./checked-events.ts";
import type { LiveCatalog } from "./live-catalog.ts";
import type { PublishInput } from "./publish-input.ts";

/** Events being accepted at once, and the characters of their bodies; beyond, producers get 429. */
const MAX_ACCEPTING = 20_000;
const MAX_ACCEPTING_BODY_SIZE = 64 * 1024 * 1024;
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
  let accepting = 0;
  let acceptingBodySize = 0;
  return {
    async publish(input, sessionTenant, traceparent) {
      const events = checkEvents(input, sessionTenant, catalog.current());
      if (traceparent !== undefined) for (const event of events) event.traceparent = traceparent;
      const bodySize = events.reduce((sum, event) => sum + sizeOfBodies(event), 0);
      if (accepting + events.length > MAX_ACCEPTING || acceptingBodySize + bodySize > MAX_ACCEPTING_BODY_SIZE)
        throw new Refusal("too_many_requests", { retryAfterS: 1 });
      accepting += events.length;
      acceptingBodySize += bodySize;
      // After a timeout, events keep their room until their commit has succeeded or failed.
      const finished = makeDurable(events).finally(() => {
        accepting -= events.length;
        acceptingBodySize -= bodySize;
      });
      return withinLimit(
        finished,
        ANSWER_LIMIT_MS,
        () => new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause: new Error(LATE) }),
      );
    },
  };
}
