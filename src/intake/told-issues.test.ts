import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toldIssues } from "./told-issues.ts";

describe("issues for the log", () => {
  it("are as they are where they are short", () => {
    const issues = [{ path: [1, "data"], message: "must be an object", code: "invalid_type" }];
    assert.deepEqual(toldIssues(issues), issues);
    assert.deepEqual(toldIssues(), []);
  });

  it("are few and short whatever a producer names its members", () => {
    const long = "a".repeat(1_000_000);
    const issue = {
      path: Array.from({ length: 1000 }, () => long),
      message: long,
      code: "unrecognized_keys",
    };
    const told = toldIssues(Array.from({ length: 1000 }, () => issue));
    assert.equal(told.length, 10);
    assert.equal(told[0]?.path.length, 20);
    assert.equal(told[0]?.path[0], `${"a".repeat(100)}…`);
    assert.equal(told[0]?.message, `${"a".repeat(300)}…`);
  });
});
