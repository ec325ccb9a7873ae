/**
 * The objects that the OpenAPI document shows: one tenant's endpoint, an event,
 * its failed delivery, and an export of the log. Routes take them into the
 * examples of their bodies and answers; the types keep them as the API has them.
 */
import type * as z from "zod";
import type {
  auditObject,
  catalogEntryObject,
  deliveryObject,
  endpointObject,
  healthObject,
  listedDeliveryObject,
} from "./schemas.ts";
import type { ackedObject, leaseObject } from "./pull-schemas.ts";
import type { replayCountObject, replayObject } from "./replay-schemas.ts";
import type { artifactObject, exportObject, settingsObject } from "./storage-schemas.ts";

const ENDPOINT_ID = "019a2f00-0000-7000-8000-000000000001";
const EVENT_ID = "019c1335-1b9c-7a10-8f3e-6a1d2b3c4d5e";
const DELIVERY_ID = "019c1335-1c12-7e0a-b5ae-1f0d3a5c9b01";
const EXPORT_ID = "019c1340-2f00-7b11-9c22-3d4e5f607182";
const REPLAY_ID = "019c1341-4b10-7d22-8e33-4f5a6b7c8d9e";
const LEASE_ID = "7f2d9c1e-3a54-4b86-9d07-1c2b3a495867";
const OBJECT_ID = "019c1340-5a20-7c33-8d44-5e6f70819203";

/** A path's parameters: what each is, and one. */
export const PATH_EXAMPLES = {
  id: { about: "An endpoint's id.", example: ENDPOINT_ID },
  event_id: { about: "An event's id.", example: EVENT_ID },
  did: { about: "A delivery's id.", example: DELIVERY_ID },
  replay_id: { about: "A replay's id.", example: REPLAY_ID },
  object_id: { about: "An artifact's id.", example: OBJECT_ID },
  tenant_id: { about: "A tenant's id.", example: "acme" },
  export_id: { about: "An export's id.", example: EXPORT_ID },
} as const;

export const secretExample = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw1nbAv2VKcTU=";

export const eventTypeExample: z.infer<typeof catalogEntryObject> = {
  type: "invoice.paid",
  version: 1,
  preview: false,
  title: "Invoice paid",
  description: "An invoice was paid in full.",
  group: "Invoices",
  payloadShape: { invoice_id: "inv_1042", amount: 12_900, currency: "EUR" },
  deprecated: false,
};

export const endpointInputExample = {
  url: "https://hooks.example.com/postern",
  events: ["invoice.*"],
  description: "Invoices for the ledger",
  metadata: { team: "billing" },
};

export const endpointExample: z.infer<typeof endpointObject> = {
  ...endpointInputExample,
  id: ENDPOINT_ID,
  enabled: true,
  disabled_reason: null,
  mode: "push",
  temporary: false,
  rate_limit: null,
  headers: {},
  masked_headers: [],
  created_at: "2026-01-30T08:00:00.000Z",
  updated_at: "2026-01-30T08:00:00.000Z",
};

export const healthExample: z.infer<typeof healthObject> = {
  failing_since: "2026-01-31T09:00:00.000Z",
  previous_secret_until: null,
  pending: 12,
  oldest_due: "2026-01-31T09:59:58.120Z",
};

export const eventInputExample = {
  type: "invoice.paid",
  data: { invoice_id: "inv_1042", amount: 12_900 },
  id: "paid-inv_1042",
};

export const publishedExample = { id: EVENT_ID, deliveries: 1 };

export const listedDeliveryExample: z.infer<typeof listedDeliveryObject> = {
  id: DELIVERY_ID,
  endpoint_id: ENDPOINT_ID,
  event_id: EVENT_ID,
  event_type: "invoice.paid",
  event_version: 1,
  trigger: "event",
  replay_id: null,
  status: "failed",
  attempt: 1,
  request_headers: { "Content-Type": "application/json" },
  response_status: 500,
  response_headers: { "content-type": "text/plain" },
  latency_ms: 87,
  error: null,
  next_attempt_at: null,
  sent_at: "2026-01-31T10:00:00.031Z",
  created_at: "2026-01-31T10:00:00.018Z",
};

export const deliveryExample: z.infer<typeof deliveryObject> = {
  ...listedDeliveryExample,
  request_body: `{"id":"${EVENT_ID}","event":"invoice.paid","created_at":"2026-01-31T10:00:00.000Z","data":{"invoice_id":"inv_1042","amount":12900}}`,
  response_body: "out of order",
};

export const leaseInputExample = { limit: 100, wait_s: 20 };

/** That event, as a client fetches it. */
export const leaseExample: z.infer<typeof leaseObject> = {
  lease_id: LEASE_ID,
  lease_until: "2026-01-31T10:01:00.018Z",
  events: [
    {
      id: DELIVERY_ID,
      event_id: EVENT_ID,
      event_type: "invoice.paid",
      event_version: 1,
      trigger: "event",
      replay_id: null,
      attempt: 1,
      headers: {
        "Content-Type": "application/json",
        "X-Service-Event": "invoice.paid",
        "X-Service-Delivery": DELIVERY_ID,
        "webhook-id": EVENT_ID,
        "webhook-timestamp": "1769853600",
        "webhook-signature": "v1,UV3FToa97Jo65C1VpsZ6sVjaiDzjNwKJv11MFWW28QA=",
      },
      body: deliveryExample.request_body ?? "",
    },
  ],
};

export const ackInputExample = {
  lease_id: LEASE_ID,
  acks: [{ id: DELIVERY_ID }, { id: "019c1335-1c12-7e0a-b5ae-1f0d3a5c9b02", error: "ledger is closed" }],
};

export const ackExample: z.infer<typeof ackedObject> = { delivered: 1, failed: 1, late: [] };

/** The retry of that delivery. */
export const retriedExample: z.infer<typeof deliveryObject> = {
  ...deliveryExample,
  id: "019c1337-9d40-7f21-a6b7-0c1d2e3f4a5b",
  trigger: "retry",
  status: "delivered",
  attempt: 2,
  response_status: 204,
  response_headers: {},
  response_body: "",
  latency_ms: 41,
  sent_at: "2026-01-31T10:02:44.304Z",
  created_at: "2026-01-31T10:02:44.288Z",
};

export const auditExample: z.infer<typeof auditObject> = {
  id: "019c1336-0a10-7b20-8c30-4d5e6f708192",
  at: "2026-01-31T10:01:00.112Z",
  actor: { type: "user", sub: "jo@acme.example" },
  action: "endpoint.updated",
  endpoint_id: ENDPOINT_ID,
  outcome: "done",
  details: { fields: ["events"] },
  request_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
  address: "203.0.113.7",
};

export const exportInputExample = {
  from: "2026-01-01T00:00:00Z",
  to: "2026-02-01T00:00:00Z",
  delivery_status: "failed",
  formats: ["ndjson"],
};

export const exportExample: z.infer<typeof exportObject> = {
  id: EXPORT_ID,
  status: "ready",
  from: "2026-01-01T00:00:00.000Z",
  to: "2026-02-01T00:00:00.000Z",
  endpoint_id: null,
  event_type: null,
  delivery_status: "failed",
  formats: ["ndjson"],
  progress: { rows_done: 1042, rows_total: 1042, bytes: 183_204 },
  object_id: OBJECT_ID,
  error: null,
  created_at: "2026-02-01T09:00:00.000Z",
  updated_at: "2026-02-01T09:00:07.418Z",
};

export const artifactExample: z.infer<typeof artifactObject> = {
  id: OBJECT_ID,
  delivery_id: EXPORT_ID,
  attempt: 1,
  kind: "export",
  filename: "deliveries.zip",
  content_type: "application/zip",
  size: 183_204,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  status: "ready",
  available_at: "2026-02-01T09:00:07.418Z",
  expires_at: "2026-03-03T09:00:07.418Z",
  downloadable: true,
};

export const linkInputExample = { delivery_id: EXPORT_ID, ttl_seconds: 300 };

export const settingsExample: z.infer<typeof settingsObject> = {
  keep_request_bodies: false,
  keep_response_bodies: true,
  artifact_days: 30,
};

export const replayInputExample = {
  endpoint_id: ENDPOINT_ID,
  from: "2026-01-31T08:00:00Z",
  to: "2026-01-31T12:00:00Z",
  select: "failed",
  dry_run: true,
};

export const replayExample: z.infer<typeof replayObject> = {
  id: REPLAY_ID,
  endpoint_id: ENDPOINT_ID,
  from: "2026-01-31T08:00:00.000Z",
  to: "2026-01-31T12:00:00.000Z",
  select: "failed",
  event_type: null,
  cause: null,
  status: "running",
  error: null,
  total: 812,
  is_capped: false,
  sent: 500,
  delivered: 288,
  failed: 2,
  skipped: 0,
  created_at: "2026-01-31T12:10:00.000Z",
  finished_at: null,
};

export const replayCountExample: z.infer<typeof replayCountObject> = {
  count: 812,
  is_capped: false,
  oldest: "2026-01-31T08:02:11.000Z",
  newest: "2026-01-31T11:40:59.000Z",
  by_cause: { http_500: 800, timeout: 12 },
};
