/** The messages that Postern itself stores: events of one or more requests, checked, each with its bytes. */
import * as z from "zod";
import type { NewEvent } from "../queue/queue.ts";
import { brokenTextRule } from "../events/event-data.ts";
import { isEventTypeName, patternsMatching } from "../events/subscription.ts";
import { parseEventId, parseTenantId, type EventId, type TenantId } from "../shared/id.ts";
import { TRACEPARENT } from "../shared/traceparent.ts";

const FORMAT = 1;

const storableText = z.string().refine((text) => brokenTextRule(text) === null);

const storedEvent = z.object({
  id: z.string().transform((id, context): EventId => {
    const eventId = parseEventId(id);
    if (eventId !== null) return eventId;
    context.addIssue({ code: "custom", message: "must be an event's id" });
    return z.NEVER;
  }),
  tenant: z.string().transform((id, context): TenantId => {
    const tenantId = parseTenantId(id);
    if (tenantId !== null) return tenantId;
    context.addIssue({ code: "custom", message: "must be a tenant's id" });
    return z.NEVER;
  }),
  type: z.string().refine(isEventTypeName),
  version: z.int().min(1).max(999),
  body: storableText,
  others: z.record(z.string().regex(/^[1-9][0-9]{0,2}$/), storableText).optional(),
  key: storableText.optional(),
  traceparent: z.string().regex(TRACEPARENT).optional(),
});

type StoredEvent = z.output<typeof storedEvent>;

const message = z.object({ format: z.literal(FORMAT), events: z.array(storedEvent).min(1) });

/** The size of an event in a message, about. */
export const EVENT_OVERHEAD_BYTES = 200;

export function writeAccepted(events: readonly NewEvent[]): Uint8Array {
  const written: z.input<typeof message> = {
    format: FORMAT,
    events: events.map(({ id, tenantId, type, version, body, others, idempotencyKey, traceparent }) => ({
      id,
      tenant: tenantId,
      type,
      version,
      body,
      ...(others === null ? {} : { others: { ...others } }),
      ...(idempotencyKey === null ? {} : { key: idempotencyKey }),
      ...(traceparent === undefined ? {} : { traceparent }),
    })),
  };
  return Buffer.from(JSON.stringify(written));
}

/** Null for what Postern would not have written. They were checked when they were answered, so no catalog is asked. */
export function readAccepted(value: unknown): NewEvent[] | null {
  const parsed = message.safeParse(value);
  if (!parsed.success) return null;
  return parsed.data.events.map(toNewEvent);
}

function toNewEvent({ tenant, others, key, traceparent, ...event }: StoredEvent): NewEvent {
  const versions = [event.version, ...Object.keys(others ?? {}).map(Number)];
  const patterns = patternsMatching(event.type, versions);
  const read = { ...event, tenantId: tenant, patterns, others: others ?? null, idempotencyKey: key ?? null };
  return traceparent === undefined ? read : { ...read, traceparent };
}
