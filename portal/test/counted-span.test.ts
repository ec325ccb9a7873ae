/** The part of a time that is counted. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { countedFrom } from "../src/deliveries/counted-span.ts";

const DAY_MS = 86_400_000;
const to = new Date("2026-11-28T12:00:00.000Z");

it("is the whole of 400 days, and of more their last 399, from the begin of a day of UTC on", () => {
  const whole = new Date(to.getTime() - 400 * DAY_MS);
  assert.equal(countedFrom({ from: whole, to }), whole);
  const more = countedFrom({ from: new Date(whole.getTime() - 1), to });
  assert.equal(more.toISOString(), "2025-10-26T00:00:00.000Z");
});

it("ends now where the time has no end", (test) => {
  test.mock.timers.enable({ apis: ["Date"], now: to });
  const from = new Date(to.getTime() - 401 * DAY_MS);
  assert.equal(countedFrom({ from, to: null }).toISOString(), "2025-10-26T00:00:00.000Z");
});
