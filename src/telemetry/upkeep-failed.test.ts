import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeMetrics } from "./metrics.ts";
import { upkeepFailed } from "./upkeep-failed.ts";

describe("a failure of upkeep", () => {
  it("is counted under its name each time, and told once in ten seconds", async () => {
    const lines: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void lines.push(line) };
    const metrics = makeMetrics();
    const failed = upkeepFailed({ log, metrics }, "make_coffee", "upkeep failed");
    const [first, second] = [new Error("no water"), new Error("no beans")];
    failed(first);
    failed(second);
    assert.deepEqual(lines, [[{ work: "make_coffee", err: first, times: 1 }, "upkeep failed"]]);
    const { values } = await metrics.upkeepFailures.get();
    assert.deepEqual(
      values.map(({ labels, value }) => ({ labels, value })),
      [{ labels: { work: "make_coffee" }, value: 2 }],
    );
  });
});
