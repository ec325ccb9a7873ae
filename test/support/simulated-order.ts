/** When the simulation's events were published, accepted and first sent, and which of them overtook others. */
import assert from "node:assert/strict";
import type { NewEvent } from "../../src/queue/queue.ts";
import type { EndpointId, EventId } from "../../src/shared/id.ts";

/** Two events have an order only if one was accepted before the other was published. */
type Published = { atMs: number; place: number; acceptedAtMs: number; firstYounger: number };

/** Enough to see what overtakes what, and few enough to compare each event with all of them. */
const MOST_STARTED = 2000;

export class SimulatedOrder {
  readonly #published = new Map<EventId, Published>();
  readonly #started = new Map<EndpointId, Published[]>();
  /** From publishing to the first attempt, by endpoint, in milliseconds. */
  readonly latenciesMs = new Map<EndpointId, number[]>();
  /** How many events had started before an older one, by endpoint, at worst: those published after it was accepted. */
  readonly overtaken = new Map<EndpointId, number>();
  /** How long after an event was accepted one was published that started before it, at worst, in milliseconds. */
  overtakenWithinMs = 0;

  published(id: EventId, atMs: number): void {
    const place = this.#published.size;
    this.#published.set(id, { atMs, place, acceptedAtMs: Infinity, firstYounger: Infinity });
  }

  accepted(events: readonly NewEvent[], atMs: number): void {
    for (const { id } of events) {
      const event = this.#published.get(id);
      if (event === undefined) continue;
      event.acceptedAtMs = atMs;
      event.firstYounger = this.#published.size;
    }
  }

  started(endpointId: EndpointId, eventId: EventId, nowMs: number): void {
    const event = this.#published.get(eventId);
    assert.ok(event !== undefined);
    listIn(this.latenciesMs, endpointId).push(nowMs - event.atMs);
    const started = listIn(this.#started, endpointId);
    const younger = started.filter(({ place }) => place >= event.firstYounger);
    this.overtaken.set(endpointId, Math.max(this.overtaken.get(endpointId) ?? 0, younger.length));
    const withinMs = younger.map(({ atMs }) => atMs - event.acceptedAtMs);
    this.overtakenWithinMs = Math.max(this.overtakenWithinMs, ...withinMs);
    started.push(event);
    if (started.length > MOST_STARTED) started.splice(0, MOST_STARTED / 2);
  }
}

function listIn<T>(lists: Map<EndpointId, T[]>, endpointId: EndpointId): T[] {
  const list = lists.get(endpointId) ?? [];
  lists.set(endpointId, list);
  return list;
}
