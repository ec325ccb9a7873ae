import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withinLimit } from "./time-limit.ts";

/** Above what anything else in this process waits for. */
const LIMIT_MS = 30_000;

const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
const late = () => new Error("late");

describe("a time limit", () => {
  it("leaves no timer behind, whether the work succeeds or fails", async () => {
    const before = countTimers();
    assert.equal(await withinLimit(Promise.resolve("done"), LIMIT_MS, late), "done");
    await assert.rejects(withinLimit(Promise.reject(new Error("failed")), LIMIT_MS, late), /failed/);
    const limited = withinLimit(new Promise((resolve) => setImmediate(resolve)), LIMIT_MS, late);
    assert.equal(countTimers(), before + 1);
    await limited;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(countTimers(), before);
  });
});
