import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTrustedSignedUrl } from "./signed-url.ts";

const REQUEST = {
  bucket: "artifacts-example",
  key: "v1/example.json",
  version_id: "v-1",
  issued_at: "2026-03-10T12:00:00.000Z",
  expires_in: 300,
  response_content_type: "application/json",
  response_content_disposition: "attachment",
};
const PAIRS = [
  "X-Amz-Algorithm=AWS4-HMAC-SHA256",
  "X-Amz-Date=20260310T120000Z",
  "X-Amz-Expires=300",
  "X-Amz-SignedHeaders=host",
  "response-content-disposition=attachment%3B%20filename%3D%22a.json%22",
  "versionId=v-1",
];

function isTrusted(scheme: "http" | "https", host: string, query = PAIRS.join("&")): boolean {
  const url = `${scheme}://${host}/artifacts-example/v1/example.json?${query}`;
  return isTrustedSignedUrl(url, { scheme, host, path_prefix: "" }, REQUEST);
}

describe("isTrustedSignedUrl", () => {
  it("trusts the link that was asked for", () => {
    assert.ok(isTrusted("https", "store.example.invalid"));
  });

  it("trusts plain http only on the loopback", () => {
    for (const host of ["localhost", "localhost:9000", "127.0.0.1:9000", "[::1]:80"]) {
      assert.ok(isTrusted("http", host), host);
    }
    for (const host of ["store.example.invalid", "127.0.0.1.example.invalid", "localhost.example.invalid"]) {
      assert.ok(!isTrusted("http", host), host);
    }
  });

  it("refuses a parameter that is absent, repeated, or of another value", () => {
    for (const pair of PAIRS.slice(1, 4)) {
      const name = pair.split("=")[0] ?? "";
      const others = PAIRS.filter((one) => one !== pair);
      assert.ok(!isTrusted("https", "a.invalid", others.join("&")), `without ${name}`);
      assert.ok(!isTrusted("https", "a.invalid", [...PAIRS, pair].join("&")), `${name} twice`);
      assert.ok(!isTrusted("https", "a.invalid", [...others, `${name}=1`].join("&")), `${name}=1`);
    }
  });

  it("refuses what could hide a parameter: fragments, bare names, loose encoding", () => {
    for (const extra of ["a=b#c", "a", "", "a=%2f", "a=b;c", "a=b c"]) {
      assert.ok(!isTrusted("https", "a.invalid", [...PAIRS, extra].join("&")), extra);
    }
  });

  it("refuses a link to another place that begins alike", () => {
    const query = PAIRS.join("&");
    const endpoint = { scheme: "https", host: "a.invalid", path_prefix: "" } as const;
    for (const start of [
      "https://a.invalid@b.invalid/artifacts-example/v1/example.json",
      "https://a.invalid/artifacts-example/v1/example.json/",
      "HTTPS://a.invalid/artifacts-example/v1/example.json",
    ]) {
      assert.ok(!isTrustedSignedUrl(`${start}?${query}`, endpoint, REQUEST), start);
    }
  });
});
