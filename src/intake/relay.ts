/**
 * The relay from the intake's stream to the queue, in every worker. It takes
 * messages as fast as the database accepts their events, and ends a message
 * only when each of its events is accepted or visibly refused.
 *
 * Why nothing is lost: a message leaves the stream only by its end. A worker
 * that dies leaves its messages there, and they are handed out again after
 * {@link HOLD_MS}. Why no event passes twice: see `events/taken-events.ts`. Where
 * its events are accepted: see `accepting.ts`.
 */
import { LRUCache } from "lru-cache";
import type { LiveCatalog } from "../events/live-catalog.ts";
import type { Taken } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import type { Background } from "../shared/every.ts";
import type { EventId } from "../shared/id.ts";
import { sleep, type Clock } from "../shared/clock.ts";
import { messageOf } from "../shared/message-of.ts";
import type { Issue } from "../shared/refusal.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { makeAccepting, type Accepting, type Trial } from "./accepting.ts";
import { makeCourse, type Outcome } from "./course.ts";
import type { Home, Homes } from "./homes.ts";
import { readMessage, type RefusalReason } from "./read-message.ts";
import { ACCEPTED_SUBJECT, HOLD_MS, type IntakeStream, type StreamMessage } from "./stream.ts";
import { toldIssues } from "./told-issues.ts";

/** How often a worker says that a message is still its own: three times until it would be handed to another. */
const HOLD_AGAIN_MS = HOLD_MS / 3;
/** How soon the relay looks whether it may take messages again. */
const LOOK_AGAIN_MS = 50;
const STREAM_PAUSE_MS = 1000;
/** How long a stop waits for tries under way. */
const STOP_LIMIT_MS = 10_000;
/** Events whose refusal was told: their message may come again for others of its events. */
const MAX_TOLD = 10_000;

export type RelayServices = {
  stream: Pick<IntakeStream, "take">;
  homes: Homes;
  catalog: LiveCatalog;
  tracing: Tracing | null;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, "intakeRefused" | "intakePutBack">;
};

export function makeStreamRelay(services: RelayServices): Background {
  return new Relay(services);
}

type Tried = { outcome: Outcome; home?: Home | null; error?: unknown; issues?: readonly Issue[] };

/** As the metrics and the log name them. */
const REASONS: ReadonlyMap<Outcome, string> = new Map([
  ["unknown", "unknown_event_type"],
  ["closed", "away"],
]);

class Relay implements Background {
  readonly #services: RelayServices;
  readonly #accepting: Accepting;
  readonly #told = new LRUCache<EventId, true>({ max: MAX_TOLD });
  readonly #held = new Map<StreamMessage, Promise<void>>();
  #heldBytes = 0;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> | null = null;

  constructor(services: RelayServices) {
    this.#services = services;
    this.#accepting = makeAccepting(services);
  }

  start(): void {
    this.#running ??= Promise.all([this.#takeAll(), this.#holdAll()]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const ended = Promise.all([this.#running, ...this.#held.values()]);
    await withinLimit(ended, STOP_LIMIT_MS, () => new Error("its tries did not end")).catch(
      (error: unknown) => {
        this.#services.log.warn(
          { err: error },
          "the relay stopped with messages, which are handed out again",
        );
      },
    );
  }

  async #takeAll(): Promise<void> {
    const { clock, stream, log } = this.#services;
    const { signal } = this.#stopping;
    let told = "";
    while (!signal.aborted) {
      const held = { messages: this.#held.size, bytes: this.#heldBytes };
      const room = this.#accepting.room(held);
      if (room <= 0) {
        await sleep(clock, LOOK_AGAIN_MS, signal);
        continue;
      }
      try {
        for await (const message of stream.take(room, signal)) this.#hold(message);
        told = "";
      } catch (error) {
        const trouble = messageOf(error);
        if (trouble !== told) log.warn({ err: error }, "the intake's stream hands out nothing: trying again");
        told = trouble;
        await sleep(clock, STREAM_PAUSE_MS, signal);
      }
    }
  }

  #hold(message: StreamMessage): void {
    this.#heldBytes += message.bytes.length;
    const carried = this.#carry(message).finally(() => {
      this.#held.delete(message);
      this.#heldBytes -= message.bytes.length;
    });
    this.#held.set(message, carried);
  }

  async #holdAll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(this.#services.clock, HOLD_AGAIN_MS, signal);
      for (const message of this.#held.keys()) message.hold();
    }
  }

  /** From the moment that it is taken until it has ended or is put back. */
  async #carry(message: StreamMessage): Promise<void> {
    const trial: Trial = {
      bytes: message.bytes.length,
      how: "grouped",
      accepted: new Set(),
      entered: new Set(),
      done: (home, event, taken) => this.#count(message, event, { home, taken }),
    };
    try {
      await this.#untilGone(message, trial);
    } finally {
      this.#accepting.leave(trial);
    }
  }

  async #untilGone(message: StreamMessage, trial: Trial): Promise<void> {
    const { clock } = this.#services;
    const { signal } = this.#stopping;
    const course = makeCourse(message);
    for (;;) {
      const tried = await this.#try(message, trial);
      // It would take others with it again.
      if (tried.outcome === "failed") trial.how = "alone";
      const step = course.after(tried.outcome, Date.now());
      if (step.kind === "end") return message.end();
      if (step.kind === "refuse") {
        this.#refuse(message, "unknown_event_type", { issues: tried.issues });
        return message.end();
      }
      if (step.kind === "put_back") return this.#putBack(message, step.afterMs, tried);
      if (signal.aborted) return message.putBack(0);
      await sleep(clock, step.afterMs, signal);
    }
  }

  async #try(message: StreamMessage, trial: Trial): Promise<Tried> {
    const { catalog, tracing } = this.#services;
    try {
      // As the API does: a producer's header may be anything, and is stored only as what continues a trace.
      const traceparent = tracing?.continues(message.traceparent);
      const reading = readMessage({ ...message, traceparent }, catalog.current());
      if (reading.kind === "unknown") return { outcome: "unknown", issues: reading.issues };
      if (reading.kind === "refused") {
        this.#refuse(message, reading.reason, { issues: reading.issues });
        return { outcome: "refused" };
      }
      return await this.#accepting.accept(reading.events, trial);
    } catch (error) {
      return { outcome: "failed", error };
    }
  }

  #count(message: StreamMessage, event: NewEvent, { home, taken }: { home: Home; taken: Taken }): void {
    const { tracing } = this.#services;
    const { id: eventId, type: eventType, tenantId, traceparent } = event;
    if (taken === "key_reused" && !this.#told.has(eventId)) {
      this.#told.set(eventId, true);
      this.#refuse(message, "idempotency_key_reused", { eventId, eventType, tenantId, ...shardOf(home) });
    }
    if (taken !== "accepted") return;
    home.metrics.eventsAccepted.inc();
    // Of the others, the API told when it answered them.
    if (message.subject !== ACCEPTED_SUBJECT)
      tracing?.accepted({ eventId, eventType, tenantId, traceparent }, Date.now());
  }

  #putBack(message: StreamMessage, afterMs: number, tried: Tried): void {
    const { log, metrics } = this.#services;
    const { outcome, error, issues } = tried;
    const shard = shardOf(tried.home);
    const reason = REASONS.get(outcome) ?? outcome;
    const { subject, sequence, deliveries } = message;
    const told = { reason, ...shard, subject, sequence, deliveries, afterMs };
    if (outcome === "failed") log.error({ err: error, ...told }, "an event of the intake fails and waits");
    if (outcome === "unknown" && deliveries === 1)
      log.warn({ ...told, issues: toldIssues(issues) }, "an event of the intake waits for its type");
    metrics.intakePutBack.inc({ reason, ...shard });
    message.putBack(afterMs);
  }

  #refuse(
    { subject, sequence, bytes }: StreamMessage,
    reason: RefusalReason,
    {
      issues = [],
      ...event
    }: { issues?: readonly Issue[] | undefined; shard?: string } & Record<string, unknown>,
  ): void {
    const { log, metrics } = this.#services;
    const { shard } = event;
    log.error(
      { reason, subject, sequence, bytes: bytes.length, ...event, issues: toldIssues(issues) },
      "an event of the intake is refused and not sent",
    );
    metrics.intakeRefused.inc({ reason, ...(shard === undefined ? {} : { shard }) });
  }
}

/** A label, and a field of the log, where there are shards. */
function shardOf(home: Home | null | undefined): { shard?: string } {
  const shard = home?.shard ?? null;
  return shard === null ? {} : { shard };
}
