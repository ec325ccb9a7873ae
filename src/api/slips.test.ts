import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { knowNames, slipOf } from "./slips.ts";

const NAMES = ["url", "events", "enabled", "rate_limit", "headers", "metadata", "description", "secret"];
const known = knowNames(NAMES);
const QUERY = knowNames(["status", "from", "to", "q", "page", "limit", "event_type"]);

/** As their users write them, by ours. */
const OTHER_NAMES = {
  url: "endpoint endpointUrl webhook_url callback-url target_url delivery_url address target uri",
  events:
    "event eventType event_types event_names event-filter event_filters filterTypes enabled_events subscribed_events subscriptions subscribed_to topic topics",
  enabled: "active is_active inactive is_enabled disabled isDisabled paused is_paused",
  mode: "deliveryMode delivery_type",
  wait_s: "wait wait_seconds waitTime WaitTimeSeconds timeout",
  lease_id: "lease receipt ReceiptHandle ack_id",
  acks: "ack ackIds acknowledgements deliveries events",
  rate_limit: "throttle throttle_rate rate_limit_per_second maxPerSecond requests_per_second",
  headers: "custom_headers http-headers request_headers static_headers extraHeaders",
  secret: "signing_secret signing_key webhookSecret shared_secret secret_key secret_token hmac_secret",
  masked_headers: "sensitive_headers secret_headers hiddenHeaders",
  grace_seconds: "grace grace_hours graceMinutes grace_period gracePeriodSeconds grace_time overlap_seconds",
  event_type: "event eventTypes event_name type topic topics filterTypes",
  type: "event event_type eventName topic",
  data: "payload body",
  id: "event_id messageId idempotency_key",
  tenant_id: "tenant application_id appId organization_id account_id",
  limit: "page_size perPage MaxMessages batch_size",
  from: "since start_date startTime",
  to: "until end_date endTime",
  response_status: "status_code responseCode response_status_code http_status",
};

const knownName = fc.constantFrom(...NAMES);
const letter = fc.stringMatching(/^[a-z]$/);

describe("slipOf", () => {
  it("finds a name that differs in case, underscores and hyphens alone", () => {
    fc.assert(
      fc.property(
        knownName,
        fc.array(fc.tuple(fc.nat(12), fc.constantFrom("_", "-", "case"))),
        (name, edits) => {
          const other = edits.reduce(
            (text, [at, edit]) =>
              edit === "case"
                ? text.slice(0, at) + text.slice(at, at + 1).toUpperCase() + text.slice(at + 1)
                : text.slice(0, at) + edit + text.slice(at),
            name,
          );
          assert.equal(slipOf(other, known), name);
        },
      ),
    );
  });

  it("finds a name of four letters or more that is one edit or one swap away", () => {
    const long = knownName.filter((name) => name.length > 4);
    fc.assert(
      fc.property(
        long,
        fc.nat(),
        letter,
        fc.constantFrom("add", "drop", "change", "swap"),
        (name, n, by, edit) => {
          const at = n % name.length;
          const [left, right] = [name.slice(0, at), name.slice(at)];
          const edits = {
            add: left + by + right,
            drop: left + right.slice(1),
            change: left + by + right.slice(1),
            swap: left + right.slice(1, 2) + right.slice(0, 1) + right.slice(2),
          };
          assert.equal(slipOf(edits[edit], known), name);
        },
      ),
    );
  });

  it("finds nothing where the lengths differ by two letters or more, unless it is an alias", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{14,60}$/), (name) => {
        const found = slipOf(name, knowNames(["url", "events"]));
        assert.ok(found === null || ["eventfilters", "subscribedevents"].includes(name));
      }),
    );
  });

  it("leaves short names alone, and names that are two slips away", () => {
    for (const name of ["_", "t", "v", "ts", "tt", "fro", "toq", "qq", ""])
      assert.equal(slipOf(name, QUERY), null);
    for (const name of ["ur", "urll", "evts", "evntss", "headings", "x"])
      assert.equal(slipOf(name, known), null, name);
  });

  it("knows the names of other products, however they are written", () => {
    const expected = {
      event: "events",
      event_types: "events",
      filterTypes: "events",
      enabled_events: "events",
      topics: "events",
      active: "enabled",
      disabled: "enabled",
      rateLimit: "rate_limit",
      signing_secret: "secret",
      "Custom-Headers": "headers",
    };
    for (const [name, meant] of Object.entries(expected)) assert.equal(slipOf(name, known), meant, name);
    assert.equal(slipOf("event", QUERY), "event_type");
  });

  it("knows every such name of each member", () => {
    for (const [name, others] of Object.entries(OTHER_NAMES))
      for (const other of others.split(" "))
        assert.equal(slipOf(other, knowNames([name, "metadata"])), name, other);
  });

  it("knows no other product's name of a member that is not there", () => {
    for (const name of Object.values(OTHER_NAMES).flatMap((others) => others.split(" ")))
      assert.equal(slipOf(name, knowNames(["metadata"])), null, name);
  });

  it("prefers a known name's own letters to another product's name for it", () => {
    assert.equal(slipOf("Type", knowNames(["type", "event_type"])), "type");
    assert.equal(slipOf("Type", knowNames(["event_type", "type"])), "type");
  });

  it("takes four letters for enough, on either side", () => {
    const four = knowNames(["mode"]);
    for (const slip of ["mods", "modes", "moed", "ymode"]) assert.equal(slipOf(slip, four), "mode", slip);
    for (const slip of ["mod", "m-o-d"]) assert.equal(slipOf(slip, four), null, slip);
    assert.equal(slipOf("tosa", knowNames(["tos"])), null);
  });

  it("finds no slip in two letters that are not swapped, nor in more edits than one", () => {
    for (const name of ["evenst_", "enevts", "evxyts", "evetsn", "xeents", "vxents", "eventsab"])
      assert.equal(slipOf(name, known), null, name);
  });

  it("looks at no name of more than 64 characters", () => {
    assert.equal(slipOf("events".padEnd(64, "_"), known), "events");
    assert.equal(slipOf("events".padEnd(65, "_"), known), null);
  });

  it("takes names that objects inherit for what they are", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      assert.equal(slipOf(name, known), null);
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (name) => assert.doesNotThrow(() => slipOf(name, known))),
    );
  });
});
