/**
 * A week as four endpoints of the demonstration would have lived it: events by
 * the hour of the day, attempts with the causes of failure that receivers have,
 * and retries on the schedule. Pure; chance comes in.
 */
import { isSuccess } from "../outbound/response.ts";
import { idAt } from "../shared/id.ts";

/** How a receiver of the demonstration answers; also the last part of its path. */
export const BEHAVIOURS = ["healthy", "slow", "flaky", "dead"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export type WeekEvent = { id: string; type: string; body: string; dispatchCount: number };

export type WeekAttempt = {
  id: string;
  behaviour: Behaviour;
  event: WeekEvent;
  attempt: number;
  sentAtMs: number;
  answer: Answer;
};

/** Due after the week. */
export type WeekPending = {
  id: string;
  behaviour: Behaviour;
  event: WeekEvent;
  attempt: number;
  dueAtMs: number;
};

export type Week = { events: WeekEvent[]; attempts: WeekAttempt[]; pending: WeekPending[] };

/** `status` null: no answer, because of `error`. */
export type Answer = { status: number | null; body: string | null; error: string | null; latencyMs: number };

/** An event type, with data that its schema accepts. */
export type Sample = { type: string; data: Record<string, unknown> };

export type WeekOptions = {
  nowMs: number;
  events: number;
  samples: readonly Sample[];
  /** Which of them each endpoint takes. */
  takes: (behaviour: Behaviour, type: string) => boolean;
  retryScheduleMs: readonly number[];
  /** In [0, 1). */
  random: () => number;
};

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
/** The dead endpoint answered before. */
export const DEAD_FOR_MS = 9 * HOUR_MS;
const TIMEOUT_MS = 15_000;

export function makeWeek(options: WeekOptions): Week {
  const week: Week = { events: [], attempts: [], pending: [] };
  for (const atMs of momentsOf(options)) {
    const sample = options.samples[Math.floor(options.random() * options.samples.length)];
    if (sample === undefined) break;
    const takers = BEHAVIOURS.filter((behaviour) => options.takes(behaviour, sample.type));
    const event = { ...writeAt(sample, atMs), dispatchCount: takers.length };
    week.events.push(event);
    for (const behaviour of takers) addAttempts(week, options, { behaviour, event, atMs });
  }
  return week;
}

/** More at noon than at night, and more on a workday. */
function momentsOf({ nowMs, events, random }: WeekOptions): number[] {
  const moments: number[] = [];
  while (moments.length < events) {
    const atMs = Math.floor(nowMs - random() * WEEK_MS);
    const at = new Date(atMs);
    const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
    const daylight = (1 - Math.cos((at.getUTCHours() / 24) * 2 * Math.PI)) / 2;
    if (random() < (0.15 + 0.85 * daylight) * (isWeekend ? 0.4 : 1)) moments.push(atMs);
  }
  return moments.toSorted((left, right) => left - right);
}

function writeAt({ type, data }: Sample, atMs: number): Omit<WeekEvent, "dispatchCount"> {
  const id = idAt(atMs);
  const created_at = new Date(atMs).toISOString();
  return { id, type, body: JSON.stringify({ id, event: type, created_at, data }) };
}

function addAttempts(
  week: Week,
  { nowMs, retryScheduleMs, random }: WeekOptions,
  { behaviour, event, atMs }: { behaviour: Behaviour; event: WeekEvent; atMs: number },
): void {
  // The row of an attempt is made when the one before has ended.
  for (let attempt = 1, madeAtMs = atMs, dueAtMs = atMs; ; attempt++) {
    const id = idAt(madeAtMs);
    const sentAtMs = dueAtMs + Math.ceil(random() * 8);
    const answer = answerOf(behaviour, { isLate: sentAtMs > nowMs - DEAD_FOR_MS, random });
    const endedAtMs = sentAtMs + answer.latencyMs;
    if (endedAtMs > nowMs) {
      week.pending.push({ id, behaviour, event, attempt, dueAtMs });
      return;
    }
    week.attempts.push({ id, behaviour, event, attempt, sentAtMs, answer });
    if (isDelivered(answer)) return;
    const delayMs = retryScheduleMs[attempt];
    if (delayMs === undefined) return;
    madeAtMs = endedAtMs;
    dueAtMs = endedAtMs + delayMs + Math.floor(0.1 * delayMs * random());
  }
}

export function isDelivered({ status }: Answer): boolean {
  return status !== null && isSuccess(status);
}

/** @param chance `isLate`: the dead endpoint answers no more. `random` in [0, 1). */
export function answerOf(
  behaviour: Behaviour,
  { isLate, random }: { isLate: boolean; random: () => number },
): Answer {
  const chance = random();
  const quickMs = Math.round(25 + 140 * random() ** 3);
  if (behaviour === "dead" && isLate) return unanswered("connect", 3 + Math.round(5 * random()));
  if (behaviour === "slow") {
    return chance < 0.04
      ? unanswered("timeout", TIMEOUT_MS)
      : received(200, Math.round(1_200 + 6_000 * random() ** 2));
  }
  if (behaviour === "flaky") return flakyAnswer(chance, quickMs);
  return chance < 0.003 ? answered(502, "<h1>502 Bad Gateway</h1>", quickMs) : received(200, quickMs);
}

function flakyAnswer(chance: number, quickMs: number): Answer {
  if (chance < 0.12) return answered(500, '{"error":"deadlock detected"}', quickMs);
  if (chance < 0.19) return answered(503, "Service Unavailable", quickMs);
  if (chance < 0.22) return answered(429, '{"error":"too many requests"}', quickMs);
  if (chance < 0.25) return unanswered("reset", quickMs);
  return received(200, quickMs);
}

function received(status: number, latencyMs: number): Answer {
  return answered(status, '{"received":true}', latencyMs);
}

function answered(status: number, body: string, latencyMs: number): Answer {
  return { status, body, error: null, latencyMs };
}

function unanswered(error: string, latencyMs: number): Answer {
  return { status: null, body: null, error, latencyMs };
}

/** The first part of a type; a pattern of it takes all that share it. */
export function groupOf(type: string): string {
  return type.split(".")[0] ?? type;
}
