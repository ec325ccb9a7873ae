import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signedUrlEndpoint } from "../rules/signed-url.ts";
import { servedEndpoint } from "./open-bucket.ts";

describe("servedEndpoint", () => {
  const path_prefix = "/postern/api/storage/files";

  it("is the address listened on, or this machine where that is every address", () => {
    assert.deepEqual(at("127.0.0.1"), { scheme: "http", host: "127.0.0.1:8080", path_prefix });
    assert.deepEqual(at("0.0.0.0"), { scheme: "http", host: "127.0.0.1:8080", path_prefix });
    assert.deepEqual(at("::1"), { scheme: "http", host: "[::1]:8080", path_prefix });
  });

  it("is the public URL with its path where there is one, whatever the base path here", () => {
    const expected = { scheme: "https", host: "hooks.example.com", path_prefix: "/x/api/storage/files" };
    assert.deepEqual(at("0.0.0.0", "https://hooks.example.com/x"), expected);
    const atRoot = { ...expected, path_prefix: "/api/storage/files" };
    assert.deepEqual(at("0.0.0.0", "https://hooks.example.com"), atRoot);
  });
});

function at(host: string, publicUrl?: string) {
  const endpoint = servedEndpoint({ publicUrl, host, port: 8080, basePath: "/postern" });
  return signedUrlEndpoint.parse(endpoint);
}
