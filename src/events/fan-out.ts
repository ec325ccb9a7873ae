/**
 * How many dispatches events will make. One statement stores them all, and
 * every publisher behind it waits for its commit, so its rows are bounded:
 * 1,000 events for 100 endpoints would be 100,000.
 */
import { LRUCache } from "lru-cache";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import type { GroupSize } from "../shared/group-commit.ts";
import type { EventId, TenantId } from "../shared/id.ts";

/** Dispatches that one statement makes at most, or one event's. */
export const ROWS_AT_ONCE = 5000;
const EVENTS_AT_ONCE = 1000;
/** For a tenant of which nothing is known yet: as many endpoints as one may have by default. */
const UNKNOWN_FAN_OUT = 100;
const MAX_TENANTS = 10_000;

export class FanOut {
  /** The most endpoints that lately were subscribed to an event of the tenant. */
  readonly #known = new LRUCache<TenantId, number>({ max: MAX_TENANTS });

  /** Of groups whose events share a statement. */
  readonly ofOneStatement: GroupSize<NewEvent> = {
    maxItems: EVENTS_AT_ONCE,
    weigh: { of: (event) => this.rowsOf(event), most: ROWS_AT_ONCE },
  };

  /** The rows that an event is likely to make: itself and its dispatches. */
  rowsOf(event: NewEvent): number {
    return 1 + (this.#known.get(event.tenantId) ?? UNKNOWN_FAN_OUT);
  }

  note(events: readonly NewEvent[], accepted: ReadonlyMap<EventId, AcceptedEvent>): void {
    const seen = new Map<TenantId, number>();
    for (const { id, tenantId } of events) {
      const count = accepted.get(id)?.dispatchCount;
      if (count !== undefined) seen.set(tenantId, Math.max(seen.get(tenantId) ?? 0, count));
    }
    for (const [tenantId, count] of seen) this.#known.set(tenantId, count);
  }

  /** Whether several events are likely to make more rows than one statement may. */
  isWide(events: readonly NewEvent[]): boolean {
    return events.reduce((rows, event) => rows + this.rowsOf(event), 0) > ROWS_AT_ONCE;
  }

  /** The events in their order, in parts that each make {@link ROWS_AT_ONCE} rows at most, or are one event. */
  parts(events: readonly NewEvent[]): NewEvent[][] {
    const parts: NewEvent[][] = [];
    let rows = Infinity;
    for (const event of events) {
      rows += this.rowsOf(event);
      if (rows > ROWS_AT_ONCE) {
        parts.push([]);
        rows = this.rowsOf(event);
      }
      parts.at(-1)?.push(event);
    }
    return parts;
  }
}
