import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { issueAt, Refusal } from "./refusal.ts";

describe("a refusal", () => {
  it("keeps what its answer tells, and for the operator its cause", () => {
    const cause = new Error("a port is taken");
    const issues = [issueAt("url", "must be public")];
    const refusal = new Refusal("forbidden", { issues, retryAfterS: 2, reason: "no role", cause });
    const { code, name, retryAfterS, reason } = refusal;
    assert.deepEqual(
      { code, name, retryAfterS, reason },
      { code: "forbidden", name: "Refusal", retryAfterS: 2, reason: "no role" },
    );
    assert.equal(refusal.issues, issues);
    assert.equal(refusal.cause, cause);
  });
});
