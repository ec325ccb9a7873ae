/** How headers are packed, to the byte. That every header comes back is in `packed-headers.test.ts`. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headersOf, packHeaders, packLike, unpackHeaders, type Headers } from "./packed-headers.ts";

const SENT_AT = new Date("2026-03-02T09:30:00.123Z");
const SECONDS = String(Math.floor(SENT_AT.getTime() / 1000));
const HEX = `sha256=${"0a".repeat(32)}`;
const BASE64 = `v1,${Buffer.alloc(32, 7).toString("base64")}`;

const requestOf = (request: Headers, sentAt: Date | null = SENT_AT) =>
  packHeaders({ request, response: null, sentAt });
const responseOf = (response: Headers, sentAt: Date | null = SENT_AT) =>
  packHeaders({ request: {}, response, sentAt });
const httpDate = (secondsAfter: number) => new Date((Number(SECONDS) + secondsAfter) * 1000).toUTCString();

describe("the place for packed values", () => {
  // The first one of this process: its place has 4,096 bytes, and these take three more.
  it("grows in time for a value of three bytes a character, and keeps what is in it", () => {
    const request = { traceparent: "a", TraceParent: "€".repeat(1365) };
    assert.deepEqual(unpackHeaders(requestOf(request), SENT_AT).request, request);
  });
});

describe("the set of an attempt's headers", () => {
  it("names the form of each value of a request", () => {
    const { set, values } = requestOf({
      "X-Service-Signature": HEX,
      "webhook-signature": BASE64,
      "X-Service-Timestamp": SECONDS,
      TraceParent: "00-1",
      "X-Own": "own",
    });
    assert.deepEqual(set, {
      request: [
        ["X-Service-Signature", "hex"],
        ["webhook-signature", "base64"],
        ["X-Service-Timestamp", "seconds"],
        ["TraceParent", "text"],
        ["X-Own", "fixed", "own"],
      ],
      response: null,
    });
    assert.equal(values.toString("hex"), "0a".repeat(32) + "07".repeat(32) + "0430302d31");
  });

  it("names text where a value has another spelling", () => {
    const odd: [name: string, value: string][] = [
      ["X-Service-Signature", `${HEX}0`],
      ["X-Service-Signature", `x${HEX}`],
      ["webhook-signature", `x${BASE64}`],
      ["webhook-signature", `${BASE64} v1,`],
      ["X-Service-Timestamp", "1"],
    ];
    for (const [name, value] of odd) {
      assert.deepEqual(requestOf({ [name]: value }).set.request, [[name, "text"]], value);
    }
    const { set } = requestOf({ "X-Service-Timestamp": SECONDS }, null);
    assert.deepEqual(set.request, [["X-Service-Timestamp", "text"]]);
  });

  it("has what servers answer the same each time, and no other value of an answer", () => {
    const same = [
      ["accept-ranges", "access-control-allow-credentials", "access-control-allow-headers"],
      ["access-control-allow-methods", "access-control-allow-origin", "alt-svc", "cache-control"],
      ["connection", "content-encoding", "content-language", "content-security-policy", "content-type"],
      ["cross-origin-opener-policy", "cross-origin-resource-policy", "keep-alive", "permissions-policy"],
      ["pragma", "referrer-policy", "server", "strict-transport-security", "transfer-encoding", "vary"],
      ["via", "x-content-type-options", "x-dns-prefetch-control", "x-download-options"],
      ["x-frame-options", "x-permitted-cross-domain-policies", "x-powered-by", "x-xss-protection"],
    ].flat();
    const { set, values } = responseOf(Object.fromEntries(same.map((name) => [name, "1"])));
    assert.deepEqual(
      set.response,
      same.map((name) => [name, "fixed", "1"]),
    );
    assert.equal(values.length, 0);
    const others = responseOf({ etag: "1", expires: httpDate(1), "content-length": "2" });
    assert.deepEqual(others.set.response, [
      ["etag", "text"],
      ["expires", "text"],
      ["content-length", "text"],
    ]);
  });

  it("has a date in one byte: from 64 seconds before the attempt to 191 after it", () => {
    const forms = [-65, -64, 0, 191, 192].map((seconds) => {
      const { set, values } = responseOf({ date: httpDate(seconds) });
      const [header] = set.response ?? [];
      return header?.[1] === "date" ? values.toString("hex") : header?.[1];
    });
    assert.deepEqual(forms, ["text", "00", "40", "ff", "text"]);
    for (const date of ["Mon, 2 Mar 2026 09:30:01 GMT", "2026-03-02T09:30:01Z", "soon"]) {
      assert.deepEqual(responseOf({ date }).set.response, [["date", "text"]], date);
    }
    assert.deepEqual(responseOf({ date: httpDate(0) }, null).set.response, [["date", "text"]]);
  });
});

describe("a packed text", () => {
  it("comes after its length, in seven bits a byte", () => {
    for (const [length, lengthBytes] of [
      [0, 1],
      [126, 1],
      [127, 1],
      [128, 2],
      [129, 2],
      [256, 2],
      [16_383, 2],
      [16_384, 3],
    ] as const) {
      const request = { traceparent: "t".repeat(length) };
      const packed = requestOf(request);
      assert.equal(packed.values.length, lengthBytes + length);
      assert.deepEqual(unpackHeaders(packed, SENT_AT).request, request);
    }
  });
});

describe("headers that are packed like others", () => {
  const request = { "X-Service-Signature": HEX, "X-Service-Timestamp": SECONDS, traceparent: "1" };
  const response = { date: httpDate(1), etag: "1" };
  const given = { request, response, sentAt: SENT_AT };
  const { set } = packHeaders(given);

  it("have the same names in the same forms", () => {
    const unlike = [
      { request: { ...request, "X-Service-Signature": "short" } },
      { request: { ...request, "X-Service-Timestamp": "1" } },
      { request: { "X-Service-Signature": HEX, "X-Service-Timestamp": SECONDS } },
      { request: { "X-Service-Signature": HEX, "X-Service-Timestamp": SECONDS, TraceParent: "1" } },
      { response: { ...response, date: httpDate(500) } },
      { response: { date: response.date } },
      { response: { date: response.date, age: "1" } },
      { sentAt: null },
    ];
    for (const part of unlike) assert.equal(packLike(set, { ...given, ...part }), null, JSON.stringify(part));
  });
});

describe("the headers of a row", () => {
  const asTheyAre = { request_headers: { a: "1" }, response_headers: { b: "2" }, sent_at: SENT_AT };
  const rowOf = (response: Headers | null | undefined) => {
    const packed = packHeaders({ request: { "X-Own": "own" }, response, sentAt: SENT_AT });
    return { ...asTheyAre, header_set: JSON.stringify(packed.set), header_values: packed.values };
  };

  it("are its columns where nothing is packed", () => {
    const { sent_at, ...columns } = asTheyAre;
    assert.deepEqual(headersOf({ ...columns, sent_at, header_set: null, header_values: null }), columns);
    const packed = rowOf({ etag: "1" });
    assert.deepEqual(headersOf({ ...packed, header_values: null }), columns);
    assert.deepEqual(headersOf({ ...packed, header_set: null }), columns);
  });

  it("are unpacked, but for an answer that is stored as it was", () => {
    const request_headers = { "X-Own": "own" };
    assert.deepEqual(headersOf(rowOf({ etag: "1" })), { request_headers, response_headers: { etag: "1" } });
    assert.deepEqual(headersOf(rowOf(null)), { request_headers, response_headers: null });
    assert.deepEqual(headersOf(rowOf(undefined)), { request_headers, response_headers: { b: "2" } });
  });

  it("have a set that is parsed once for many rows", (t) => {
    const row = rowOf({ server: "only here" });
    const parse = t.mock.method(JSON, "parse");
    const first = headersOf(row);
    assert.deepEqual(headersOf(row), first);
    assert.equal(parse.mock.callCount(), 1);
  });
});
