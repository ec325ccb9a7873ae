import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { maskLogin, parseIntakeUrl } from "./intake-url.ts";

const none = { kind: "none" } as const;

describe("INTAKE_URL", () => {
  it("names the servers of a cluster", () => {
    assert.deepEqual(parseIntakeUrl("nats://a,b:4333,[fd00::2]:4222"), {
      servers: ["a:4222", "b:4333", "[fd00::2]:4222"],
      tls: false,
      login: none,
    });
    assert.deepEqual(parseIntakeUrl("tls://nats.example.com/"), {
      servers: ["nats.example.com:4222"],
      tls: true,
      login: none,
    });
  });

  it("has one login for all of them", () => {
    assert.deepEqual(parseIntakeUrl("nats://postern:p%40ss%3aword@a,b")?.login, {
      kind: "password",
      user: "postern",
      pass: "p@ss:word",
    });
    assert.deepEqual(parseIntakeUrl("nats://post%40ern:a:b@a")?.login, {
      kind: "password",
      user: "post@ern",
      pass: "a:b",
    });
    assert.deepEqual(parseIntakeUrl("nats://s3%2Fcret@a")?.login, { kind: "token", token: "s3/cret" });
  });

  for (const text of [
    "",
    "a:4222",
    "http://a",
    "nats://",
    "nats://a,",
    "nats://a b",
    "nats://a:0",
    "nats://a:65536",
    "nats://a/path",
    "nats://a?x=1",
    "nats://x@a@b",
    "nats://%zz@a",
    "nats://-a",
  ]) {
    it(`is not ${text || "empty"}`, () => assert.equal(parseIntakeUrl(text), null));
  }

  it("is shown without its password or token", () => {
    for (const [text, shown] of [
      ["nats://user:pass@a,b", "nats://user:********@a,b"],
      ["nats://user:pa:ss@a", "nats://user:********@a"],
      ["tls://token@a", "tls://********@a"],
      ["nats://a,b", "nats://a,b"],
      ["user:pass@a", "********"],
    ] as const)
      assert.equal(maskLogin(text), shown);
  });
});
