import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeSigningKey } from "../outbound/signature.ts";
import { buildRequestHeaders } from "../outbound/request-headers.ts";
import { leaseExample, secretExample } from "./examples.ts";

describe("the examples of the reference", () => {
  it("have an event that a client can try its check of a signature with", () => {
    const [event] = leaseExample.events;
    assert.ok(event !== undefined);
    const built = buildRequestHeaders({
      signingKeys: [makeSigningKey(secretExample)],
      webhookId: event.event_id ?? "",
      timestampSeconds: Date.parse("2026-01-31T10:00:00Z") / 1000,
      body: event.body,
      eventType: event.event_type,
      deliveryLabel: event.id,
      staticHeaders: {},
      version: "0",
    });
    assert.deepEqual({ ...built, ...event.headers }, built);
    assert.ok("webhook-signature" in event.headers);
  });
});
