import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { packHeaders, packLike, unpackHeaders, type GivenHeaders, type Headers } from "./packed-headers.ts";

const SENT_AT = new Date("2026-03-02T09:30:00.123Z");
const SECONDS = String(Math.floor(SENT_AT.getTime() / 1000));
const REQUEST = {
  "User-Agent": "Postern/0.3.0",
  "X-Service-Signature": `sha256=${"0a".repeat(32)}`,
  "X-Service-Timestamp": SECONDS,
  "webhook-signature": `v1,${Buffer.alloc(32, 7).toString("base64")}`,
  Authorization: "[masked]",
};
const RESPONSE = {
  server: "nginx",
  date: "Mon, 02 Mar 2026 09:30:01 GMT",
  "content-length": "2",
  "x-request-id": "é".repeat(200),
};

/** As the database keeps it: the set as JSON. */
function thereAndBack(given: GivenHeaders) {
  const { set, values } = packHeaders(given);
  return unpackHeaders({ set: JSON.parse(JSON.stringify(set)), values }, given.sentAt);
}

function assertSame(given: GivenHeaders): void {
  const { request, response } = thereAndBack(given);
  // As text, for the order counts too.
  assert.equal(JSON.stringify(request), JSON.stringify(given.request));
  assert.equal(JSON.stringify(response), JSON.stringify(given.response));
}

describe("packed headers", () => {
  it("are unpacked as they were, in their order", () => {
    assertSame({ request: REQUEST, response: RESPONSE, sentAt: SENT_AT });
  });

  it("know no answer, and an answer that is stored elsewhere", () => {
    assertSame({ request: REQUEST, response: null, sentAt: SENT_AT });
    assertSame({ request: REQUEST, response: undefined, sentAt: SENT_AT });
  });

  it("leave to the attempt what differs between attempts alone", () => {
    const later = new Date(SENT_AT.getTime() + 5000);
    const first = packHeaders({ request: REQUEST, response: RESPONSE, sentAt: SENT_AT });
    const second = packHeaders({
      request: {
        ...REQUEST,
        "X-Service-Signature": `sha256=${"0b".repeat(32)}`,
        "X-Service-Timestamp": String(Number(SECONDS) + 5),
      },
      response: { ...RESPONSE, date: "Mon, 02 Mar 2026 09:30:06 GMT", "x-request-id": "2" },
      sentAt: later,
    });
    assert.deepEqual(second.set, first.set);
    // Two signatures, a date, and two short texts with their lengths.
    assert.equal(second.values.length, 64 + 1 + 2 + 2);
  });

  it("are packed like others, or not where they differ in more than values", () => {
    const given = { request: REQUEST, response: RESPONSE, sentAt: SENT_AT };
    const { set, values } = packHeaders(given);
    assert.deepEqual(packLike(set, given), values);
    const { server, ...others } = RESPONSE;
    const unlike: Partial<GivenHeaders>[] = [
      { request: { ...REQUEST, Authorization: "another" } },
      { request: { ...REQUEST, "X-More": "1" } },
      { request: { ...REQUEST, "webhook-signature": "v1,short" } },
      { sentAt: new Date(0) },
      { response: others },
      { response: { ...others, server } },
      { response: { ...RESPONSE, server: "apache" } },
      { response: null },
      { response: undefined },
    ];
    for (const part of unlike) assert.equal(packLike(set, { ...given, ...part }), null, JSON.stringify(part));
  });

  it("hold any value of any header, also where another form is expected", () => {
    const names = ["X-Service-Signature", "X-Service-Timestamp", "webhook-signature", "traceparent", "date"];
    const odd = [
      "",
      "sha256=",
      `sha256=${"A".repeat(64)}`,
      // Decoded and encoded again it is another text: the last character has bits that no byte has.
      `v1,${"A".repeat(42)}B=`,
      `v1,${"A".repeat(43)}= v1,${"B".repeat(43)}=`,
      "Mon, 02 Mar 2026 09:30:01 UTC",
      "Tue, 02 Mar 2027 09:30:01 GMT",
      SECONDS,
      `0${SECONDS}`,
    ];
    const name = fc.oneof(fc.constantFrom(...names, "__proto__", "7", "server"), fc.string());
    const value = fc.oneof(fc.constantFrom(...odd), fc.string({ unit: "grapheme", maxLength: 300 }));
    const headers = fc
      .array(fc.tuple(name, value), { maxLength: 8 })
      .map((entries): Headers => Object.fromEntries(entries));
    const sentAt = fc.constantFrom(SENT_AT, null);
    fc.assert(fc.property(fc.record({ request: headers, response: fc.option(headers), sentAt }), assertSame));
  });
});
