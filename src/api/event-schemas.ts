/** Events of the log as callers see them, and the query by which they are listed. */
import * as z from "zod";
import type { EventAt, EventStory } from "../deliveries/event-log.ts";
import type { EventHead } from "../deliveries/event-log-store.ts";
import { idTimeMs, parseEventId } from "../shared/id.ts";
import { eventTypeText } from "./delivery-query.ts";
import { idText, instantText, integerText } from "./page-query.ts";
import { deliveryHeadView, deliveryObject, listedDeliveryObject } from "./schemas.ts";

export const eventsQuery = z.strictObject({
  type: eventTypeText.optional().describe("A type, or with `.*` at its end every type below it."),
  from: instantText.optional().describe("Accepted at or after, ISO 8601 with offset."),
  to: instantText.optional().describe("Accepted before, ISO 8601 with offset."),
  before: idText(parseEventId, "an event id").describe("An event id: only events older than it."),
  limit: integerText(1, 100, 50),
});

const eventHead = {
  id: z.uuid().describe("Also the `webhook-id` of each of its requests."),
  type: z.string(),
  deliveries: z.int().min(0).describe("How many endpoints it was dispatched to when it was accepted."),
  created_at: z.iso.datetime(),
};

export const eventHeadObject = z.object(eventHead).meta({ id: "EventHead" });

export function eventHeadView({ id, type, dispatchCount }: EventHead): z.infer<typeof eventHeadObject> {
  return { id, type, deliveries: dispatchCount, created_at: new Date(idTimeMs(id)).toISOString() };
}

const eventAt = z.object({
  endpoint_id: z.uuid(),
  state: z
    .enum(["pending", "held", "delivered", "failed"])
    .describe(
      "Of the next attempt; without one, of the newest. `held`: it waits for its endpoint to be enabled.",
    ),
  next_attempt_at: z.iso.datetime().nullable(),
  attempts: z.array(listedDeliveryObject).describe("Newest first, without bodies."),
});

const EXAMPLE_ID = "019c1335-1b9c-7a10-8f3e-6a1d2b3c4d5e";
const example = {
  id: EXAMPLE_ID,
  type: "invoice.paid",
  deliveries: 1,
  created_at: "2026-01-31T10:00:00.000Z",
};

export const eventsAnswer = z
  .object({
    searched_to: z.iso
      .datetime()
      .nullable()
      .describe("Every event accepted after this was looked at. Null when nothing older is left."),
    events: z.array(eventHeadObject),
  })
  .meta({ examples: [{ searched_to: null, events: [example] }] });

export const eventAnswer = z
  .object({
    event: z.object({
      ...eventHead,
      body: z
        .string()
        .describe("The exact text that every attempt sends, but for endpoints of other versions."),
      version: z.int().min(1).describe("The version of the type that `body` is."),
      versions: z
        .record(z.string(), z.string())
        .describe("The exact texts for endpoints that name another version, by its number."),
    }),
    endpoints: z.array(eventAt),
    is_partial: z
      .boolean()
      .describe(
        "The event has more attempts than the newest 200, which are shown, or so much is pending that a pending attempt may be missing.",
      ),
  })
  .meta({
    examples: [
      {
        event: {
          ...example,
          body: `{"id":"${EXAMPLE_ID}","event":"invoice.paid","data":{}}`,
          version: 1,
          versions: {},
        },
        endpoints: [
          {
            endpoint_id: "019a2f00-0000-7000-8000-000000000001",
            state: "pending",
            next_attempt_at: "2026-01-31T10:00:05.000Z",
            attempts: [],
          },
        ],
        is_partial: false,
      },
    ],
  });

const ENDPOINT_ID = "019a2f00-0000-7000-8000-000000000001";

export const sendInput = z
  .strictObject({ endpoint_id: z.string().describe("An endpoint's id.") })
  .meta({ examples: [{ endpoint_id: ENDPOINT_ID }] });

export const sentAnswer = z.object({ delivery: deliveryObject }).meta({
  examples: [
    {
      delivery: {
        id: "019c1335-1c12-7e0a-b5ae-1f0d3a5c9b01",
        endpoint_id: ENDPOINT_ID,
        event_id: EXAMPLE_ID,
        event_type: "invoice.paid",
        event_version: 1,
        trigger: "retry",
        replay_id: null,
        status: "pending",
        attempt: 3,
        request_headers: null,
        request_body: "{}",
        response_status: null,
        response_headers: null,
        response_body: null,
        latency_ms: 0,
        error: null,
        next_attempt_at: "2026-01-31T10:00:00.018Z",
        sent_at: null,
        created_at: "2026-01-31T10:00:00.018Z",
      },
    },
  ],
});

export function eventView(story: EventStory): z.infer<typeof eventAnswer> {
  return {
    event: {
      ...eventHeadView(story),
      body: story.body,
      version: story.version,
      versions: { ...story.others },
    },
    endpoints: story.endpoints.map(eventAtView),
    is_partial: story.isPartial,
  };
}

function eventAtView({ endpointId, state, nextAttemptAt, attempts }: EventAt): z.infer<typeof eventAt> {
  return {
    endpoint_id: endpointId,
    state,
    next_attempt_at: nextAttemptAt?.toISOString() ?? null,
    attempts: attempts.map(deliveryHeadView),
  };
}
