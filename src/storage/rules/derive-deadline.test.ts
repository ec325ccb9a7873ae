import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { deriveDeadline, deriveDeadlineInput, type DeriveDeadlineInput } from "./derive-deadline.ts";
import { DAY_MS, fromMs, toMs } from "./instants.ts";

const instant = fc
  .integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2080, 0, 1) })
  .map((milliseconds) => fromMs(milliseconds));
const days = fc.integer({ min: 1, max: 3650 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const started: fc.Arbitrary<DeriveDeadlineInput & { available_at: string }> = fc.record({
  object_id: fc.constant("00000000-0000-4000-8000-0000000000c0"),
  revision: fc.integer({ min: 1, max: 1000 }),
  available_at: instant,
  plan_days: days,
  tenant_days: orNull(days),
  hold_until: orNull(instant),
  previous_deadline: orNull(instant),
});

function deadlineMs(input: DeriveDeadlineInput): number {
  const { deadline } = deriveDeadline(input).output;
  assert.ok(deadline !== null);
  return toMs(deadline);
}

describe("deriveDeadline", () => {
  it("is never earlier than what was announced, held, or granted in days", () => {
    fc.assert(
      fc.property(started, (input) => {
        const granted = Math.min(input.plan_days, input.tenant_days ?? input.plan_days);
        const floor = [
          toMs(input.available_at) + granted * DAY_MS,
          ...[input.hold_until, input.previous_deadline].filter((at) => at !== null).map(toMs),
        ];
        assert.equal(deadlineMs(input), Math.max(...floor));
      }),
    );
  });

  it("never moves earlier when the plan grants more", () => {
    fc.assert(
      fc.property(started, days, (input, more) => {
        const plan_days = Math.max(input.plan_days, more);
        assert.ok(deadlineMs({ ...input, plan_days }) >= deadlineMs(input));
      }),
    );
  });

  it("changes nothing when its own result is the announced deadline", () => {
    fc.assert(
      fc.property(started, (input) => {
        const { deadline } = deriveDeadline(input).output;
        const again = deriveDeadline({ ...input, previous_deadline: deadline });
        assert.equal(again.output.deadline, deadline);
        assert.deepEqual(again.mutations, []);
      }),
    );
  });

  it("makes one change where the deadline is another, guarded by the old value and the revision", () => {
    fc.assert(
      fc.property(started, (input) => {
        const { output, mutations } = deriveDeadline(input);
        const change = {
          op: "update",
          target: "row",
          id: input.object_id,
          field: "deadline",
          from: input.previous_deadline,
          to: output.deadline,
          revision: input.revision,
        };
        assert.deepEqual(mutations, output.deadline === input.previous_deadline ? [] : [change]);
      }),
    );
  });

  it("is refused at the edge for a boolean, an upper-case id and a day that does not exist", () => {
    const [sample] = fc.sample(started, 1);
    assert.ok(sample !== undefined);
    assert.ok(deriveDeadlineInput.safeParse(sample).success);
    for (const wrong of [
      { plan_days: true },
      { object_id: "00000000-0000-4000-8000-0000000000C0" },
      { available_at: "2027-02-29T00:00:00.000Z" },
      { available_at: "2027-02-28T00:00:00.000Z\n" },
      { extra: 1 },
    ]) {
      assert.ok(!deriveDeadlineInput.safeParse({ ...sample, ...wrong }).success, JSON.stringify(wrong));
    }
  });
});
