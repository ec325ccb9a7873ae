/** Bodies and paths that no honest caller sends: each gets the answer of the contract, and never a 500. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { exchange } from "./support/raw-http.ts";
import { PRODUCER, type CallOptions } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
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
/** It takes none, too. */
const ROTATION: [string, string, CallOptions] = ["POST", `/api/webhooks/${UNKNOWN_ID}/rotate-secret`, {}];

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

describe("a coded body", () => {
  it("is refused on every route that takes one, by what its sender can do about it", async () => {
    const raw = Buffer.from(gzipSync(JSON.stringify({ url: URL })));
    for (const [method, path, options] of [...VALIDATING, ROTATION]) {
      for (const coding of ["gzip", "x"]) {
        const headers = { "content-encoding": coding };
        assertRefused(await service.call(method, path, { ...options, raw, headers }), REFUSED.coded);
      }
      for (const coding of ["identity", "Identity ", ""]) {
        const headers = { "content-encoding": coding };
        issuesOf(await service.call(method, path, { ...options, raw, headers }));
      }
    }
  });

  it("is read where it is called so and is JSON", async () => {
    const headers = { "content-encoding": "utf-8" };
    assert.equal((await create({ raw: JSON.stringify({ url: URL }), headers })).status, 201);
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
    const answer = await exchange(
      service.url,
      head + `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(17),
    );
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

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const members = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, n) => `"k${n}":${value}`).join(",")}}`;

describe("a body that would exhaust the program", () => {
  const owner: CallOptions = {};
  const producer: CallOptions = { as: PRODUCER };
  const bombs: [string, string, CallOptions, string][] = [
    [
      "metadata nested 170,000 deep",
      "/api/webhooks",
      owner,
      `{"url":"${URL}","metadata":${nested(170_000)}}`,
    ],
    [
      "metadata of 70,000 faults",
      "/api/webhooks",
      owner,
      `{"url":"${URL}","metadata":${members(70_000, "1")}}`,
    ],
    ["70,000 faulty headers", "/api/webhooks", owner, `{"url":"${URL}","headers":${members(70_000, "1")}}`],
    [
      "200,000 event patterns",
      "/api/webhooks",
      owner,
      `{"url":"${URL}","events":[${'"k",'.repeat(200_000)}"k"]}`,
    ],
    [
      "data nested 170,000 deep",
      "/api/events",
      producer,
      `{"type":"invoice.paid","data":${nested(170_000)}}`,
    ],
    ["data nested 65 deep", "/api/events", producer, `{"type":"invoice.paid","data":${nested(65)}}`],
    [
      "arrays nested 500,000 deep in data",
      "/api/events",
      producer,
      `{"type":"invoice.paid","data":{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}}`,
    ],
    ["300,000 events", "/api/events", producer, `[${"{},".repeat(300_000)}{}]`],
    ["1,000 events without anything", "/api/events", producer, `[${"{},".repeat(999)}{}]`],
    [
      "a number of a million digits",
      "/api/events",
      producer,
      `{"type":"invoice.paid","data":{"a":${"9".repeat(1_000_000)}}}`,
    ],
  ];
  for (const [name, path, options, raw] of bombs) {
    it(`fails validation with at most 100 issues, and the next request is served: ${name}`, async () => {
      const answer = await service.call("POST", path, { ...options, raw });
      issuesOf(answer);
      assert.ok(answer.text.length < 20_000, `${answer.text.length} characters of answer`);
      assert.equal((await service.call("GET", "/health", { as: null })).status, 200);
    });
  }

  it("is accepted where it is within every limit: 64 levels, 80,000 members", async () => {
    for (const data of [nested(64), members(80_000, "1")]) {
      const answer = await service.call("POST", "/api/events", {
        as: PRODUCER,
        raw: `{"type":"invoice.paid","data":${data}}`,
      });
      assert.equal(answer.status, 202, answer.text.slice(0, 200));
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
