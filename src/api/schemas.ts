/** The objects of the API as callers see them: for the OpenAPI document, with the functions that make them. */
import * as z from "zod";
import { ACTOR_TYPES, AUDIT_ACTIONS, AUDIT_OUTCOMES, type AuditEntry } from "../audit/audit-entry.ts";
import { DELIVERY_STATUSES, DELIVERY_TRIGGERS, type Delivery } from "../deliveries/delivery.ts";
import { ENDPOINT_MODES, type Endpoint } from "../endpoints/endpoint.ts";
import { catalogEntryMembers, type CatalogEntry } from "../events/catalog-entry.ts";
import { idTimeMs } from "../shared/id.ts";

const id = z.uuid().describe("UUIDv7, lower case.");
const instant = z.iso.datetime();

export const endpointObject = z
  .object({
    id,
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    enabled: z.boolean(),
    disabled_reason: z.enum(["manual", "gone", "failing"]).nullable(),
    mode: z.enum(ENDPOINT_MODES).describe("Whether Postern sends its events, or a client fetches them."),
    temporary: z.boolean().describe("Deleted after an hour without a call of its client."),
    rate_limit: z.int().nullable(),
    headers: z
      .record(z.string(), z.string())
      .describe("`[masked]` in place of the value of `authorization` and of each of `masked_headers`."),
    masked_headers: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: "Endpoint" });

export function endpointView(endpoint: Endpoint): z.infer<typeof endpointObject> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    enabled: endpoint.enabled,
    disabled_reason: endpoint.disabledReason,
    mode: endpoint.mode,
    temporary: endpoint.temporary,
    rate_limit: endpoint.rateLimit,
    headers: endpoint.headers,
    masked_headers: endpoint.maskedHeaders,
    metadata: endpoint.metadata,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

export const healthObject = z
  .object({
    failing_since: instant
      .nullable()
      .describe(
        "Since when every attempt has failed. Tests and failed retries of a delivery do not count; a delivered retry ends it.",
      ),
    previous_secret_until: instant
      .nullable()
      .describe("Until when requests are signed with the secret of before a rotation too."),
    pending: z.int().min(0).describe("Pending attempts, held ones included; 10,000 means 10,000 or more."),
    oldest_due: instant.nullable().describe("Since when the pending attempt that is due longest is due."),
  })
  .meta({ id: "EndpointHealth" });

export function healthView(
  health: { failingSince: Date | null; previousSecretUntil: Date | null },
  pending: { count: number; oldestDue: Date | null },
): z.infer<typeof healthObject> {
  return {
    failing_since: health.failingSince?.toISOString() ?? null,
    previous_secret_until: health.previousSecretUntil?.toISOString() ?? null,
    pending: pending.count,
    oldest_due: pending.oldestDue?.toISOString() ?? null,
  };
}

const headerMap = z.record(z.string(), z.string()).nullable();

export const deliveryObject = z
  .object({
    id,
    endpoint_id: id,
    event_id: id.nullable().describe("Null for a test."),
    event_type: z.string(),
    event_version: z.int().min(1).describe("Version of the event type that the endpoint gets."),
    trigger: z.enum(DELIVERY_TRIGGERS),
    replay_id: id.nullable().describe("The replay that asked for it."),
    status: z.enum(DELIVERY_STATUSES),
    attempt: z.int().min(1),
    request_headers: headerMap,
    request_body: z.string().nullable(),
    response_status: z.int().nullable().describe("Null when no answer came."),
    response_headers: headerMap,
    response_body: z.string().nullable().describe("The first 1,000 characters."),
    latency_ms: z.int().min(0),
    error: z
      .string()
      .nullable()
      .describe(
        "Why no answer came, for example `dns`, `tls` or `timeout`. `interrupted`: a test or retry whose outcome was lost with its process; it may have been sent. At a pull endpoint `refused`: the client refused it, and `response_body` says why; `timeout`: it was not acknowledged in time; `not_fetched`: it was not fetched for as long as the log is kept.",
      ),
    next_attempt_at: instant.nullable().describe("Null unless pending."),
    sent_at: instant
      .nullable()
      .describe(
        "When the attempt began. Null while pending, for `endpoint_deleted`, and in rows from before it was kept.",
      ),
    created_at: instant.describe("The time in `id`: when the attempt was scheduled."),
  })
  .meta({ id: "Delivery" });

export function deliveryView(delivery: Delivery): z.infer<typeof deliveryObject> {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    event_version: delivery.version,
    trigger: delivery.trigger,
    replay_id: delivery.replayId,
    status: delivery.status,
    attempt: delivery.attempt,
    request_headers: delivery.requestHeaders,
    request_body: delivery.requestBody,
    response_status: delivery.responseStatus,
    response_headers: delivery.responseHeaders,
    response_body: delivery.responseBody,
    latency_ms: delivery.latencyMs,
    error: delivery.error,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    sent_at: delivery.sentAt?.toISOString() ?? null,
    created_at: new Date(idTimeMs(delivery.id)).toISOString(),
  };
}

/** As a tenant's list has it: bodies only where they were asked for. */
export const listedDeliveryObject = deliveryObject
  .partial({ request_body: true, response_body: true })
  .meta({ id: "ListedDelivery" });

export function deliveryHeadView(delivery: Delivery): z.infer<typeof listedDeliveryObject> {
  const { request_body: _sent, response_body: _answered, ...head } = deliveryView(delivery);
  return head;
}

export const catalogEntryObject = catalogEntryMembers.meta({ id: "EventType" });

export function catalogEntryView(entry: CatalogEntry): z.infer<typeof catalogEntryObject> {
  return entry;
}

export const auditObject = z
  .object({
    id,
    at: instant,
    actor: z.object({
      type: z.enum(ACTOR_TYPES),
      sub: z.string().nullable().describe("The subject of a user's session."),
    }),
    action: z.enum(AUDIT_ACTIONS),
    endpoint_id: id.nullable(),
    outcome: z.enum(AUDIT_OUTCOMES),
    details: z
      .record(z.string(), z.unknown())
      .describe(
        "What else there is to tell, by action; no secret. Of a refused call `route` (method and pattern, never the ids), `status`, `count`, `first_at` and `last_at`.",
      ),
    request_id: z.uuid().nullable().describe("The `X-Request-Id` of the answer."),
    address: z.string().nullable().describe("Where the request came from."),
  })
  .meta({ id: "AuditEntry" });

export function auditView(entry: AuditEntry): z.infer<typeof auditObject> {
  const { id, at, actor, action, outcome, details, address } = entry;
  return {
    id,
    at: at.toISOString(),
    actor,
    action,
    endpoint_id: entry.endpointId,
    outcome,
    details,
    request_id: entry.requestId,
    address,
  };
}

export const secretObject = z
  .string()
  .describe("`whsec_` and base64, or the given secret; never shown again.");

export const publishedObject = z
  .object({
    id: z.uuid().describe("The event's id, and the `webhook-id` of each of its requests."),
    deliveries: z
      .int()
      .min(0)
      .nullable()
      .describe(
        "How many endpoints it is dispatched to; null where they are found later, as with an intake.",
      ),
  })
  .meta({ id: "PublishedEvent" });

export const issueObject = z
  .object({
    path: z.array(z.union([z.string(), z.int()])).describe("Names of members and indexes of arrays."),
    message: z.string(),
    code: z.string().describe("The rule that was broken, for programs."),
  })
  .meta({ id: "Issue" });

export const errorObject = z
  .object({
    error: z.string().describe("What was refused, in one of the texts that the answer lists."),
    issues: z.array(issueObject).optional().describe("Each fault of a body or a query; 100 at most."),
  })
  .meta({ id: "Error" });
