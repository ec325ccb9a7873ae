import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { idTimeMs } from "../shared/id.ts";
import { isDelivered, makeWeek, type Behaviour, type WeekAttempt } from "./week.ts";

const NOW_MS = Date.parse("2026-11-22T12:00:00.000Z");
const SCHEDULE_MS = [0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
const SAMPLES = [
  { type: "payment.failed", data: { amount: 1 } },
  { type: "document.signed", data: {} },
];

function makeBy(seed: number, takes: (behaviour: Behaviour, type: string) => boolean) {
  // A generator of MINSTD: its numbers can be repeated.
  let state = seed;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return makeWeek({
    nowMs: NOW_MS,
    events: 60,
    samples: SAMPLES,
    takes,
    retryScheduleMs: SCHEDULE_MS,
    random,
  });
}

describe("a week of the demonstration", () => {
  it("follows each event at each endpoint to its success, its last attempt, or a pending one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_646 }), (seed) => {
        const { events, attempts, pending } = makeBy(seed, () => true);
        assert.equal(events.length, 60);
        const chains = Map.groupBy(attempts, ({ event, behaviour }) => `${event.id} ${behaviour}`);
        for (const chain of chains.values()) requireChain(chain, pending);
        const ids = [...attempts, ...pending].map(({ id }) => id);
        assert.equal(new Set(ids).size, ids.length);
      }),
    );
  });

  it("gives each endpoint what it takes alone", () => {
    const { attempts, pending, events } = makeBy(7, (behaviour, type) =>
      behaviour === "dead" ? type === "document.signed" : behaviour === "healthy",
    );
    for (const { behaviour, event } of [...attempts, ...pending]) {
      assert.ok(behaviour === "healthy" || (behaviour === "dead" && event.type === "document.signed"));
    }
    for (const { type, dispatchCount } of events) {
      assert.equal(dispatchCount, type === "document.signed" ? 2 : 1);
    }
  });
});

function requireChain(chain: readonly WeekAttempt[], pending: ReturnType<typeof makeBy>["pending"]): void {
  const last = chain.at(-1);
  assert.ok(last !== undefined);
  for (const [index, { id, attempt, sentAtMs, answer }] of chain.entries()) {
    assert.equal(attempt, index + 1);
    assert.ok(idTimeMs(id) <= sentAtMs && sentAtMs + answer.latencyMs <= NOW_MS);
    assert.equal(isDelivered(answer), answer.status === 200);
    if (attempt !== last.attempt) assert.ok(!isDelivered(answer));
  }
  const next = pending.find(({ event, behaviour }) => event === last.event && behaviour === last.behaviour);
  const isOver = isDelivered(last.answer) || last.attempt === SCHEDULE_MS.length;
  assert.equal(next?.attempt ?? null, isOver ? null : last.attempt + 1);
}
