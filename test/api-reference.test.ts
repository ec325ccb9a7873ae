/** `/reference`: the API's document as a page, which asks this origin alone. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";

let database: TestDatabase;
let service: TestService;
let mounted: TestService;

before(async () => {
  database = await createTestDatabase();
  service = await startTestService({ database, roles: ["api"] });
  mounted = await startTestService({ database, roles: ["api"], env: { BASE_PATH: "/postern" } });
});
after(async () => {
  await service.stop();
  await mounted.stop();
  await database.drop();
});

const TYPES: Record<string, string> = { css: "text/css", js: "text/javascript" };

/** The page's directives, by name. */
function policyOf(headers: Headers): Record<string, string> {
  const directives = (headers.get("content-security-policy") ?? "").split("; ");
  return Object.fromEntries(
    directives.map((one) => [one.slice(0, one.indexOf(" ")), one.slice(one.indexOf(" ") + 1)]),
  );
}

describe("GET /reference", () => {
  it("answers a page to anyone whose policy lets it ask this origin alone", async () => {
    const { status, headers, text } = await service.call("GET", "/reference", { as: null });
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    assert.deepEqual(policyOf(headers), {
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "img-src": "'self' data:",
      "connect-src": "'self'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
    });
    const names = [
      "cross-origin-opener-policy",
      "referrer-policy",
      "x-content-type-options",
      "cache-control",
    ];
    assert.deepEqual(
      [...names, "vary"].map((name) => headers.get(name)),
      ["same-origin", "no-referrer", "nosniff", "no-cache", "Accept-Encoding"],
    );
    // Inline, the policy would not let them run.
    assert.doesNotMatch(text, /<script(?! src=)|<style|\son[a-z]+=|\sstyle=/i);
  });

  it("finds all that the page names beneath the page, under a base path too", async () => {
    for (const one of [service, mounted]) {
      const page = await one.call("GET", "/reference", { as: null });
      const start = await one.call("GET", "/reference/start.js", { as: null });
      const named = [...page.text.matchAll(/(?:href|src)="([^"]*)"|url: "([^"]*)"/g)].map(
        (match) => match[1] ?? "",
      );
      const spec = /url: "([^"]*)"/.exec(start.text)?.[1] ?? "";
      const addresses = [...named, spec].filter((address) => address !== "data:,");
      assert.ok(addresses.length >= 6, addresses.join());
      for (const address of addresses) {
        const url = new URL(address, `${one.url}/reference`);
        assert.ok(url.href.startsWith(`${one.url}/`), url.href);
        const answer = await fetch(url);
        assert.equal(answer.status, 200, url.href);
        assert.notEqual((await answer.text()).length, 0);
        // A browser takes nothing else for it, because of `nosniff`.
        const extension = /\.(css|js)$/.exec(url.pathname)?.[1];
        if (extension !== undefined)
          assert.equal(answer.headers.get("content-type"), `${TYPES[extension]}; charset=utf-8`, url.href);
      }
    }
  });

  it("serves the library whole, compressed for those who take that and plain for others", async () => {
    const url = `${service.url}/reference/swagger-ui-bundle.js`;
    const plain = await fetch(url, { headers: { "accept-encoding": "identity" } });
    const zipped = await fetch(url, { headers: { "accept-encoding": "gzip" } });
    assert.deepEqual(
      [plain, zipped].map(({ headers }) => [headers.get("content-encoding"), headers.get("content-type")]),
      [
        [null, "text/javascript; charset=utf-8"],
        ["gzip", "text/javascript; charset=utf-8"],
      ],
    );
    const text = await plain.text();
    assert.match(text, /SwaggerUIBundle/);
    assert.equal(await zipped.text(), text);
  });

  it("serves nothing else of the package, and only GET and HEAD", async () => {
    for (const path of ["package.json", "..%2Fpackage.json", "swagger-ui-bundle.js.map"]) {
      assert.equal((await service.call("GET", `/reference/${path}`, { as: null })).status, 404, path);
    }
    const posted = await service.call("POST", "/reference", { as: null });
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
  });

  it("is not served by a worker alone, as the API is not", async () => {
    const worker = await startTestService({ database, roles: ["worker"] });
    assert.equal((await worker.call("GET", "/reference", { as: null })).status, 404);
    await worker.stop();
  });
});
