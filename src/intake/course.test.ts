import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GRACE_MS, makeCourse, type Step } from "./course.ts";

const STORED_AT = Date.parse("2026-11-23T12:00:00Z");
const fresh = { sequence: 1, storedAtMs: STORED_AT, deliveries: 1 };

/** The steps of so many tries with one outcome, up to the one that gives the message up. */
function stepsOf(outcome: "away" | "failed", deliveries = 1): Step[] {
  const course = makeCourse({ ...fresh, deliveries });
  const steps: Step[] = [];
  do steps.push(course.after(outcome, STORED_AT));
  while (steps.at(-1)?.kind === "try_again");
  return steps;
}

/** How long a message waits that its shard, or its tenant's move, keeps from being accepted. */
const waitWith = (message: object, outcome: "closed" | "moving"): number => {
  const course = makeCourse({ ...fresh, ...message });
  if (outcome === "moving")
    assert.deepEqual(course.after(outcome, STORED_AT), { kind: "try_again", afterMs: 0 });
  const step = course.after(outcome, STORED_AT);
  assert.ok(step.kind === "put_back");
  return step.afterMs;
};

describe("the course of a message", () => {
  for (const outcome of ["accepted", "refused"] as const) {
    it(`ends when its events are ${outcome}`, () => {
      const course = makeCourse(fresh);
      assert.deepEqual(course.after(outcome, STORED_AT), { kind: "end" });
      assert.throws(() => course.after(outcome, STORED_AT), /has ended/);
    });
  }

  it("is tried five times with growing pauses, and then put back", () => {
    assert.deepEqual(stepsOf("failed"), [
      { kind: "try_again", afterMs: 100 },
      { kind: "try_again", afterMs: 200 },
      { kind: "try_again", afterMs: 400 },
      { kind: "try_again", afterMs: 800 },
      { kind: "put_back", afterMs: 5_000 },
    ]);
  });

  it("waits twice as long each time that it failed, up to five minutes", () => {
    const waits = [1, 2, 3, 7, 8, 1_000_000].map((deliveries) => stepsOf("failed", deliveries).at(-1));
    assert.deepEqual(
      waits,
      [5_000, 10_000, 20_000, 300_000, 300_000, 300_000].map((afterMs) => ({ kind: "put_back", afterMs })),
    );
  });

  it("waits briefly however often the database was away", () => {
    assert.deepEqual(
      [1, 50].map((deliveries) => stepsOf("away", deliveries).at(-1)),
      Array.from({ length: 2 }, () => ({ kind: "put_back", afterMs: 2_000 })),
    );
  });

  for (const [outcome, text] of [
    ["closed", "at once when its shard takes nothing"],
    ["moving", "when its tenant moves, and was tried once more at once"],
  ] as const) {
    it(`is put back ${text}, for twice as long each time, up to a minute`, () => {
      for (const [deliveries, longestMs] of [
        [1, 1_000],
        [2, 2_000],
        [6, 32_000],
        [7, 60_000],
        [1e6, 60_000],
      ] as const) {
        const waits = Array.from({ length: 100 }, (_, sequence) =>
          waitWith({ sequence, deliveries }, outcome),
        );
        assert.ok(Math.min(...waits) >= longestMs / 2 && Math.max(...waits) <= longestMs, waits.join(" "));
        // As many of those that follow each other come back in each tenth of the second half.
        const tenths = Map.groupBy(waits, (ms) => Math.floor((ms / longestMs - 0.5) * 20));
        assert.ok(tenths.values().every(({ length }) => length >= 8 && length <= 12));
      }
    });
  }

  it("ends when a later try succeeds", () => {
    const course = makeCourse(fresh);
    course.after("away", STORED_AT);
    assert.equal(course.failures, 1);
    assert.deepEqual(course.after("accepted", STORED_AT), { kind: "end" });
  });

  it("waits for its type without being held, until its grace has run out", () => {
    const looks = [0, 1, GRACE_MS - 10_000, GRACE_MS - 3, GRACE_MS].map((ageMs) =>
      makeCourse({ ...fresh, deliveries: 61 }).after("unknown", STORED_AT + ageMs),
    );
    assert.deepEqual(looks, [
      { kind: "put_back", afterMs: 10_000 },
      { kind: "put_back", afterMs: 10_000 },
      { kind: "put_back", afterMs: 10_000 },
      { kind: "put_back", afterMs: 3 },
      { kind: "refuse" },
    ]);
  });

  it("waits for its type for sixty looks, however old it was at the first", () => {
    const looks = [1, 60, 61].map((deliveries) =>
      makeCourse({ ...fresh, deliveries }).after("unknown", STORED_AT + 10 * GRACE_MS),
    );
    const again = { kind: "put_back", afterMs: 10_000 };
    assert.deepEqual(looks, [again, again, { kind: "refuse" }]);
  });
});
