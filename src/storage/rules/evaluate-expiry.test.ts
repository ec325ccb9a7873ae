import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { evaluateExpiry, type EvaluateExpiryInput } from "./evaluate-expiry.ts";
import { DAY_MS, fromMs, toMs } from "./instants.ts";
import { objectState } from "./stored-object.ts";

const DEADLINE_MS = Date.UTC(2026, 5, 1);
const nearDeadline = fc.oneof(
  fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS }),
  fc.constantFrom(-DAY_MS - 1, -DAY_MS, -DAY_MS + 1, -1, 0, 1),
);

const evaluation: fc.Arbitrary<EvaluateExpiryInput> = fc.record({
  object: fc.record({
    id: fc.constant("00000000-0000-4000-8000-0000000000c0"),
    state: fc.constantFrom(...objectState.options),
    deadline: fc.constantFrom(fromMs(DEADLINE_MS), fromMs(DEADLINE_MS), null),
    hold: fc.boolean(),
    revision: fc.integer({ min: 1, max: 9 }),
  }),
  now: nearDeadline.map((offset) => fromMs(DEADLINE_MS + offset)),
});

describe("evaluateExpiry", () => {
  it("expires exactly at the deadline and not before", () => {
    fc.assert(
      fc.property(evaluation, (input) => {
        const { state, deadline, hold } = input.object;
        const isAlive = state === "available" || state === "missing";
        const isPast = deadline !== null && toMs(input.now) >= toMs(deadline);
        assert.equal(evaluateExpiry(input).output.code === "EXPIRED", isAlive && !hold && isPast);
      }),
    );
  });

  it("stays expired however much time passes", () => {
    fc.assert(
      fc.property(evaluation, fc.integer({ min: 0, max: DAY_MS }), (input, later) => {
        if (evaluateExpiry(input).output.code !== "EXPIRED") return;
        const now = fromMs(toMs(input.now) + later);
        assert.equal(evaluateExpiry({ ...input, now }).output.code, "EXPIRED");
      }),
    );
  });

  it("allows a download only to an available artifact that has not expired", () => {
    fc.assert(
      fc.property(evaluation, (input) => {
        const { output } = evaluateExpiry(input);
        if (!output.download_allowed) return;
        assert.equal(input.object.state, "available");
        assert.notEqual(output.code, "EXPIRED");
      }),
    );
  });

  it("deletes nothing: its only change closes the row", () => {
    fc.assert(
      fc.property(evaluation, (input) => {
        const { output, mutations } = evaluateExpiry(input);
        assert.equal(mutations.length, output.code === "EXPIRED" ? 1 : 0);
        for (const { target, to } of mutations) assert.deepEqual([target, to], ["row", "expired"]);
      }),
    );
  });

  it("has nothing more to do once its change is applied", () => {
    fc.assert(
      fc.property(evaluation, (input) => {
        const [change] = evaluateExpiry(input).mutations;
        if (change === undefined) return;
        const object = { ...input.object, state: change.to, revision: change.revision + 1 };
        assert.deepEqual(evaluateExpiry({ ...input, object }).mutations, []);
      }),
    );
  });
});
