import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDurationMs } from "./duration.ts";

describe("a duration", () => {
  it("is a whole number and its unit", () => {
    const known = { "0s": 0, "500ms": 500, "90s": 90_000, "5m": 300_000, "2h": 7_200_000, "5d": 432_000_000 };
    for (const [text, ms] of Object.entries(known)) assert.equal(parseDurationMs(text), ms, text);
  });

  it("is nothing else", () => {
    for (const text of [
      "",
      "5",
      "s",
      "-1s",
      "1.5h",
      "5 m",
      "5M",
      "1h30m",
      "5w",
      "1e3s",
      "9999999999s",
      "5s\n",
    ]) {
      assert.equal(parseDurationMs(text), null, text);
    }
  });
});
