/**
 * Keeps dispatches that this process accepted behind older ones of their
 * endpoint that are still in the table, so that first attempts start in the order
 * in which this process accepted their events.
 *
 * An endpoint is *level* while all that this process accepted for it is in its
 * lane or parked: what is accepted goes into the lane at once. It is *behind*
 * after something came into the table that nobody leased: what was there when its
 * slot arrived, and what this process accepted without a lease, such as an array
 * with idempotency keys. A look at the table that begins later, and claims all
 * that is due, makes it level again. Meanwhile accepted dispatches are still
 * leased, but wait here. After a look that left some due they wait no longer:
 * the endpoint's lane becomes backlogged, parks them, and pulls the oldest first.
 * So an endpoint never waits for another's backlog.
 *
 * A look may also bring younger dispatches than those that wait. The waiting ones
 * enter their lane in front of them, because that look has found all that is
 * older than both.
 *
 * Of the dispatches of other processes it knows nothing before a look finds them
 * ([ADR 0036](../../docs/adr/0036-first-attempts-start-in-order.md)). Pure: it
 * answers what may enter the lanes.
 */
import type { LeasedDispatch } from "../queue/queue.ts";
import { NO_SLOTS, slotOf, type Slot, type SlotSet } from "../queue/slots.ts";
import type { EndpointId } from "../shared/id.ts";

type Waiting = { dispatch: LeasedDispatch; afterLook: number };

export class CatchUp {
  /** Looks are counted as they begin. */
  #looks = 0;
  /** Endpoints that are behind, with the last look that may have missed something of theirs. */
  readonly #behind = new Map<EndpointId, number>();
  #waiting: Waiting[] = [];
  #arriving: SlotSet = NO_SLOTS;

  /** What comes into the table for these slots is noted from now on, until they are owned. */
  arrive(slots: SlotSet): void {
    this.#arriving = slots;
  }

  /** The slots that arrived are owned. */
  arrived(): void {
    this.#arriving = NO_SLOTS;
  }

  /** These endpoints have dispatches in the table that nobody leased. Of slots that this worker has, or is about to have. */
  note(endpoints: Iterable<EndpointId>, owned: SlotSet): void {
    for (const id of endpoints) {
      if (owned.has(slotOf(id)) || this.#arriving.has(slotOf(id))) this.#behind.set(id, this.#looks);
    }
  }

  /** Newly accepted dispatches. Answers those that enter their lanes now; the others wait. */
  enter(dispatches: readonly LeasedDispatch[]): LeasedDispatch[] {
    return dispatches.filter((dispatch) => {
      const afterLook = this.#behind.get(dispatch.endpointId);
      if (afterLook !== undefined) this.#waiting.push({ dispatch, afterLook });
      return afterLook === undefined;
    });
  }

  lookBegins(): number {
    return ++this.#looks;
  }

  /** What a look brings, each dispatch behind the older ones of its endpoint that wait. */
  withOlder(found: readonly LeasedDispatch[]): LeasedDispatch[] {
    return found.flatMap((younger) =>
      this.#waiting.length === 0 || younger.attempt > 1
        ? [younger]
        : [...this.remove((one) => isOlder(one, younger)), younger],
    );
  }

  /** The look has claimed all that was due in these slots. Answers what enters the lanes. */
  foundAll(look: number, slots: SlotSet): LeasedDispatch[] {
    const isFound = (endpointId: EndpointId, afterLook: number) =>
      afterLook < look && slots.has(slotOf(endpointId));
    for (const [id, afterLook] of this.#behind) if (isFound(id, afterLook)) this.#behind.delete(id);
    return this.#take(({ dispatch, afterLook }) => isFound(dispatch.endpointId, afterLook));
  }

  /** The look left some due. Answers the dispatches whose lanes must be backlogged, and refuse them. */
  leftSome(look: number): LeasedDispatch[] {
    const taken = this.#take(({ afterLook }) => afterLook < look);
    for (const { endpointId } of taken) this.#behind.delete(endpointId);
    return taken;
  }

  /** Takes out those that this worker must not send. */
  remove(isWanted: (dispatch: LeasedDispatch) => boolean): LeasedDispatch[] {
    return this.#take(({ dispatch }) => isWanted(dispatch));
  }

  /** The same of slots that it gives back. */
  leave(isLeaving: (slot: Slot) => boolean): LeasedDispatch[] {
    for (const id of this.#behind.keys()) if (isLeaving(slotOf(id))) this.#behind.delete(id);
    return this.remove(({ endpointId }) => isLeaving(slotOf(endpointId)));
  }

  #take(isWanted: (one: Waiting) => boolean): LeasedDispatch[] {
    if (this.#waiting.length === 0) return [];
    const { taken = [], left = [] } = Object.groupBy(this.#waiting, (one) =>
      isWanted(one) ? "taken" : "left",
    );
    this.#waiting = left;
    return taken.map(({ dispatch }) => dispatch);
  }
}

/** Events of one process have ids in the order of publishing. */
function isOlder(one: LeasedDispatch, other: LeasedDispatch): boolean {
  return one.endpointId === other.endpointId && one.eventId < other.eventId;
}
