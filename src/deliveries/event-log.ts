/** Reading a tenant's events: as a list, and one with what became of it at each endpoint. */
import type { TenantPool } from "../database/tenant-pool.ts";
import type { EndpointId, EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Delivery } from "./delivery.ts";
import { readDeliveryHeads } from "./delivery-store.ts";
import {
  findAttempts,
  findEvent,
  listEventSlice,
  type AttemptKey,
  type EventBodies,
  type EventHead,
  type TypeFilter,
} from "./event-log-store.ts";
import { MAX_ROWS } from "./search.ts";
import { rangeOf, windowsOf } from "./search-filter.ts";

const FIRST_SLICE = 200;
const GROWTH = 4;
const MAX_ATTEMPTS_SHOWN = 200;
/** So often attempts may end while they are read; then what was read last is answered. */
const MOST_LOOKS = 5;

export type EventFilter = {
  /** A type, or with `.*` at the end all types below it. */
  type?: string | undefined;
  /** Milliseconds since 1970: inclusive and exclusive. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
  before?: EventId | undefined;
};

export type EventPage = {
  /** Newest first. */
  events: EventHead[];
  /** An id: the next page begins before it, as far as was looked. Null where nothing older is left. */
  next: string | null;
};

/** An event at one endpoint. */
export type EventAt = {
  endpointId: EndpointId;
  /** Of the next attempt if there is one, else of the newest that was made. */
  state: AttemptKey["state"];
  nextAttemptAt: Date | null;
  /** Newest first, without bodies. */
  attempts: Delivery[];
};

export type EventStory = EventHead & EventBodies & { endpoints: EventAt[]; isPartial: boolean };

export class EventLog {
  readonly #tenants: TenantPool;

  constructor(tenants: TenantPool) {
    this.#tenants = tenants;
  }

  /** Looks at {@link MAX_ROWS} events at most. */
  async list(tenantId: TenantId, filter: EventFilter, limit: number): Promise<EventPage> {
    const { fromMs, toMs, before } = filter;
    const type = typeFilter(filter.type);
    const events: EventHead[] = [];
    let size = filter.type === undefined ? limit : Math.max(limit, FIRST_SLICE);
    let rowsLeft = MAX_ROWS;
    for (const { from, to: end } of windowsOf(rangeOf({ fromMs, toMs, before }), Date.now())) {
      let to: string | null = end;
      while (to !== null) {
        if (rowsLeft <= 0) return { events, next: to };
        const { found, looked, lookedTo } = await listEventSlice(
          this.#tenants.reading(tenantId),
          tenantId,
          type,
          { range: { from, to }, most: Math.min(size, rowsLeft), limit: limit - events.length },
        );
        events.push(...found);
        if (events.length === limit) return { events, next: events.at(-1)?.id ?? null };
        rowsLeft -= looked;
        to = lookedTo;
        size *= GROWTH;
      }
    }
    return { events, next: null };
  }

  async has(tenantId: TenantId, eventId: EventId): Promise<boolean> {
    return (await findEvent(this.#tenants.reading(tenantId), tenantId, eventId)) !== null;
  }

  /** An unknown id, well-formed or not, is simply not found. */
  async get(tenantId: TenantId, eventId: EventId | null): Promise<EventStory> {
    const db = this.#tenants.reading(tenantId);
    const event = eventId === null ? null : await findEvent(db, tenantId, eventId);
    if (event === null) throw new Refusal("not_found");
    for (let look = 1; ; look++) {
      const { keys, isPartial } = await findAttempts(db, { tenantId, eventId: event.id }, MAX_ROWS);
      keys.sort((one, other) => (one.id < other.id ? 1 : -1));
      const shown = keys.slice(0, MAX_ATTEMPTS_SHOWN);
      const attempts = await readDeliveryHeads(db, tenantId, shown);
      // One that ended in between has left another behind, which is not among them.
      if (look < MOST_LOOKS && hasEnded(shown, attempts)) continue;
      return {
        ...event,
        endpoints: byEndpoint(keys, attempts),
        isPartial: isPartial || keys.length > shown.length,
      };
    }
  }
}

/** `a.*` is every type that begins with `a.`. */
function typeFilter(type: string | undefined): TypeFilter {
  if (type === undefined) return { exactly: null, prefix: null };
  return type.endsWith(".*") ? { exactly: null, prefix: type.slice(0, -1) } : { exactly: type, prefix: null };
}

/** In the order of the newest attempt. What is pending says the state, whatever was sent since it was scheduled. */
function byEndpoint(keys: readonly AttemptKey[], attempts: readonly Delivery[]): EventAt[] {
  const states = new Map<EndpointId, AttemptKey["state"]>();
  const outcomes = new Map(attempts.map(({ id, status }) => [id, status]));
  for (const { endpointId, id, state: found } of keys) {
    const outcome = outcomes.get(id);
    // An attempt may end between the look for it and the reading of its row.
    const state = outcome === "delivered" || outcome === "failed" ? outcome : found;
    const known = states.get(endpointId);
    if (known === undefined || (isPending(state) && !isPending(known))) states.set(endpointId, state);
  }
  const ofEndpoints = Map.groupBy(attempts, (attempt) => attempt.endpointId);
  return Array.from(states, ([endpointId, state]) => {
    const own = ofEndpoints.get(endpointId) ?? [];
    const due = own.map(({ nextAttemptAt }) => nextAttemptAt).find((at) => at !== null) ?? null;
    return { endpointId, state, nextAttemptAt: state === "held" ? null : due, attempts: own };
  });
}

/** Whether an attempt that was found pending had ended when its row was read. */
function hasEnded(keys: readonly AttemptKey[], attempts: readonly Delivery[]): boolean {
  const ended = new Set(attempts.filter(({ status }) => status !== "pending").map(({ id }) => id));
  return keys.some(({ id, state }) => isPending(state) && ended.has(id));
}

function isPending(state: AttemptKey["state"]): boolean {
  return state === "pending" || state === "held";
}
