import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { randomUUID } from "node:crypto";
import { newDeliveryId, newEndpointId, parseTenantId } from "../shared/id.ts";
import { completeFetched, type FetchedOutcome } from "./fetched.ts";

const tenantId = parseTenantId("acme");
assert.ok(tenantId !== null);
const leasedAt = new Date("2026-01-31T12:00:00.900Z");
const lease = {
  tenantId,
  endpointId: newEndpointId(),
  id: newDeliveryId(),
  leaseId: randomUUID(),
  eventType: "invoice.paid",
  attempt: 3,
  once: false,
  leasedAt,
};
const toKeep = { requestBody: true, responseBody: null, days: 7 };

function complete(outcome: FetchedOutcome, given: Partial<typeof lease> = {}, delayMs: number | null = 5000) {
  const now = new Date(leasedAt.getTime() + 1200);
  const retryDelayMs = (attempt: number) => (attempt === lease.attempt ? delayMs : 1);
  const { dispatch: _dispatch, ...made } = completeFetched({ ...lease, ...given }, outcome, {
    now,
    retryDelayMs,
    toKeep,
  });
  return made;
}

const SENT = {
  sentAt: leasedAt,
  requestHeaders: { "X-Service-Timestamp": "1769860800" },
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  latencyMs: 1200,
  error: null,
  nextDelayMs: null,
  exhausted: false,
  toKeep,
};

describe("the end of an attempt that a client fetched", () => {
  it("keeps what was sent, delivered or not, and a failure is followed by the next attempt", () => {
    assert.deepEqual(complete({ kind: "delivered" }), { ...SENT, status: "delivered" });
    const failed = { ...SENT, status: "failed", nextDelayMs: 5000 };
    assert.deepEqual(complete({ kind: "timeout" }), { ...failed, error: "timeout" });
    assert.deepEqual(complete({ kind: "refused", reason: "no" }), {
      ...failed,
      error: "refused",
      responseBody: "no",
    });
  });

  it("is the last where the schedule ends, which is told, or where it is made once", () => {
    const last = { ...SENT, status: "failed", error: "timeout" };
    assert.deepEqual(complete({ kind: "timeout" }, {}, null), { ...last, exhausted: true });
    assert.deepEqual(complete({ kind: "timeout" }, { once: true }), last);
    // One more event of Postern's own would follow from each.
    assert.deepEqual(complete({ kind: "timeout" }, { eventType: "endpoint.failing" }, null), last);
  });

  it("is no attempt that was sent where the event was gone", () => {
    assert.deepEqual(complete({ kind: "gone" }), {
      ...SENT,
      status: "failed",
      sentAt: null,
      requestHeaders: {},
      latencyMs: 0,
      toKeep: null,
    });
  });
});
