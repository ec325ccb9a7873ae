/** Objects of the slices as callers see them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { logged } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { EventStory } from "../deliveries/event-log.ts";
import type { EndpointStats } from "../deliveries/stats.ts";
import type { Replay } from "../replays/replay.ts";
import { newDeliveryId, newEndpointId, newEventId, newExportId, newReplayId } from "../shared/id.ts";
import { eventView } from "./event-schemas.ts";
import { tokenView } from "./portal-schemas.ts";
import { ackedView, leaseView } from "./pull-schemas.ts";
import { replayCountView, replayView } from "./replay-schemas.ts";
import { deliveryHeadView, deliveryView, healthView } from "./schemas.ts";
import { sessionView } from "./session-schemas.ts";
import { causeView, endpointViews, makeBucketView, spanView } from "./stats-schemas.ts";
import { cursorText, exportView, settingsView, toSettings } from "./storage-schemas.ts";
import { erasureView, tenantRowsView, tenantView } from "./tenant-schemas.ts";

const AT = new Date("2026-01-31T10:00:00.000Z");
const TEXT = AT.toISOString();
/** Another than the first, so that none takes its place unseen. */
const [LATER, LATEST] = [new Date(AT.getTime() + 1000), new Date(AT.getTime() + 2000)];
const [LATER_TEXT, LATEST_TEXT] = [LATER.toISOString(), LATEST.toISOString()];
const endpointId = newEndpointId();
const eventId = newEventId();
const delivery = {
  ...logged({ tenantId: tenant("acme"), endpointId, eventId }),
  nextAttemptAt: null,
  replayId: null,
};

describe("a delivery", () => {
  it("has its times where it has them, and its bodies unless it is one of a list", () => {
    const seen = deliveryView({
      ...delivery,
      requestBody: "{}",
      responseBody: "ok",
      nextAttemptAt: AT,
      sentAt: LATER,
    });
    assert.deepEqual(
      [
        seen.next_attempt_at,
        seen.sent_at,
        seen.request_body,
        seen.response_body,
        seen.endpoint_id,
        seen.event_id,
      ],
      [TEXT, LATER_TEXT, "{}", "ok", endpointId, eventId],
    );
    const { request_body, response_body, ...head } = deliveryView(delivery);
    assert.deepEqual(
      [request_body, response_body, head.next_attempt_at, head.sent_at],
      [null, null, null, null],
    );
    assert.deepEqual(deliveryHeadView(delivery), head);
  });
});

it("an export has no more rows done than in all, also where some were logged since they were counted", () => {
  const found = {
    id: newExportId(),
    tenantId: tenant("acme"),
    status: "running" as const,
    from: AT,
    to: LATER,
    endpointId: null,
    eventType: null,
    deliveryStatus: null,
    formats: ["csv" as const],
    attempt: 1,
    bytes: 9,
    objectId: null,
    error: null,
    createdAt: LATEST,
    updatedAt: new Date(LATEST.getTime() + 1),
  };
  const progressOf = (rowsDone: number, rowsTotal: number | null) =>
    exportView({ ...found, rowsDone, rowsTotal }).progress;
  assert.deepEqual(progressOf(3, 4), { rows_done: 3, rows_total: 4, bytes: 9 });
  assert.deepEqual(progressOf(4, 4), { rows_done: 4, rows_total: 4, bytes: 9 });
  assert.deepEqual(progressOf(6, 4), { rows_done: 6, rows_total: 6, bytes: 9 });
  assert.deepEqual(progressOf(0, null), { rows_done: 0, rows_total: null, bytes: 9 });
  const { from, to, created_at, updated_at } = exportView({ ...found, rowsDone: 0, rowsTotal: null });
  assert.deepEqual(
    [from, to, created_at, updated_at],
    [TEXT, LATER_TEXT, LATEST_TEXT, "2026-01-31T10:00:02.001Z"],
  );
});

it("an endpoint's health has times or null", () => {
  const none = healthView({ failingSince: null, previousSecretUntil: null }, { count: 0, oldestDue: null });
  assert.deepEqual(none, { failing_since: null, previous_secret_until: null, pending: 0, oldest_due: null });
  const some = healthView({ failingSince: AT, previousSecretUntil: LATER }, { count: 2, oldestDue: LATEST });
  assert.deepEqual(some, {
    failing_since: TEXT,
    previous_secret_until: LATER_TEXT,
    pending: 2,
    oldest_due: LATEST_TEXT,
  });
});

it("an event has the texts of its versions, and what became of it at each endpoint", () => {
  const story: EventStory = {
    id: eventId,
    type: "invoice.paid",
    dispatchCount: 2,
    body: "{}",
    version: 1,
    others: { "2": "{2}" },
    endpoints: [
      { endpointId, state: "pending", nextAttemptAt: AT, attempts: [delivery] },
      { endpointId, state: "delivered", nextAttemptAt: null, attempts: [] },
    ],
    isPartial: true,
  };
  const { event, endpoints, is_partial } = eventView(story);
  assert.deepEqual(
    [event.id, event.body, event.version, event.versions, is_partial],
    [eventId, "{}", 1, { "2": "{2}" }, true],
  );
  assert.deepEqual(endpoints, [
    {
      endpoint_id: endpointId,
      state: "pending",
      next_attempt_at: TEXT,
      attempts: [deliveryHeadView(delivery)],
    },
    { endpoint_id: endpointId, state: "delivered", next_attempt_at: null, attempts: [] },
  ]);
});

describe("a lease", () => {
  it("has its events, or none and no end", () => {
    assert.deepEqual(leaseView(null), { lease_id: null, lease_until: null, events: [] });
    const event = {
      id: newDeliveryId(),
      eventId,
      eventType: "invoice.paid",
      version: 2,
      trigger: "event" as const,
      replayId: null,
      attempt: 3,
      headers: { a: "b" },
      body: "{}",
    };
    assert.deepEqual(leaseView({ leaseId: "lease", until: AT, events: [event] }), {
      lease_id: "lease",
      lease_until: TEXT,
      events: [
        {
          id: event.id,
          event_id: eventId,
          event_type: "invoice.paid",
          event_version: 2,
          trigger: "event",
          replay_id: null,
          attempt: 3,
          headers: { a: "b" },
          body: "{}",
        },
      ],
    });
    const acked = { delivered: 1, failed: 2, late: [event.id] };
    assert.deepEqual(ackedView(acked), acked);
  });
});

describe("a replay", () => {
  const replay: Replay = {
    id: newReplayId(),
    tenantId: tenant("acme"),
    endpointId,
    from: AT,
    to: LATER,
    selection: "failed",
    eventType: null,
    cause: null,
    status: "running",
    error: null,
    counted: 5,
    isCapped: true,
    sent: 3,
    delivered: 2,
    failed: 1,
    skipped: 4,
    createdAt: LATEST,
    finishedAt: null,
  };

  it("sends as many as were counted or more while it runs, and as many as it sent in the end", () => {
    const seen = replayView(replay);
    const {
      id,
      from,
      to,
      status,
      total,
      is_capped,
      sent,
      delivered: done,
      failed,
      skipped,
      created_at,
      finished_at,
    } = seen;
    assert.deepEqual(
      [id, from, to, status, total, is_capped, sent, done, failed, skipped, created_at, finished_at],
      [replay.id, TEXT, LATER_TEXT, "running", 5, true, 3, 2, 1, 4, LATEST_TEXT, null],
    );
    assert.equal(replayView({ ...replay, sent: 9 }).total, 9);
    assert.equal(replayView({ ...replay, isCapped: false }).is_capped, false);
    const ended = replayView({ ...replay, status: "finished", finishedAt: AT });
    assert.deepEqual([ended.total, ended.is_capped, ended.finished_at], [3, false, TEXT]);
  });

  it("that is only counted has the span of what was found", () => {
    const counted = { count: 1, isCapped: false, oldest: AT, newest: LATER, byCause: new Map([["dns", 1]]) };
    const seen = { count: 1, is_capped: false, oldest: TEXT, newest: LATER_TEXT, by_cause: { dns: 1 } };
    assert.deepEqual(replayCountView(counted), seen);
    const none = replayCountView({ ...counted, count: 0, oldest: null, newest: null, byCause: new Map() });
    assert.deepEqual(none, { count: 0, is_capped: false, oldest: null, newest: null, by_cause: {} });
  });
});

describe("statistics", () => {
  const bucket = { atMs: AT.getTime(), delivered: 3, failed: 1, latencyAvgMs: 12.345, latencyMaxMs: 20 };
  const seen = { at: TEXT, delivered: 3, failed: 1, latency_avg_ms: 12.3, latency_max_ms: 20 };
  const empty = { ...bucket, delivered: 0, failed: 0, latencyAvgMs: null, latencyMaxMs: null };

  it("have buckets with their beginning and a mean of one decimal", () => {
    const view = makeBucketView();
    assert.deepEqual([view(bucket), view(bucket)], [seen, seen]);
    const later = { ...empty, atMs: AT.getTime() + 60_000 };
    assert.deepEqual(view(later), {
      ...seen,
      at: "2026-01-31T10:01:00.000Z",
      delivered: 0,
      failed: 0,
      latency_avg_ms: null,
      latency_max_ms: null,
    });
    assert.deepEqual(spanView({ fromMs: AT.getTime(), toMs: AT.getTime() + 60_000 }), {
      from: TEXT,
      to: "2026-01-31T10:01:00.000Z",
    });
  });

  it("of an endpoint add its buckets up", () => {
    const times = { oldestDueAt: AT, lastDeliveredAt: LATER, lastFailedAt: LATEST };
    const busy: EndpointStats = { endpointId, pending: 7, ...times, series: [bucket, bucket] };
    const idle: EndpointStats = {
      endpointId,
      pending: 0,
      oldestDueAt: null,
      lastDeliveredAt: null,
      lastFailedAt: null,
      series: [empty],
    };
    const [one, other] = endpointViews([busy, idle]);
    assert.deepEqual(one, {
      endpoint_id: endpointId,
      delivered: 6,
      failed: 2,
      success_rate: 0.75,
      pending: 7,
      oldest_due_at: TEXT,
      last_delivered_at: LATER_TEXT,
      last_failed_at: LATEST_TEXT,
      series: [seen, seen],
    });
    const { oldest_due_at, last_delivered_at, last_failed_at, success_rate, delivered: done } = other ?? {};
    assert.deepEqual(
      [oldest_due_at, last_delivered_at, last_failed_at, success_rate, done],
      [null, null, null, null, 0],
    );
  });

  it("of a cause have its first and its newest failure", () => {
    const example = newDeliveryId();
    const lastAt = new Date(AT.getTime() + 1);
    assert.deepEqual(causeView({ cause: "dns", count: 2, firstAt: AT, lastAt, example }), {
      cause: "dns",
      count: 2,
      first_at: TEXT,
      last_at: "2026-01-31T10:00:00.001Z",
      example_delivery_id: example,
    });
  });
});

it("settings of storage are written as they are read", () => {
  for (const [request, response, days] of [
    [true, false, 7],
    [false, true, null],
  ] as const) {
    const settings = { keepRequestBodies: request, keepResponseBodies: response, artifactDays: days };
    const seen = { keep_request_bodies: request, keep_response_bodies: response, artifact_days: days };
    assert.deepEqual([settingsView(settings), toSettings(seen)], [seen, settings]);
  }
});

it("the next of a library's page is its last artifact's time and id", () => {
  assert.equal(cursorText(null), null);
  assert.equal(cursorText({ available_at: TEXT, id: eventId }), `${TEXT}_${eventId}`);
});

describe("a tenant", () => {
  const counts = { id: tenant("acme"), endpoints: 3, enabled: 2, failing: 1, delivered: 9, failed: 4 };

  it("has its counts, and a shard where there are several", () => {
    assert.deepEqual(tenantView(counts), counts);
    assert.deepEqual(tenantView({ ...counts, shard: "north" }), { ...counts, shard: "north" });
    const rows = { rows: new Map([["events", 2]]), isCapped: true, held: 1 };
    assert.deepEqual(tenantRowsView(rows), { rows: { events: 2 }, is_capped: true, held: 1 });
  });

  it("has an erasure with its progress and its end", () => {
    const erasure = {
      tenantId: tenant("acme"),
      status: "running" as const,
      rows: 5,
      objects: 6,
      trouble: "the store is away",
      requestedAt: AT,
      finishedAt: null,
    };
    const seen = {
      tenant_id: "acme",
      status: "running",
      rows: 5,
      objects: 6,
      waiting_for: "the store is away",
      requested_at: TEXT,
      finished_at: null,
    };
    assert.deepEqual(erasureView(erasure), seen);
    assert.equal(erasureView({ ...erasure, finishedAt: LATER }).finished_at, LATER_TEXT);
  });
});

it("a session has the permissions that Postern knows, in their order", () => {
  const installation = {
    limits: {
      endpoints: 1,
      writes_per_minute: 2,
      dispatches_per_minute: 3,
      fetches_per_minute: 4,
      retention_days: 5,
    },
    features: { private_targets: true, public_links: false },
  };
  const session = {
    type: "user" as const,
    tenantId: tenant("acme"),
    allTenants: false,
    role: "admin",
    subject: "jo",
    permissions: new Set(["other", "settings:write", "settings:read"]),
    portalId: null,
  };
  const permissions = ["settings:read", "settings:write"];
  const seen = { tenant: "acme", sub: "jo", role: "admin", permissions, ...installation };
  assert.deepEqual(sessionView(session, installation), seen);
});

it("a token of the portal has its end and its session's", () => {
  const endsAt = new Date(AT.getTime() + 1000);
  const seen = { token: "a.b.c", expires_at: TEXT, ends_at: "2026-01-31T10:00:01.000Z" };
  assert.deepEqual(tokenView({ token: "a.b.c", expiresAt: AT, endsAt }), seen);
});
