/** What clients of pull endpoints send and are answered. */
import * as z from "zod";
import { DELIVERY_TRIGGERS } from "../deliveries/delivery.ts";
import type { Ack, Acknowledged, Lease } from "../pull/fetches.ts";
import { parseDeliveryId, UUID_PATTERN, type DeliveryId } from "../shared/id.ts";
import { plainText } from "./delivery-query.ts";

const MAX_EVENTS = 1000;
const DEFAULT_EVENTS = 100;
const MAX_WAIT_S = 30;
const MAX_ERROR_CHARACTERS = 1000;

export const leaseInput = z.strictObject({
  limit: z.int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS).describe("Events at most."),
  wait_s: z
    .int()
    .min(0)
    .max(MAX_WAIT_S)
    .default(0)
    .describe("For how many seconds the call waits where no event is due."),
});

const deliveryId = z
  .string()
  .meta({ pattern: UUID_PATTERN })
  .transform((text, context): DeliveryId => {
    const id = parseDeliveryId(text);
    if (id !== null) return id;
    context.addIssue({ code: "custom", message: "must be the id of a leased event" });
    return z.NEVER;
  });

export const ackInput = z.strictObject({
  lease_id: z.string().regex(new RegExp(UUID_PATTERN), "must be a lease id").meta({ pattern: UUID_PATTERN }),
  acks: z
    .array(
      z.strictObject({
        id: deliveryId.describe("The `id` of a leased event."),
        error: plainText(MAX_ERROR_CHARACTERS)
          .nullish()
          .describe("Why it is refused: then the attempt has failed. Absent or null: it is delivered."),
      }),
    )
    .min(1)
    .max(MAX_EVENTS)
    .refine((acks) => new Set(acks.map(({ id }) => id)).size === acks.length, "must name each event once"),
});

export function acksOf(input: z.output<typeof ackInput>): { leaseId: string; acks: Ack[] } {
  const acks = input.acks.map(({ id, error }) => ({ id, refusal: error ?? null }));
  return { leaseId: input.lease_id, acks };
}

export const leaseObject = z
  .object({
    lease_id: z.uuid().nullable().describe("Null where no event was due."),
    lease_until: z.iso
      .datetime()
      .nullable()
      .describe(
        "When the lease ends. What is not acknowledged by then has failed with the error `timeout`. A person's test or retry ends earlier: 15 seconds after it was asked for.",
      ),
    events: z.array(
      z.object({
        id: z.uuid().describe("The attempt's id, as in the delivery log: what is acknowledged."),
        event_id: z.uuid().nullable().describe("Null for a test."),
        event_type: z.string(),
        event_version: z.int().min(1).describe("Version of the event type."),
        trigger: z.enum(DELIVERY_TRIGGERS),
        replay_id: z.uuid().nullable(),
        attempt: z.int().min(1),
        headers: z
          .record(z.string(), z.string())
          .describe("Those of a request to a receiver, static headers and signatures included."),
        body: z
          .string()
          .describe("The exact text that the signatures cover. Do not parse and write it again."),
      }),
    ),
  })
  .meta({ id: "Lease" });

export function leaseView(lease: Lease | null): z.infer<typeof leaseObject> {
  return {
    lease_id: lease?.leaseId ?? null,
    lease_until: lease?.until.toISOString() ?? null,
    events: (lease?.events ?? []).map((event) => ({
      id: event.id,
      event_id: event.eventId,
      event_type: event.eventType,
      event_version: event.version,
      trigger: event.trigger,
      replay_id: event.replayId,
      attempt: event.attempt,
      headers: event.headers,
      body: event.body,
    })),
  };
}

export const ackedObject = z
  .object({
    delivered: z.int().min(0),
    failed: z.int().min(0).describe("Refused by this call."),
    late: z
      .array(z.uuid())
      .describe("Events that this lease does not have, or has no more: nothing was changed for them."),
  })
  .meta({ id: "Acknowledged" });

export function ackedView({ delivered, failed, late }: Acknowledged): z.infer<typeof ackedObject> {
  return { delivered, failed, late };
}
