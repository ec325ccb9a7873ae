import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { publicBase } from "./public-base.ts";
import { codeOf, hasCode } from "./error-code.ts";
import { messageOf, reasonOf } from "./message-of.ts";
import { parseJson } from "./parse-json.ts";
import { ConfigError } from "./config-error.ts";
import { Refusal } from "./refusal.ts";
import { isSameSecret } from "./same-secret.ts";
import { withoutSlash } from "./without-slash.ts";

const at = (host: string) => publicBase({ publicUrl: undefined, host, port: 80, basePath: "/hooks" });

describe("two texts", () => {
  it("are one secret only where every character is the same", () => {
    const secret = "süß 🍰 and long enough";
    assert.equal(isSameSecret(secret, secret), true);
    for (const other of ["", secret.slice(1), `${secret} `, secret.toUpperCase()]) {
      assert.equal(isSameSecret(other, secret), false, other);
      assert.equal(isSameSecret(secret, other), false, other);
    }
  });
});

describe("the address of the API", () => {
  it("is the public one where there is one", () => {
    const publicUrl = "https://hooks.example.com/hooks";
    assert.equal(publicBase({ publicUrl, host: "0.0.0.0", port: 80, basePath: "/other" }), publicUrl);
  });

  it("else names this machine as it can be called", () => {
    const urls = ["127.0.0.1", "0.0.0.0", "::", "::1", "10.0.0.7", "host.internal"].map(at);
    const hosts = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "[::1]", "10.0.0.7", "host.internal"];
    assert.deepEqual(
      urls,
      hosts.map((host) => `http://${host}:80/hooks`),
    );
  });
});

describe("a text of JSON", () => {
  it("is its value, and null where it is none", () => {
    assert.deepEqual(["[1]", "null", "{", ""].map(parseJson), [[1], null, null, null]);
  });
});

describe("an address", () => {
  it("loses the slash at its end, and no other", () => {
    for (const [text, short] of [
      ["http://a/b/", "http://a/b"],
      ["http://a/b", "http://a/b"],
      ["/", ""],
    ] as const) {
      assert.equal(withoutSlash(text), short);
    }
  });
});

describe("an error", () => {
  it("has a code, or none, and is one of several by any of theirs", () => {
    const error = Object.assign(new Error("no"), { code: "EEXIST" });
    assert.equal(codeOf(error), "EEXIST");
    assert.ok(hasCode(error, "ENOTEMPTY", "EEXIST") && hasCode(error, "EEXIST", "ENOTEMPTY"));
    assert.ok(!hasCode(error, "ENOTEMPTY") && !hasCode(error));
    for (const other of [new Error("no"), Object.assign(new Error("no"), { code: 7 }), { code: "EEXIST" }]) {
      assert.equal(codeOf(other), "");
    }
  });

  it("says by its cause why, where it has one", () => {
    assert.equal(
      reasonOf(new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") })),
      "connect ECONNREFUSED",
    );
    assert.equal(reasonOf(new Error("fetch failed")), "fetch failed");
    assert.equal(reasonOf("text"), "text");
    const told = { code: "EPROTO", library: "SSL routines", reason: "wrong version number" };
    const cause = Object.assign(
      new Error("406D:error:0A00010B:SSL routines:tls_validate:../deps/:77:\n"),
      told,
    );
    assert.equal(
      reasonOf(new Error("fetch failed", { cause })),
      "TLS: wrong version number (does it speak plain http?)",
    );
    cause.reason = "tlsv13 alert certificate required";
    assert.equal(reasonOf(cause), "TLS: tlsv13 alert certificate required");
  });

  it("says what it says without a point at its end, and for one of several all that they say", () => {
    const each = ["no route to 10.0.0.7.", "no route to 10.0.0.8"].map((message) => new Error(message));
    const told = [each[0], new AggregateError(each), new AggregateError(each, "Refused."), "no error"];
    assert.deepEqual(told.map(messageOf), [
      "no route to 10.0.0.7",
      "no route to 10.0.0.7; no route to 10.0.0.8",
      "Refused",
      "no error",
    ]);
  });

  it("has its own name, and a refusal what a caller is told", () => {
    assert.equal(new ConfigError("x").name, "ConfigError");
    const { name, message, code, issues, retryAfterS, reason } = new Refusal("gone", { retryAfterS: 2 });
    assert.deepEqual(
      { name, message, code, issues, retryAfterS, reason },
      {
        name: "Refusal",
        message: "gone",
        code: "gone",
        issues: undefined,
        retryAfterS: 2,
        reason: undefined,
      },
    );
  });
});
