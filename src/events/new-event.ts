import { idTimeMs, newEventId, type EventId } from "../shared/id.ts";

/** A new event's id, and the bytes that every attempt will send. */
export function writeEvent(type: string, data: unknown): { id: EventId; body: string } {
  const id = newEventId();
  const created_at = new Date(idTimeMs(id)).toISOString();
  return { id, body: JSON.stringify({ id, event: type, created_at, data }) };
}
