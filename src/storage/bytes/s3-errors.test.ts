import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailableError } from "./bucket.ts";
import { isUnsupported, refusalOf, unavailable } from "./s3-errors.ts";

function refused(name: string, httpStatusCode?: unknown, message = "the reason"): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });
}

describe("a store's refusal", () => {
  it("has the store's word for it and the status of its answer", () => {
    assert.deepEqual(refusalOf(refused("NoSuchKey", 404)), { name: "NoSuchKey", status: 404 });
  });

  it("has no status where no answer came", () => {
    const withoutAnswer = [
      refused("TimeoutError"),
      new Error("gone"),
      refused("TimeoutError", "404"),
      Object.assign(new Error("gone"), { $metadata: null }),
      Object.assign(new Error("gone"), { $metadata: "none" }),
      Object.assign(new Error("gone"), { $metadata: { attempts: 1 } }),
    ];
    assert.deepEqual(
      withoutAnswer.map((error) => refusalOf(error).status),
      withoutAnswer.map(() => undefined),
    );
    assert.deepEqual(refusalOf("no error"), { name: "", status: undefined });
  });

  it("says of a feature that it is not known there in one of four ways", () => {
    const ways = [
      { name: "X", status: 501 },
      { name: "X", status: 405 },
      { name: "NotImplemented", status: 400 },
      { name: "MethodNotAllowed", status: undefined },
      { name: "AccessDenied", status: 403 },
      { name: "X", status: 500 },
    ];
    assert.deepEqual(ways.map(isUnsupported), [true, true, true, true, false, false]);
  });
});

describe("a store that is unavailable", () => {
  it("is told of by what it could not do, its status, its word and its reason", () => {
    const cause = refused("AccessDenied", 403, "no such right");
    const error = unavailable("list the bucket (s3:ListBucket)", cause);
    assert.ok(error instanceof StoreUnavailableError);
    assert.equal(
      error.message,
      "the object store cannot list the bucket (s3:ListBucket): 403 AccessDenied: no such right",
    );
    assert.equal(error.cause, cause);
  });

  it("is told of by the reason alone where no answer came, or by that there is none", () => {
    const messages = [new Error("ECONNREFUSED"), new Error(""), "no error"].map(
      (error) => unavailable("put", error).message,
    );
    assert.deepEqual(messages, [
      "the object store cannot put: ECONNREFUSED",
      "the object store cannot put: no reason given",
      "the object store cannot put: no reason given",
    ]);
  });
});
