import { idTimeMs, newEventId, type EventId } from "../shared/id.ts";

/** A new event's id, and the bytes that every attempt will send. */
export function writeEvent(type: string, data: unknown): { id: EventId; body: string } {
  const id = newEventId();
  return { id, body: writeBody(id, type, data) };
}

/** The bytes of one version of an event: all of them have its id and its type. */
export function writeBody(id: EventId, type: string, data: unknown): string {
  const created_at = new Date(idTimeMs(id)).toISOString();
  return JSON.stringify({ id, event: type, created_at, data });
}
