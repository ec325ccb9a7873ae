/** Bodies and paths that no honest caller sends: each gets the answer of the contract, and never a 500. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { PRODUCER, startTestService, type CallOptions, type TestService } from "./support/service.ts";
import { assertRefused, issuesOf, REFUSED, UNKNOWN_ID, webhooksOf } from "./support/webhooks.ts";

const MIB = 1024 * 1024;
const URL = "https://hooks.example.com/in";

let service: TestService;

before(async () => {
  service = await startTestService({ roles: ["api"] });
});
after(() => service.stop());

const create = (options: CallOptions) => service.call("POST", "/api/webhooks", options);

/** The routes on which an unparsable body fails validation. */
const VALIDATING: [string, string, CallOptions][] = [
  ["POST", "/api/webhooks", {}],
  ["PATCH", `/api/webhooks/${UNKNOWN_ID}`, {}],
  ["POST", `/api/webhooks/${UNKNOWN_ID}/test`, {}],
  ["POST", "/api/events", { as: PRODUCER }],
];

const UNPARSABLE: Record<string, string | Uint8Array<ArrayBuffer>> = {
  "an empty body": "",
  "white space": " \n",
  "half an object": '{"url":"https://hooks.example.com/',
  "two values": `{"url":"${URL}"}{}`,
  "a comment": `{"url":"${URL}"/* */}`,
  "single quotes": "{'url':'https://hooks.example.com/'}",
  NaN: '{"url":NaN}',
  "a form": "url=https%3A%2F%2Fhooks.example.com",
  "bytes that are no UTF-8": Buffer.from(`{"url":"${URL}","description":"\xff"}`, "latin1"),
  "UTF-16": Buffer.from(`{"url":"${URL}"}`, "utf16le"),
  "an overlong NUL": Buffer.concat([Buffer.from('{"url":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')]),
  "brackets half a megabyte deep": "[".repeat(MIB / 2),
};

describe("a body that cannot be parsed", () => {
  for (const [name, raw] of Object.entries(UNPARSABLE)) {
    it(`fails validation on every route that takes one: ${name}`, async () => {
      for (const [method, path, options] of VALIDATING) {
        const answer = await service.call(method, path, { ...options, raw });
        assert.deepEqual(Object.keys(issuesOf(answer)), [""]);
      }
    });
  }

  it("fails validation when there is none at all", async () => {
    for (const [method, path, options] of VALIDATING) issuesOf(await service.call(method, path, options));
  });
});

describe("a body of any Content-Type", () => {
  it("is read as JSON", async () => {
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/xml",
      "multipart/form-data",
      "x",
    ];
    for (const type of [...types, "application/json; charset=utf-16", "application/json; charset"]) {
      const answer = await create({ raw: JSON.stringify({ url: URL }), headers: { "content-type": type } });
      assert.equal(answer.status, 201, `${type}: ${answer.text}`);
    }
    const bytes = await create({ raw: Buffer.from(`\ufeff{"url":"${URL}"}`) });
    assert.equal(bytes.status, 201);
  });
});

describe("a body that is JSON but not an object", () => {
  it("fails validation", async () => {
    for (const [method, path, options] of VALIDATING) {
      for (const json of [null, true, 7, "text", [[]], [null]]) {
        issuesOf(await service.call(method, path, { ...options, json }));
      }
    }
  });
});

describe("a large or deep body", () => {
  it("may have 1 MiB, and not a byte more", async () => {
    const raw = JSON.stringify({ url: URL });
    assert.equal((await create({ raw: raw + " ".repeat(MIB - raw.length) })).status, 201);
    assertRefused(await create({ raw: raw + " ".repeat(MIB - raw.length + 1) }), REFUSED.tooLarge);
  });

  it("is cut off without a Content-Length too", async () => {
    const chunk = "x".repeat(64 * 1024);
    const head = `POST /api/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await service.token({
      type: "user",
      tid: "acme",
      role: "owner",
    })}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await exchange(head + `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(17));
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.ok(answer.includes('{"error":"Payload too large"}'));
  });

  it("may nest as it likes where its members are ignored", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    assert.equal((await create({ raw: `{"url":"${URL}","x":${deep}}` })).status, 201);
    for (const member of ["events", "description", "enabled", "headers", "metadata", "url"]) {
      issuesOf(await create({ raw: `{"url":"${URL}","${member}":${deep}}` }));
    }
  });
});

describe("names that JavaScript objects have", () => {
  it("are ordinary names", async () => {
    const raw = `{"url":"${URL}","__proto__":{"enabled":false},"constructor":1,"metadata":{"constructor":"a","toString":"b"}}`;
    const { endpoint } = Object((await create({ raw })).body);
    assert.deepEqual([endpoint.enabled, endpoint.metadata], [true, { constructor: "a", toString: "b" }]);
  });
});

describe("ids that are no ids", () => {
  const ids = [
    "0",
    "null",
    "undefined",
    "__proto__",
    "%00",
    "%0a",
    "%2F..%2F",
    "%25",
    "%F0%9F%8D%B0",
    "%ED%A0%80",
    "%",
    "%zz",
    "'; DROP TABLE postern.endpoints; --",
    `${UNKNOWN_ID}%20`,
    `{${UNKNOWN_ID}}`,
    UNKNOWN_ID.replaceAll("-", ""),
    UNKNOWN_ID.toUpperCase(),
    "9".repeat(4000),
  ];
  for (const id of ids) {
    it(`are as unknown as any: ${id.slice(0, 40)}`, async () => {
      const path = `/api/webhooks/${id}`;
      assertRefused(await service.call("GET", path), REFUSED.notFound);
      assertRefused(await service.call("PATCH", path, { json: {} }), REFUSED.notFound);
      assertRefused(await service.call("DELETE", path), REFUSED.notFound);
      assertRefused(await service.call("POST", `${path}/rotate-secret`), REFUSED.notFound);
      const test = await service.call("POST", `${path}/test`, { json: { event_type: "invoice.paid" } });
      assertRefused(test, REFUSED.notFound);
      const deliveries = `/api/webhooks/${UNKNOWN_ID}/deliveries/${id}`;
      assertRefused(await service.call("GET", deliveries), REFUSED.notFound);
      assertRefused(await service.call("POST", `${deliveries}/retry`), REFUSED.notFound);
      assert.deepEqual(await webhooksOf(service).deliveries(id), []);
    });
  }
});

describe("bytes that are no HTTP request", () => {
  const cases: [string, string, string][] = [
    ["a line that is none", "nonsense\r\n\r\n", "400 Bad Request"],
    [
      "headers without end",
      `GET /health HTTP/1.1\r\nX-Long: ${"x".repeat(64 * 1024)}\r\n\r\n`,
      "431 Request Header Fields Too Large",
    ],
  ];
  for (const [name, bytes, status] of cases) {
    it(`get an error with a request id: ${name}`, async () => {
      const [head = "", body = ""] = (await exchange(bytes)).split("\r\n\r\n");
      assert.ok(head.startsWith(`HTTP/1.1 ${status}\r\n`), head);
      assert.match(head, /^X-Request-Id: [0-9a-f-]{36}$/im);
      assert.deepEqual(JSON.parse(body), { error: status.slice(4) });
    });
  }
});

/** Sends bytes as they are and answers all that comes back until the server closes or is done. */
async function exchange(text: string): Promise<string> {
  const { hostname, port } = new globalThis.URL(service.url);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("utf8");
    if (/\r\n\r\n.*\}$/s.test(received)) socket.destroy();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(received));
  socket.write(text);
  return promise;
}
