/** The portal's page and assets as the program serves them, and the code of the demonstration. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { buildPortal, firstViewBytes, MAX_FIRST_VIEW_BYTES } from "../tools/portal.ts";
import { getAsIs } from "./support/get-as-is.ts";
import { startTestService, type TestService } from "./support/service.ts";

describe("the portal's page", () => {
  let service: TestService;
  let script: string;
  before(async () => {
    const folder = await buildPortal(() => undefined);
    script = basename(globSync(join(folder, "assets", "first-*.js"))[0] ?? "");
    service = await startTestService({
      env: { BASE_PATH: "/hooks", PORTAL_FRAME_ANCESTORS: "https://app.example.com" },
    });
  });
  after(() => service.stop());

  const get = (path: string, options: RequestInit = {}) => fetch(`${service.url}${path}`, options);

  it("stands under the base path, and answers each path of the app", async () => {
    for (const path of [
      "/portal",
      "/portal/",
      "/portal/endpoints",
      "/portal/endpoints/x/y?tab=1",
      "/portal/no.such",
    ]) {
      const answer = await get(path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
      assert.match(await answer.text(), /<base href="\/hooks\/portal\/" \/>/);
    }
    assert.equal((await fetch(new URL("/portal", service.url))).status, 404);
  });

  it("has a policy that leaves out everything but this origin, and names who may frame it", async () => {
    const answer = await get("/portal");
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.deepEqual(policy.split("; "), [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors https://app.example.com",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    const { headers } = answer;
    const names = [
      "cache-control",
      "cross-origin-opener-policy",
      "referrer-policy",
      "x-content-type-options",
    ];
    assert.deepEqual(
      names.map((name) => headers.get(name)),
      ["no-cache", "same-origin", "no-referrer", "nosniff"],
    );
    assert.equal(headers.get("set-cookie"), null);
  });

  it("answers HEAD, and refuses to be written to", async () => {
    const answer = await get("/portal/endpoints", { method: "HEAD" });
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), "");
    const refused = await get("/portal", { method: "POST" });
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get("allow"), "GET, HEAD");
  });

  it("has assets that never change, compressed as the caller takes them", async () => {
    const path = `/portal/assets/${script}`;
    const plain = await get(path, { headers: { "Accept-Encoding": "identity" } });
    assert.equal(plain.status, 200);
    assert.match(plain.headers.get("cache-control") ?? "", /max-age=31536000.*immutable/);
    assert.match(plain.headers.get("content-type") ?? "", /^(?:text|application)\/javascript/);
    const text = await plain.text();
    for (const [encoding, unpack] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
    ] as const) {
      const { headers, body } = await getAsIs(service.url, path, { "Accept-Encoding": encoding });
      assert.equal(headers["content-encoding"], encoding);
      assert.equal(unpack(body).toString(), text);
    }
    assert.equal((await get(path, { method: "HEAD" })).status, 200);
  });

  it("answers 404 for an asset that is not there, and shows nothing else of the folder", async () => {
    for (const name of ["missing.js", "", "..%2fmanifest.json", "../manifest.json", "%00", "a/b.js", ".."]) {
      const { statusCode } = await getAsIs(service.url, `/portal/assets/${name}`, {});
      assert.equal(statusCode, 404, name);
    }
    const { statusCode, headers } = await getAsIs(service.url, "/portal/manifest.json", {});
    assert.deepEqual([statusCode, headers["content-type"]], [200, "text/html; charset=utf-8"]);
  });

  it("has a first view that is small", async () => {
    const bytes = await firstViewBytes();
    assert.ok(bytes <= MAX_FIRST_VIEW_BYTES, `${bytes} bytes, gzipped`);
  });
});
