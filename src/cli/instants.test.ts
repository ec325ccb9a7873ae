import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { ConfigError } from "../shared/config-error.ts";
import { instantOf } from "./instants.ts";
import { parseWait } from "./parse-wait.ts";

describe("a time at the command line", () => {
  it("may be a day or an instant of any zone, and without one is now", () => {
    assert.equal(instantOf("--from", "2026-01-31"), "2026-01-31T00:00:00.000Z");
    assert.equal(instantOf("--from", "2026-01-31T12:00:00+02:00"), "2026-01-31T10:00:00.000Z");
    assert.equal(instantOf("--from", "2026-01-31T08:00Z"), "2026-01-31T08:00:00.000Z");
    assert.equal(instantOf("--from", "2026-01-31T08:00-05:30"), "2026-01-31T13:30:00.000Z");
    assert.equal(instantOf("--from", "2026-01-31T08:00:01.25Z"), "2026-01-31T08:00:01.250Z");
    assert.equal(instantOf("--from", "2028-02-29"), "2028-02-29T00:00:00.000Z");
    mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 0, 31, 1, 2, 3, 4) });
    assert.equal(instantOf("--to", undefined), "2026-01-31T01:02:03.004Z");
    mock.timers.reset();
  });

  it("is refused by the name of its option where it is none", () => {
    for (const text of ["soon", ""]) {
      assert.throws(() => instantOf("--to", text), {
        name: "ConfigError",
        message: `--to ${text} is not a time such as 2026-01-31 or 2026-01-31T08:00Z`,
      });
    }
  });

  it("is refused where it would have to be guessed", () => {
    const dates = ["03/04/2026", "2026-1-5", "2026-02-30", "2026-11", "2026", "Jan 31 2026"];
    const numbers = ["5", "0", "-1", "last 5"];
    const withoutOffset = ["2026-01-31T08:00", "2026-01-31T08:00:00", "2026-01-31 08:00"];
    const impossible = ["2026-01-31T24:00Z", "2026-01-31T08:60Z", "2026-01-31T08:00+24:00", "2027-02-29"];
    for (const text of [...dates, ...numbers, ...withoutOffset, ...impossible])
      assert.throws(() => instantOf("--from", text), / is not a time such as /, text);
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
