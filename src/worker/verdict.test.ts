import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { SendOutcome } from "../outbound/send.ts";
import { judgeAttempt } from "./verdict.ts";

const circumstances = { scheduleMs: [0, 5000, 60_000], random: 0, now: new Date("2026-01-31T12:00:00.000Z") };

function answered(status: number, headers: Record<string, string> = {}): SendOutcome {
  return { kind: "answered", status, headers, body: "body", latencyMs: 7 };
}

const waits = (status: number, value: string) =>
  judgeAttempt(answered(status, { "retry-after": value }), 1, circumstances).nextDelayMs;

describe("an answer", () => {
  it("is delivered for 2xx alone, and then nothing follows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), fc.integer({ min: 1, max: 5 }), (status, attempt) => {
        const verdict = judgeAttempt(answered(status), attempt, circumstances);
        assert.equal(verdict.status, status < 300 ? "delivered" : "failed");
        assert.equal(verdict.nextDelayMs !== null, status >= 300 && attempt < 3);
        assert.equal(verdict.isGone, status === 410);
        assert.deepEqual(
          [verdict.responseStatus, verdict.responseBody, verdict.latencyMs, verdict.error],
          [status, "body", 7, null],
        );
      }),
    );
  });

  it("is recorded whole, and tried again a little later than the schedule says", () => {
    const verdict = judgeAttempt(answered(500, { "x-a": "b" }), 1, { ...circumstances, random: 0.5 });
    assert.deepEqual(verdict, {
      status: "failed",
      responseStatus: 500,
      responseHeaders: { "x-a": "b" },
      responseBody: "body",
      latencyMs: 7,
      error: null,
      nextDelayMs: 5250,
      isGone: false,
    });
  });

  it("may ask to wait with 429 and 503, and with no other status", () => {
    assert.equal(waits(429, "3600"), 3_600_000);
    assert.equal(waits(503, "Sat, 31 Jan 2026 13:00:00 GMT"), 3_600_000);
    assert.equal(waits(503, "999999999"), 86_400_000);
    assert.equal(waits(429, "1"), 5000);
    for (const status of [301, 400, 500, 502]) assert.equal(waits(status, "3600"), 5000);
  });
});

describe("no answer", () => {
  it("is failed with its reason, and tried again", () => {
    assert.deepEqual(
      judgeAttempt({ kind: "failed", error: "timeout", latencyMs: 15_000 }, 2, circumstances),
      {
        status: "failed",
        responseStatus: null,
        responseHeaders: null,
        responseBody: null,
        latencyMs: 15_000,
        error: "timeout",
        nextDelayMs: 60_000,
        isGone: false,
      },
    );
  });

  it("is blocked_target where the target is not public", () => {
    const verdict = judgeAttempt({ kind: "unsafe", rule: "not_public" }, 1, {
      ...circumstances,
      random: 0.5,
    });
    assert.deepEqual(
      [verdict.status, verdict.error, verdict.latencyMs, verdict.nextDelayMs],
      ["failed", "blocked_target", 0, 5250],
    );
  });
});
