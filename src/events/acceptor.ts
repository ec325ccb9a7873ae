/** Makes checked events durable, and hands their dispatches to the worker of this process. */
import {
  tenantsOf,
  type AcceptedEvent,
  type DispatchQueue,
  type NewEvent,
  type OwnLane,
} from "../queue/queue.ts";
import type { EventId } from "../shared/id.ts";
import { FanOut } from "./fan-out.ts";

/** How long an idempotency key is waited for that an open transaction holds. */
type Patience = { lockWaitMs?: number };

export class Acceptor {
  readonly queue: DispatchQueue;
  readonly ownLane: OwnLane;
  readonly fanOut = new FanOut();

  constructor(services: { queue: DispatchQueue; ownLane: OwnLane }) {
    this.queue = services.queue;
    this.ownLane = services.ownLane;
  }

  /** Newly stored events, by id; an event whose idempotency key was used before is not among them. */
  async accept(events: readonly NewEvent[], patience: Patience = {}): Promise<Map<EventId, AcceptedEvent>> {
    const acceptance = await this.ownLane.accept(
      (places) => this.queue.accept(events, { ...places, ...patience }),
      tenantsOf(events),
    );
    const accepted = new Map(acceptance.accepted.map((event) => [event.id, event]));
    this.fanOut.note(events, accepted);
    return accepted;
  }

  /** The same in the order of the events. */
  async acceptEach(
    events: readonly NewEvent[],
    patience: Patience = {},
  ): Promise<(AcceptedEvent | undefined)[]> {
    const accepted = await this.accept(events, patience);
    return events.map((event) => accepted.get(event.id));
  }
}
