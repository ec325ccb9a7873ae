/** Long answers are compressed for callers who take it, and are the same for those who don't. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import * as z from "zod";
import { getAsIs } from "./support/get-as-is.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** 720 buckets, some 70 kB, and the same for whoever asks. */
const LONG = "/api/stats?from=2026-03-02T00:00:00Z&to=2026-03-07T00:00:00Z&bucket=10m";
const SHORT = "/api/webhooks";

describe("an answer", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startTestService();
    token = await service.token(OWNER);
  });
  after(() => service.stop());

  const ask = (path: string, encoding?: string) =>
    getAsIs(service.url, path, {
      Authorization: `Bearer ${token}`,
      ...(encoding !== undefined && { "Accept-Encoding": encoding }),
    });

  it("that is long is compressed for callers who take it", async () => {
    const plain = await ask(LONG);
    assert.equal(plain.statusCode, 200);
    assert.equal(plain.headers["content-encoding"], undefined);
    for (const encoding of ["gzip", "br, gzip;q=0.5", "deflate,gzip"]) {
      const { statusCode, headers, body } = await ask(LONG, encoding);
      assert.equal(statusCode, 200);
      assert.equal(headers["content-encoding"], "gzip");
      assert.equal(headers["content-length"], String(body.length));
      assert.equal(headers["content-type"], plain.headers["content-type"]);
      assert.deepEqual(gunzipSync(body), plain.body);
      assert.ok(body.length * 5 < plain.body.length, `${body.length} of ${plain.body.length}`);
    }
  });

  it("is compressed where it shows an event with a long body", async () => {
    const json = { type: "invoice.paid", data: { note: "a".repeat(40_000) } };
    const { body: event } = await service.call("POST", "/api/events", { as: PRODUCER, json });
    const path = `/api/events/${z.object({ id: z.string() }).parse(event).id}`;
    const [plain, compressed] = [await ask(path), await ask(path, "gzip")];
    assert.deepEqual([plain.statusCode, compressed.headers["content-encoding"]], [200, "gzip"]);
    assert.deepEqual(gunzipSync(compressed.body), plain.body);
  });

  it("is left as it is for callers who don't take gzip, and says that it depends on them", async () => {
    for (const encoding of ["identity", "br", "gzip;q=0", "gzip; q=0.0, br", "xgzip", ""]) {
      const { headers, body } = await ask(LONG, encoding);
      assert.equal(headers["content-encoding"], undefined, encoding);
      assert.equal(headers.vary, "Accept-Encoding");
      assert.equal(JSON.parse(body.toString()).buckets.length, 720);
    }
  });

  it("that is short, or an error, is not compressed", async () => {
    const short = await ask(SHORT, "gzip");
    assert.deepEqual([short.statusCode, short.headers["content-encoding"]], [200, undefined]);
    assert.deepEqual(JSON.parse(short.body.toString()), { endpoints: [] });
    const refused = await ask(`${LONG}&bucket=1d`, "gzip");
    assert.deepEqual([refused.statusCode, refused.headers["content-encoding"]], [400, undefined]);
  });
});
