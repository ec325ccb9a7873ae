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
 * So an endpoint never waits for another's backlog. The same becomes of an
 * endpoint whose dispatches would make this take too much memory, because a look
 * may take as long as a statement may. Such endpoints are *given up*: what is
 * older than what their lanes refuse is parked before anything of theirs is pulled.
 *
 * A look may also bring younger dispatches than those that wait. The waiting ones
 * enter their lane in front of them, because that look has found all that is
 * older than both.
 *
 * Of the dispatches of other processes it knows nothing before a look finds them
 * ([ADR 0036](../../docs/adr/0036-first-attempts-start-in-order.md)). Pure: it
 * answers what may enter the lanes.
 */
import type { EventAtEndpoint, LeasedDispatch } from "../queue/queue.ts";
import { NO_SLOTS, slotOf, type Slot, type SlotSet } from "../queue/slots.ts";
import type { EndpointId, EndpointKey } from "../shared/id.ts";
import { weightOf } from "./shares.ts";

/** {@link weightOf} all that waits: a quarter of what the lanes hold. */
const MOST_WEIGHT = 8 * 1024 * 1024;

type Waiting = { dispatch: LeasedDispatch; afterLook: number };

export class CatchUp {
  /** Looks are counted as they begin. */
  #looks = 0;
  /** Endpoints that are behind, with the last look that may have missed something of theirs. */
  readonly #behind = new Map<EndpointId, number>();
  readonly #waiting = new Map<EndpointId, Waiting[]>();
  readonly #givenUp = new Map<EndpointId, EndpointKey>();
  #weight = 0;
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

  /** Newly accepted dispatches: those that enter their lanes now, and those whose lanes must be backlogged, and refuse them. The others wait. */
  enter(dispatches: readonly LeasedDispatch[]): { entering: LeasedDispatch[]; refused: LeasedDispatch[] } {
    const entering: LeasedDispatch[] = [];
    const refused: LeasedDispatch[] = [];
    for (const dispatch of dispatches) {
      const { endpointId } = dispatch;
      const afterLook = this.#behind.get(endpointId);
      if (afterLook === undefined) {
        entering.push(dispatch);
        continue;
      }
      this.#wait({ dispatch, afterLook });
      if (this.#weight > MOST_WEIGHT) refused.push(...this.#giveUp(endpointId));
    }
    return { entering, refused };
  }

  lookBegins(): number {
    return ++this.#looks;
  }

  /** What a look brings, each dispatch behind the older ones of its endpoint that wait. */
  withOlder(found: readonly LeasedDispatch[]): LeasedDispatch[] {
    return found.flatMap((younger) =>
      younger.attempt > 1 ? [younger] : [...this.#takeOlder(younger), younger],
    );
  }

  /** The look has claimed all that was due in these slots. Answers what enters the lanes. */
  foundAll(look: number, slots: SlotSet): LeasedDispatch[] {
    for (const [id, afterLook] of this.#behind) {
      if (afterLook < look && slots.has(slotOf(id))) this.#behind.delete(id);
    }
    return this.#endpoints((slot) => slots.has(slot)).flatMap((id) =>
      this.#take(id, ({ afterLook }) => afterLook < look),
    );
  }

  /**
   * The look left some due. Answers the dispatches whose lanes must be
   * backlogged, and refuse them: also younger ones, since such a lane may be
   * open again before the next look.
   */
  leftSome(look: number): LeasedDispatch[] {
    return [...this.#waiting].flatMap(([id, waiting]) =>
      waiting.some(({ afterLook }) => afterLook < look) ? this.#giveUp(id) : [],
    );
  }

  /** Endpoints with dispatches in the table that are older than what their lanes refused. */
  givenUp(): EndpointKey[] {
    return [...this.#givenUp.values()];
  }

  /** What was due of these endpoints is parked. One that was given up again since stays. */
  oldestParked(endpoints: readonly EndpointKey[]): void {
    for (const endpoint of endpoints) {
      const { endpointId } = endpoint;
      if (this.#givenUp.get(endpointId) === endpoint) this.#givenUp.delete(endpointId);
    }
  }

  /** Takes out what this worker must not send. */
  withdraw({ endpointId, eventId }: EventAtEndpoint): LeasedDispatch[] {
    return this.#take(endpointId, ({ dispatch }) => dispatch.eventId === eventId);
  }

  /** The same of slots that it gives back. */
  leave(isLeaving: (slot: Slot) => boolean): LeasedDispatch[] {
    for (const endpoints of [this.#behind, this.#givenUp])
      for (const id of endpoints.keys()) if (isLeaving(slotOf(id))) endpoints.delete(id);
    return this.#endpoints(isLeaving).flatMap((id) => this.#take(id, () => true));
  }

  #endpoints(isWanted: (slot: Slot) => boolean): EndpointId[] {
    return [...this.#waiting.keys()].filter((id) => isWanted(slotOf(id)));
  }

  #wait(one: Waiting): void {
    const { endpointId } = one.dispatch;
    const waiting = this.#waiting.get(endpointId) ?? [];
    waiting.push(one);
    this.#waiting.set(endpointId, waiting);
    this.#weight += weightOf(one.dispatch);
  }

  #giveUp(endpointId: EndpointId): LeasedDispatch[] {
    this.#behind.delete(endpointId);
    const taken = this.#take(endpointId, () => true);
    for (const { tenantId } of taken) this.#givenUp.set(endpointId, { tenantId, endpointId });
    return taken;
  }

  /** Events of one process have ids in the order of publishing. */
  #takeOlder({ endpointId, eventId }: LeasedDispatch): LeasedDispatch[] {
    return this.#take(endpointId, ({ dispatch }) => dispatch.eventId < eventId);
  }

  #take(endpointId: EndpointId, isWanted: (one: Waiting) => boolean): LeasedDispatch[] {
    const waiting = this.#waiting.get(endpointId);
    if (waiting === undefined) return [];
    const { taken = [], left = [] } = Object.groupBy(waiting, (one) => (isWanted(one) ? "taken" : "left"));
    if (left.length > 0) this.#waiting.set(endpointId, left);
    else this.#waiting.delete(endpointId);
    for (const { dispatch } of taken) this.#weight -= weightOf(dispatch);
    return taken.map(({ dispatch }) => dispatch);
  }
}
