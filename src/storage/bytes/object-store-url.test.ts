import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isSecureOrLoopback, parseObjectStoreUrl } from "./object-store-url.ts";

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
    ["s3://my-bucket?region=us-east-1#part", /must be s3:/],
    ["s3://key:secret@my-bucket?region=us-east-1", /must not hold a credential/],
    ["s3://key@my-bucket?region=us-east-1", /must not hold a credential/],
    ["s3://:secret@my-bucket?region=us-east-1", /must not hold a credential/],
    ["s3://x?region=us-east-1", /must name a bucket/],
    ["s3://my-bucket", /needs a region/],
    ["s3://my-bucket?region=US-EAST-1", /needs a region, such as region=us-east-1/],
    ["s3://my-bucket?region=us_east", /needs a region/],
    [`s3://my-bucket?region=${"a".repeat(33)}`, /needs a region/],
    ["s3://my-bucket?region=us-east-1&region=eu-west-1", /parameter twice/],
    ["s3://my-bucket?region=us-east-1&prefix=x", /unknown parameter prefix/],
    ["s3://my-bucket?region=us-east-1&endpoint=http://store.example", /needs an https endpoint/],
    ["s3://my-bucket?region=us-east-1&endpoint=http://127.0.0.1.example", /needs an https endpoint/],
    ["s3://my-bucket?region=us-east-1&endpoint=", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=https://store.example/path", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=https://store.example?x=1", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=https://a@store.example", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=ftp://store.example", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=xhttps://store.example", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&endpoint=https://store.example:99999", /scheme, host and port alone/],
    ["s3://my-bucket?region=us-east-1&waive=BR-99", /may waive bucket rules only/],
  ];
  for (const [url, fault] of faults) {
    it(`refuses ${url}`, () => {
      const parsed = parseObjectStoreUrl(url);
      assert.ok("fault" in parsed);
      assert.match(parsed.fault, fault);
    });
  }

  it("takes the slash behind the bucket, an encrypted endpoint, and a rule that is waived twice", () => {
    const url = "s3://my-bucket/?region=us-east-1&endpoint=https://store.example:9000&waive=BR-01,BR-01";
    assert.deepEqual(parseObjectStoreUrl(url), {
      store: {
        kind: "s3",
        bucket: "my-bucket",
        region: "us-east-1",
        endpoint: "https://store.example:9000",
        waivers: ["BR-01"],
      },
    });
  });
});

it("an address is good for what is secret if it is encrypted, or of this machine", () => {
  const good = [
    "https://store.example",
    "http://localhost:9000",
    "http://[::1]:9000",
    "http://127.0.0.1",
    "http://127.255.255.254/path",
  ];
  const bad = [
    "http://store.example",
    "http://xlocalhost",
    "http://localhost.example",
    "http://127.0.0.1.example",
    "http://a127.0.0.1",
    "http://[::2]",
    "ftp://localhost",
    "localhost",
    "",
  ];
  assert.deepEqual(
    good.filter((text) => !isSecureOrLoopback(text)),
    [],
  );
  assert.deepEqual(bad.filter(isSecureOrLoopback), []);
});
