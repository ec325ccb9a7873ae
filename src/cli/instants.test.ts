import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { instantOf } from "./instants.ts";
import { parseWait } from "./parse-wait.ts";

describe("a time at the command line", () => {
  it("may be a day or an instant of any zone, and without one is now", () => {
    assert.equal(instantOf("--from", "2026-01-31"), "2026-01-31T00:00:00.000Z");
    assert.equal(instantOf("--from", "2026-01-31T12:00:00+02:00"), "2026-01-31T10:00:00.000Z");
    mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 31, 1, 2, 3, 4) });
    assert.equal(instantOf("--to", undefined), "2026-01-31T01:02:03.004Z");
    mock.timers.reset();
  });

  it("is refused by the name of its option where it is none", () => {
    for (const text of ["soon", ""]) {
      assert.throws(() => instantOf("--to", text), {
        name: "ConfigError",
        message: `--to ${text} is not a time such as 2026-01-31`,
      });
    }
  });
});

describe("a wait at the command line", () => {
  it("is a duration in milliseconds", () => {
    assert.deepEqual(["0s", "60s", "2m"].map(parseWait), [0, 60_000, 120_000]);
    assert.throws(
      () => parseWait("soon"),
      new ConfigError("--wait soon is not a duration such as 60s or 2m"),
    );
  });
});
