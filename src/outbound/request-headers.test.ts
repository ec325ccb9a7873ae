import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  buildRequestHeaders,
  maskedNames,
  maskHeaders,
  refuseStaticHeader,
  withDerived,
  withoutDerived,
  type HeaderInput,
  type HeaderSource,
} from "./request-headers.ts";
import { generateSigningSecret, makeSigningKey, sign } from "./signature.ts";

const key = makeSigningKey(generateSigningSecret());

function input(staticHeaders: Record<string, string> = {}): HeaderInput {
  return {
    version: "1.2.3",
    eventType: "invoice.paid",
    deliveryLabel: "test-1700000000123",
    webhookId: "018f",
    timestampSeconds: 1_700_000_000,
    body: "{}",
    signingKeys: [key],
    staticHeaders,
  };
}

describe("the headers of a request", () => {
  it("are exactly these", () => {
    const content = { webhookId: "018f", timestampSeconds: 1_700_000_000, body: "{}" };
    const signatures = sign([key], content);
    deepEqual(buildRequestHeaders(input()), {
      "Content-Type": "application/json",
      "User-Agent": "Postern/1.2.3",
      "Accept-Encoding": "identity",
      "X-Service-Signature": signatures.serviceSignature,
      "X-Service-Timestamp": "1700000000",
      "X-Service-Event": "invoice.paid",
      "X-Service-Delivery": "test-1700000000123",
      "webhook-id": "018f",
      "webhook-timestamp": "1700000000",
      "webhook-signature": signatures.webhookSignature,
    });
  });

  it("have the endpoint's own added", () => {
    const headers = buildRequestHeaders(input({ Authorization: "Bearer x", "X-Team": "billing" }));
    equal(headers["Authorization"], "Bearer x");
    equal(headers["X-Team"], "billing");
  });

  it("are never overridden by the endpoint's own, in any case of letters, nor with an underscore", () => {
    const own = Object.keys(buildRequestHeaders(input()));
    for (const name of own) {
      const underscored = name.replaceAll("-", "_");
      for (const form of [name, name.toLowerCase(), name.toUpperCase(), underscored]) {
        deepEqual(buildRequestHeaders(input({ [form]: "evil" })), buildRequestHeaders(input()));
      }
    }
  });

  it("have the trace of the attempt, unless the endpoint has a traceparent of its own", () => {
    const traced = (own: Record<string, string>) => {
      const headers = buildRequestHeaders({ ...input(own), traceparent: "00-1-2-01" });
      return Object.entries(headers).filter(([name]) => name.toLowerCase() === "traceparent");
    };
    deepEqual(traced({ "X-Team": "billing" }), [["traceparent", "00-1-2-01"]]);
    deepEqual(traced({ TraceParent: "00-own-3-00" }), [["TraceParent", "00-own-3-00"]]);
    ok(!("traceparent" in buildRequestHeaders(input())));
  });

  it("are logged with the values of authorization and of the named ones masked", () => {
    const headers = { Authorization: "Bearer x", "X-Team": "billing", "x-api-key": "k" };
    deepEqual(maskHeaders(headers, maskedNames(["X-API-Key"])), {
      Authorization: "[masked]",
      "X-Team": "billing",
      "x-api-key": "[masked]",
    });
  });
});

describe("an endpoint's own header", () => {
  const refused: Record<string, readonly string[]> = {
    hop_by_hop: [
      "Connection",
      "keep-alive",
      "Transfer-Encoding",
      "TE",
      "Trailer",
      "Upgrade",
      "Expect",
      "HTTP2-Settings",
      "Transfer_Encoding",
    ],
    reserved_name: [
      "Host",
      "Content-Type",
      "content-length",
      "Content-Anything",
      "User-Agent",
      "Proxy-Authorization",
      "Accept-Encoding",
      "X-Service-Signature",
      "x-service-new",
      "Webhook-Id",
      "webhook-signature",
      "Content_Length",
      "X_Service_Signature",
      "webhook_id",
      "__proto__",
    ],
    name_syntax: ["", "a b", "a:b", "ä", "a\n", "a\0"],
    name_too_long: ["a".repeat(129)],
  };
  for (const [rule, names] of Object.entries(refused)) {
    for (const name of names) {
      it(`${JSON.stringify(name.slice(0, 20))} is refused: ${rule}`, () =>
        equal(refuseStaticHeader(name, "v"), rule));
    }
  }

  it("may be any other, authorization too", () => {
    for (const name of [
      "Authorization",
      "X-Api-Key",
      "X-Team",
      "Cookie",
      "Forwarded",
      "constructor",
      "a".repeat(128),
    ]) {
      equal(refuseStaticHeader(name, "v"), null);
    }
  });

  it("may have a value of 1,024 characters of Latin-1 and no control characters", () => {
    equal(refuseStaticHeader("a", ""), null);
    equal(refuseStaticHeader("a", "é\tb c~"), null);
    equal(refuseStaticHeader("a", "v".repeat(1024)), null);
    equal(refuseStaticHeader("a", "v".repeat(1025)), "value_too_long");
    for (const value of ["a\r", "a\n", "a\0", "a\u007f", "a\u0085", "\u0100", "😀"]) {
      equal(refuseStaticHeader("a", value), "value_syntax");
    }
  });

  it("that is taken is one that HTTP can carry", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, value) => {
        if (refuseStaticHeader(name, value) === null) ok(new Headers([[name, value]]).has(name));
      }),
    );
  });
});

describe("the headers that the log derives from a delivery's columns", () => {
  const of: HeaderSource = {
    trigger: "event",
    event_type: "invoice.paid",
    id: "test-1700000000123",
    event_id: "018f",
  };
  const sent = buildRequestHeaders(input({ "X-Team": "billing" }));

  it("are not kept, and come back as they were sent, of each automatic attempt", () => {
    const kept = withoutDerived(sent);
    deepEqual(Object.keys(kept), [
      "User-Agent",
      "X-Service-Signature",
      "X-Service-Timestamp",
      "webhook-signature",
      "X-Team",
    ]);
    for (const trigger of ["event", "auto_retry"]) deepEqual(withDerived(kept, { ...of, trigger }), sent);
  });

  it("are what was kept where something else was sent", () => {
    const kept = { ...withoutDerived(sent), "Content-Type": "application/other" };
    equal(withDerived(kept, of)["Content-Type"], "application/other");
  });

  it("are none where nothing was sent, or where its headers were kept whole", () => {
    equal(withDerived(null, of), null);
    deepEqual(withDerived({}, of), {});
    const kept = withoutDerived(sent);
    equal(withDerived(kept, { ...of, trigger: "manual_retry" }), kept);
    equal(withDerived(kept, { ...of, trigger: "test" }), kept);
    equal(withDerived(kept, { ...of, event_id: null }), kept);
  });
});
