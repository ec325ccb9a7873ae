import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { instantOf } from "./instants.ts";
import { parseWait } from "./parse-wait.ts";

describe("a time at the command line", () => {
  it("may be a day or what the API takes, also without seconds, and without one is now", () => {
    for (const [text, at] of [
      ["2026-01-31", "2026-01-31T00:00:00.000Z"],
      ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00.000Z"],
      ["2026-01-31T12:00+02:00", "2026-01-31T10:00:00.000Z"],
      ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
      ["2026-01-31T12:00:00.0001Z", "2026-01-31T12:00:00.001Z"],
    ] as const)
      assert.equal(instantOf("--from", text), at);
    mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 31, 1, 2, 3, 4) });
    assert.equal(instantOf("--to", undefined), "2026-01-31T01:02:03.004Z");
    mock.timers.reset();
  });

  it("is refused by the name of its option where it is none, or could be one of several", () => {
    for (const text of ["soon", "", "1", "2026-02-31", "12/1/2026", "Jan 5 2026", "2026-01-31T24:00Z"]) {
      assert.throws(() => instantOf("--to", text), {
        name: "ConfigError",
        message: `--to ${text} is not a time such as 2026-01-31 or 2026-01-31T10:00Z`,
      });
    }
    for (const text of ["2026-01-31T10:00", "2026-01-31T10:00:00"]) {
      assert.throws(() => instantOf("--to", text), {
        name: "ConfigError",
        message: `--to ${text} has no offset.\nEnd it with Z where it is in UTC, or with one such as +01:00.`,
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
