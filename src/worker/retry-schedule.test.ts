import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as fc from "fast-check";
import { nextDelayMs, parseRetryAfterMs } from "./retry-schedule.ts";

const DAY_MS = 86_400_000;
const NOW = new Date("2026-01-31T12:00:00.000Z");

describe("nextDelayMs", () => {
  const schedule = [0, 5000, 300_000];

  it("waits what the schedule says, and ends with it", () => {
    const delays = [1, 2, 3, 4].map((attempt) =>
      nextDelayMs(attempt, schedule, { random: 0, retryAfterMs: null }),
    );
    assert.deepEqual(delays, [5000, 300_000, null, null]);
    assert.equal(nextDelayMs(1, [0], { random: 0, retryAfterMs: 60_000 }), null);
  });

  it("adds a tenth at most, lets a receiver lengthen the wait up to a day, and never shortens it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30 * DAY_MS }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 15 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 1e12 })),
        (scheduleMs, attempt, random, retryAfterMs) => {
          const delay = nextDelayMs(attempt, scheduleMs, { random, retryAfterMs });
          const scheduled = scheduleMs[attempt];
          assert.equal(delay === null, scheduled === undefined);
          if (delay === null || scheduled === undefined) return;
          const asked = Math.min(retryAfterMs ?? 0, DAY_MS);
          assert.ok(Number.isInteger(delay));
          assert.ok(delay >= scheduled && delay >= asked);
          assert.ok(delay <= Math.max(Math.ceil(scheduled * 1.1), asked));
        },
      ),
    );
  });
});

describe("parseRetryAfterMs", () => {
  // A date is in GMT, wherever the process runs.
  const zone = process.env["TZ"];
  before(() => void (process.env["TZ"] = "Asia/Tokyo"));
  after(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });

  const cases: [string | undefined, number | null][] = [
    [undefined, null],
    ["", null],
    ["0", 0],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["99999999999", 99_999_999_999_000],
    ["-1", null],
    ["1.5", null],
    ["1e3", null],
    ["soon", null],
    ["2026-02-01", null],
    ["Sat, 31 Jan 2026 12:00:30 GMT", 30_000],
    ["Sat, 31 Jan 2026 11:00:00 GMT", 0],
    ["Saturday, 31-Jan-26 12:00:30 GMT", 30_000],
    ["Sat Jan 31 12:01:00 2026", 60_000],
    ["Sat Jan 31 12:01:00 2026 GMT", 60_000],
    ["Try 5", null],
    ["not before Sat, 31 Jan 2026 12:00:30 GMT", null],
    ["Sat, 99 Foo 2026 12:00:00 GMT", null],
  ];
  for (const [value, expected] of cases) {
    it(`reads ${JSON.stringify(value)} as ${expected}`, () => {
      assert.equal(parseRetryAfterMs(value, NOW), expected);
    });
  }
});
