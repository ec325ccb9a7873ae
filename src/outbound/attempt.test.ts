import assert from "node:assert/strict";
import { it } from "node:test";
import { Attempt, type AttemptOutcome } from "./attempt.ts";

const REQUEST = {
  origin: "https://example.com",
  path: "/",
  method: "POST",
  headers: {},
  body: "{}",
  keepsWholeBody: false,
} as const;
const LIMITS = { maxBodyBytes: 10, maxAnswerBytes: 100, maxInformationalAnswers: 1 };

it("an attempt's time runs from before its look-up: its limit, and the latency that is told", async () => {
  const outcome = await new Promise<AttemptOutcome>((resolve, reject) => {
    // One whose look-up took ten seconds.
    const startedAtMs = performance.now() - 10_000;
    void new Attempt(
      REQUEST,
      startedAtMs,
      { ...LIMITS, attemptTimeoutMs: 10_000 },
      {
        settled: (_attempt, ended) => resolve(ended),
        crashed: (_attempt, error) => reject(error),
        lostIdleConnection: () => undefined,
      },
    );
  });
  assert.ok(outcome.kind === "failed" && outcome.error === "timeout");
  assert.ok(outcome.latencyMs >= 10_000, `${outcome.latencyMs} ms`);
});
