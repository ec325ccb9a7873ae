import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { idTimeMs } from "../shared/id.ts";
import { answerOf, isDelivered, makeWeek, type Behaviour, type WeekAttempt } from "./week.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse("2026-11-22T12:00:00.000Z");
const SCHEDULE_MS = [0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000];
const SAMPLES = [
  { type: "payment.failed", data: { amount: 1 } },
  { type: "document.signed", data: {} },
];

function makeBy(seed: number, takes: (behaviour: Behaviour, type: string) => boolean, count = 60) {
  // A generator of MINSTD: its numbers can be repeated.
  let state = seed;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return makeWeek({
    nowMs: NOW_MS,
    events: count,
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

  it("is what was accepted within it, more on a day of work than at its end, and more at noon than at night", () => {
    const { events } = makeBy(7, (behaviour) => behaviour === "healthy", 4000);
    const times = events.map(({ id }) => idTimeMs(id));
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    );
    assert.ok((times[0] ?? 0) > NOW_MS - 7 * DAY_MS && (times.at(-1) ?? NOW_MS) <= NOW_MS);
    const countOn = (days: readonly number[]) =>
      times.filter((ms) => days.includes(new Date(ms).getUTCDay())).length / days.length;
    // A Friday is none of its end, and the week has all of its days once.
    for (const day of [1, 2, 3, 4, 5]) assert.ok(countOn([0, 6]) < 0.6 * countOn([day]), `${day}`);
    const hours = Map.groupBy(times, (ms) => new Date(ms).getUTCHours());
    assert.ok((hours.get(12) ?? []).length > 3 * (hours.get(0) ?? []).length);
  });
});

const answerBy = (behaviour: Behaviour, chance: number) =>
  answerOf(behaviour, { isLate: true, random: () => chance });

function told(behaviour: Behaviour, chance: number): (number | string | null)[] {
  const { status, body, error } = answerBy(behaviour, chance);
  return [status, error ?? body];
}

describe("how a receiver of the demonstration answers", () => {
  it("is by its kind, and by chance", () => {
    const received = '{"received":true}';
    assert.deepEqual(told("healthy", 0.0029), [502, "<h1>502 Bad Gateway</h1>"]);
    assert.deepEqual(told("healthy", 0.003), [200, received]);
    assert.deepEqual(told("slow", 0.039), [null, "timeout"]);
    assert.deepEqual(told("slow", 0.04), [200, received]);
    assert.deepEqual(told("dead", 0.5), [null, "connect"]);
    assert.deepEqual(
      [0.11, 0.12, 0.19, 0.22, 0.25].map((chance) => told("flaky", chance)),
      [
        [500, '{"error":"deadlock detected"}'],
        [503, "Service Unavailable"],
        [429, '{"error":"too many requests"}'],
        [null, "reset"],
        [200, received],
      ],
    );
  });

  it("is at once, or late at the slow one, which at times has not answered when its time is over", () => {
    for (const behaviour of ["healthy", "flaky"] as const) {
      assert.ok(answerBy(behaviour, 0.999).latencyMs < 200);
    }
    assert.ok(answerBy("dead", 0.999).latencyMs < 10);
    assert.ok(answerBy("slow", 0.04).latencyMs > 1000 && answerBy("slow", 0.999).latencyMs < 8000);
    assert.equal(answerBy("slow", 0).latencyMs, 15_000);
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
    const before = chain[index - 1];
    if (before !== undefined) requireRetry(before, { id, attempt, dueAtMs: sentAtMs });
  }
  const next = pending.find(({ event, behaviour }) => event === last.event && behaviour === last.behaviour);
  const isOver = isDelivered(last.answer) || last.attempt === SCHEDULE_MS.length;
  assert.equal(next?.attempt ?? null, isOver ? null : last.attempt + 1);
  if (next !== undefined) requireRetry(last, next);
}

/** Its row is made as the attempt before ends, and it is due by the schedule, a tenth later at most. */
function requireRetry(
  before: WeekAttempt,
  { id, attempt, dueAtMs }: { id: string; attempt: number; dueAtMs: number },
): void {
  const endedAtMs = before.sentAtMs + before.answer.latencyMs;
  assert.equal(idTimeMs(id), endedAtMs);
  const delayMs = SCHEDULE_MS[attempt - 1] ?? NaN;
  assert.ok(dueAtMs >= endedAtMs + delayMs && dueAtMs <= endedAtMs + 1.1 * delayMs + 8, `${attempt}`);
}
