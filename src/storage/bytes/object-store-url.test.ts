import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseObjectStoreUrl } from "./object-store-url.ts";

describe("OBJECT_STORE_URL", () => {
  it("names a bucket of AWS by its region", () => {
    assert.deepEqual(parseObjectStoreUrl("s3://my-bucket?region=eu-central-1"), {
      store: { kind: "s3", bucket: "my-bucket", region: "eu-central-1", endpoint: null, waivers: [] },
    });
  });

  it("names another store by its endpoint, with the rules that it does not know", () => {
    const url = "s3://my-bucket?endpoint=http://127.0.0.1:7070/&region=us-east-1&waive=BR-07,BR-01";
    assert.deepEqual(parseObjectStoreUrl(url), {
      store: {
        kind: "s3",
        bucket: "my-bucket",
        region: "us-east-1",
        endpoint: "http://127.0.0.1:7070",
        waivers: ["BR-07", "BR-01"],
      },
    });
  });

  const faults: [url: string, fault: RegExp][] = [
    ["my-bucket", /must be s3:\/\/bucket\?region=/],
    ["https://my-bucket?region=us-east-1", /must be s3:/],
    ["s3://my-bucket/folder?region=us-east-1", /must be s3:/],
    ["s3://key:secret@my-bucket?region=us-east-1", /must not hold a credential/],
    ["s3://x?region=us-east-1", /must name a bucket/],
    ["s3://my-bucket", /needs a region/],
    ["s3://my-bucket?region=us-east-1&region=eu-west-1", /parameter twice/],
    ["s3://my-bucket?region=us-east-1&prefix=x", /unknown parameter prefix/],
    ["s3://my-bucket?region=us-east-1&endpoint=http://store.example", /needs an https endpoint/],
    ["s3://my-bucket?region=us-east-1&endpoint=http://127.0.0.1.example", /needs an https endpoint/],
    ["s3://my-bucket?region=us-east-1&endpoint=https://store.example/path", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&waive=BR-99", /may waive bucket rules only/],
  ];
  for (const [url, fault] of faults) {
    it(`refuses ${url}`, () => {
      const parsed = parseObjectStoreUrl(url);
      assert.ok("fault" in parsed);
      assert.match(parsed.fault, fault);
    });
  }
});
