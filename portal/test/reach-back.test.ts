/** The log's time for an event that a person looks for. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { MONTH_MS, reachBack } from "../src/deliveries/reach-back.ts";

const HOUR_MS = 3_600_000;
const now = new Date("2026-11-28T12:00:00Z");

/** An event's id of that time. */
function idAt(ms: number): string {
  const digits = ms.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

const before = (ms: number) => new Date(now.getTime() - ms);
const reached = (agoMs: number, from: Date) => reachBack(idAt(now.getTime() - agoMs), from, now);

it("begins an hour before the event, as the database's clock may be behind", () => {
  const day = before(24 * HOUR_MS);
  assert.deepEqual(reached(23 * HOUR_MS, day), { to: undefined });
  const month = { range: "30d", from: undefined, to: undefined };
  assert.deepEqual(reached(23 * HOUR_MS + 1, day), month);
  assert.deepEqual(reached(MONTH_MS - HOUR_MS, day), month);
  const own = before(MONTH_MS + 1).toISOString();
  assert.deepEqual(reached(MONTH_MS - HOUR_MS + 1, day), { range: undefined, from: own, to: undefined });
});

it("stays as it is for an id that has no time", () => {
  assert.deepEqual(reachBack("7d0bd6a9-4d6c-4d41-9b3e-5a4d9f6f1b11", before(0), now), { to: undefined });
});
