/**
 * Room for the events that are being accepted at once, in a process. A tenant
 * whose events wait, as for a shard that is silent or for a key that an open
 * transaction holds, fills it in seconds. So there is half as much again for
 * tenants that take less of it than others do on average.
 */
import type { NewEvent } from "../queue/queue.ts";
import type { TenantId } from "../shared/id.ts";
import { sizeOfBodies } from "./checked-events.ts";

const MAX_EVENTS = 20_000;
/** Of their bodies. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const FOR_THOSE_WITH_LESS = 1.5;
/** What an event takes besides its characters, so that either limit is a share of the same room. */
const CHARACTERS_OF_EVENT = Math.ceil(MAX_CHARACTERS / MAX_EVENTS);

export class AcceptingRoom {
  #events = 0;
  #characters = 0;
  /** What each tenant takes, in characters. */
  readonly #taken = new Map<TenantId, number>();

  /** Null where there is no room for all of them; otherwise what gives it back. */
  take(events: readonly NewEvent[]): (() => void) | null {
    const sizes = events.map(sizeOfBodies);
    const characters = sizes.reduce((sum, size) => sum + size, 0);
    const fitsIn = (limit: number): boolean =>
      this.#events + events.length <= limit * MAX_EVENTS &&
      this.#characters + characters <= limit * MAX_CHARACTERS;
    if (!fitsIn(1) && !(fitsIn(FOR_THOSE_WITH_LESS) && this.#haveLess(events))) return null;
    const change = (sign: 1 | -1): void => {
      this.#events += sign * events.length;
      this.#characters += sign * characters;
      for (const [place, { tenantId }] of events.entries())
        this.#change(tenantId, sign * ((sizes[place] ?? 0) + CHARACTERS_OF_EVENT));
    };
    change(1);
    return () => change(-1);
  }

  #haveLess(events: readonly NewEvent[]): boolean {
    const all = this.#characters + this.#events * CHARACTERS_OF_EVENT;
    const average = all / this.#taken.size;
    return events.every(({ tenantId }) => (this.#taken.get(tenantId) ?? 0) < average);
  }

  #change(tenantId: TenantId, by: number): void {
    const taken = (this.#taken.get(tenantId) ?? 0) + by;
    if (taken === 0) this.#taken.delete(tenantId);
    else this.#taken.set(tenantId, taken);
  }
}
