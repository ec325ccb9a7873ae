/** What the stores are given in tests: one of each kind of row, made for a tenant of {@link Rows}. */
import { NO_HEADERS } from "../../src/endpoints/static-headers.ts";
import { randomUUID } from "node:crypto";
import type { LeasedDispatch, NewEvent } from "../../src/queue/queue.ts";
import { newDeliveryId, newEndpointId, newEventId } from "../../src/shared/id.ts";
import { BODY, BUCKET, EVENT_TYPE, LEASE_OWNER, type Rows } from "./two-tenants.ts";

export const secret = Buffer.from("a secret of the intruder");

export const logged = ({
  tenantId,
  endpointId,
  eventId,
}: Pick<Rows, "tenantId" | "endpointId" | "eventId">) => ({
  tenantId,
  endpointId,
  eventId,
  id: newDeliveryId(),
  testId: null,
  eventType: EVENT_TYPE,
  version: 1,
  trigger: "retry" as const,
  status: "failed" as const,
  attempt: 2,
  requestBody: null,
  requestHeaders: null,
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  latencyMs: 1,
  error: null,
  sentAt: null,
});

export const newEndpoint = ({ tenantId }: Pick<Rows, "tenantId">) => ({
  tenantId,
  id: newEndpointId(),
  url: "https://example.org/",
  events: ["*"],
  description: null,
  enabled: true,
  mode: "push" as const,
  temporary: false,
  rateLimit: null,
  stored: NO_HEADERS,
  metadata: {},
  secret,
});

type Leased = Pick<Rows, "tenantId" | "endpointId" | "eventId" | "leasedId">;

export const leased = ({ tenantId, endpointId, eventId, leasedId }: Leased): LeasedDispatch => ({
  id: leasedId,
  tenantId,
  endpointId,
  eventId,
  eventType: EVENT_TYPE,
  body: BODY,
  attempt: 1,
  once: false,
  leaseId: LEASE_OWNER,
  leaseEndsMs: performance.now() + 60_000,
});

export const completed = (rows: Leased) => ({
  dispatch: leased(rows),
  status: "failed" as const,
  sentAt: new Date(),
  requestHeaders: {},
  responseStatus: 500,
  responseHeaders: {},
  responseBody: "",
  latencyMs: 1,
  error: null,
  nextDelayMs: 1000,
  exhausted: true,
  toKeep: { requestBody: true, responseBody: Buffer.from("answer"), days: null },
});

export const event = ({ tenantId }: Pick<Rows, "tenantId">, idempotencyKey: string | null): NewEvent => ({
  id: newEventId(),
  tenantId,
  type: EVENT_TYPE,
  patterns: ["*"],
  version: 1,
  body: BODY,
  others: null,
  idempotencyKey,
});

export const NOW = "2026-03-01T12:00:00.000Z";

export const artifact = ({ tenantId, deliveryId }: Rows) => ({
  tenantId,
  id: randomUUID(),
  deliveryId,
  attempt: 3,
  kind: "request_body" as const,
  bucket: BUCKET,
  size: 1,
  sha256: "a".repeat(64),
});
