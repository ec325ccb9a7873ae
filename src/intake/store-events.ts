/**
 * Makes the events of requests durable in the intake's stream. Events of
 * concurrent requests share a message; those of one request are never divided.
 *
 * A message whose answer is missing is stored again: the relay accepts each
 * event once, by its id.
 */
import { setTimeout as delay } from "node:timers/promises";
import { sizeOfBodies } from "../events/checked-events.ts";
import type { MakeDurable, Published } from "../events/publish.ts";
import type { NewEvent } from "../queue/queue.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { EVENT_OVERHEAD_BYTES, writeAccepted } from "./accepted-message.ts";
import type { FindKnownKeys } from "./known-keys.ts";
import { repeatsWithin } from "./repeats-within.ts";
import { MessageTooLargeError, StreamUnavailableError, type IntakeStream } from "./stream.ts";

const MAX_REQUESTS_PER_MESSAGE = 500;
/** Far below the megabyte that servers take by default. */
const MAX_SHARED_BYTES = 256 * 1024;
/** Messages on their way. More would be smaller ones, each of which costs every replica about as much as a large one. */
const MAX_CONCURRENT = 2;
/** A stream that elects a leader is back within about this time. */
const PATIENCE_MS = 6000;
const PAUSE_MS = 50;
const RETRY_AFTER_S = 2;

/**
 * Requests of one lane share messages. The events of a message wait for each
 * other, so a lane has those that go to the same shard.
 */
export type LaneOf = (events: readonly NewEvent[]) => string;

const ONE_LANE: LaneOf = () => "";

export function makeStoring({
  stream,
  findKnownKeys,
  laneOf = ONE_LANE,
  metrics,
}: {
  stream: Pick<IntakeStream, "store">;
  findKnownKeys: FindKnownKeys;
  laneOf?: LaneOf | undefined;
  metrics: Pick<Metrics, "intakeAccepted">;
}): MakeDurable {
  const lanes = new Map<string, Lane>();

  function laneFor(events: readonly NewEvent[]): Lane {
    const name = laneOf(events);
    const lane = lanes.get(name) ?? makeLane(stream);
    lanes.set(name, lane);
    return lane;
  }

  return async (given) => {
    const repeats = repeatsWithin(given);
    const events = given.filter(({ id }) => !repeats.has(id));
    const known = await findKnownKeys(events);
    if ([...known.values()].some(({ sameContent }) => !sameContent))
      throw new Refusal("idempotency_key_reused");
    const others = events.filter(({ id }) => !known.has(id));
    const request = { events: others, sinceMs: performance.now() };
    const refusal = others.length > 0 ? await laneFor(others).add(request) : null;
    if (refusal !== null) throw refusal;
    metrics.intakeAccepted.inc(others.length);
    return given.map((event): Published => {
      const first = repeats.get(event.id);
      const { id } = first ?? event;
      const earlier = known.get(id);
      if (earlier === undefined) return { id, dispatchCount: null, isNew: first === undefined };
      return { id: earlier.id, dispatchCount: earlier.dispatchCount, isNew: false };
    });
  };
}

/** Of each request by itself: of those that shared a message some may be stored, and others not. */
type Outcome = Refusal | null;
type Request = { events: readonly NewEvent[]; sinceMs: number };
type Lane = GroupCommit<Request, Outcome>;

function makeLane(stream: Pick<IntakeStream, "store">): Lane {
  return new GroupCommit((requests: Request[]) => storeInTime(stream, requests), {
    maxItems: MAX_REQUESTS_PER_MESSAGE,
    maxConcurrent: MAX_CONCURRENT,
    weigh: { of: sizeOf, most: MAX_SHARED_BYTES },
  });
}

/**
 * What messages before it have kept waiting for all of that time is refused: if
 * each were tried for as long, the last of many would wait for minutes.
 */
async function storeInTime(
  stream: Pick<IntakeStream, "store">,
  requests: readonly Request[],
): Promise<Outcome[]> {
  const nowMs = performance.now();
  const late = new Set(requests.filter(({ sinceMs }) => nowMs - sinceMs > PATIENCE_MS));
  const others = requests.filter((request) => !late.has(request)).map(({ events }) => events);
  const outcomes = others.length > 0 ? await storeRequests(stream, others) : [];
  const refusal = unavailable(new Error("messages that were stored before took too long"));
  return requests.map((request) => (late.has(request) ? refusal : (outcomes.shift() ?? null)));
}

/** In one message, or in smaller ones where the servers take no message of that size. */
async function storeRequests(
  stream: Pick<IntakeStream, "store">,
  requests: readonly (readonly NewEvent[])[],
): Promise<Outcome[]> {
  try {
    await store(stream, writeAccepted(requests.flat()));
    return requests.map(() => null);
  } catch (error) {
    if (error instanceof Refusal) return requests.map(() => error);
    if (!(error instanceof MessageTooLargeError)) throw error;
    if (requests.length === 1) return [new Refusal("payload_too_large")];
    const middle = Math.ceil(requests.length / 2);
    const first = await storeRequests(stream, requests.slice(0, middle));
    return [...first, ...(await storeRequests(stream, requests.slice(middle)))];
  }
}

async function store(stream: Pick<IntakeStream, "store">, message: Uint8Array): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await stream.store(message);
    } catch (error) {
      if (!(error instanceof StreamUnavailableError)) throw error;
      if (performance.now() > endsAt) throw unavailable(error);
      await delay(PAUSE_MS);
    }
  }
}

function unavailable(cause: Error): Refusal {
  return new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S, cause });
}

function sizeOf({ events }: Request): number {
  return events.reduce((sum, event) => sum + sizeOfBodies(event) + EVENT_OVERHEAD_BYTES, 0);
}
