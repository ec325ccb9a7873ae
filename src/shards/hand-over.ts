/**
 * Hands over the events that lie in one shard and belong into others.
 *
 * Why none is lost and none is stored twice: a row is deleted only when its
 * event is stored in the tenant's shard, and there an event is accepted once by
 * its id. A worker that dies in between leaves a lease, after which another
 * finds the event stored. A shard that is away delays its own events, and
 * no others.
 */
import type { Pool } from "../database/pool.ts";
import { isMisrouted } from "../database/residence.ts";
import { patternsMatching } from "../events/subscription.ts";
import type { TakenEvents } from "../events/taken-events.ts";
import type { HandedOver, NewEvent } from "../queue/queue.ts";
import type { EventId } from "../shared/id.ts";
import { keepIn } from "../shared/keep-in.ts";
import { makeRepeated, type Background } from "../shared/every.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { Directory } from "./directory.ts";
import type { Pulse } from "./pulse.ts";

const LOOK_EVERY_MS = 200;
const LEASE_MS = 15_000;
const PAUSE_MS = 2000;
/** How long a take waits for those of its events whose key an open transaction holds: their tries may last some seconds. */
const HELD_MS = 500;
/** Takes that have such events, of all shards together. */
const MOST_HELD = 20;
const AT_ONCE = { events: 200, bodyBytes: 8 * 1024 * 1024, leaseMs: LEASE_MS };

/** The rows of the shard in which events lie. A shard null is one that is not known yet. */
export type HandoverRows = {
  destinations(db: Pool): Promise<(string | null)[]>;
  claim(
    db: Pool,
    shard: string | null,
    limits: { events: number; bodyBytes: number; leaseMs: number },
  ): Promise<HandedOver[]>;
  redirect(
    db: Pool,
    events: readonly { id: EventId; shard: string | null }[],
    delayMs: number,
  ): Promise<void>;
  remove(db: Pool, ids: readonly EventId[]): Promise<void>;
};

export type HandOverServices = {
  from: { name: string; db: Pool };
  rows: HandoverRows;
  directory: Directory;
  /** Where events are accepted, by shard. */
  shards: ReadonlyMap<string, Target>;
  log: Log;
};

type Target = {
  taken: TakenEvents;
  metrics: Pick<Metrics, "eventsAccepted" | "eventsRejected">;
  pulse: Pick<Pulse, "isAway" | "guard">;
};

/** What waits for a key that an open transaction holds. */
type Held = { works: Set<Promise<unknown>>; failed: (error: unknown) => void };

export function makeHandOver(services: HandOverServices): Background {
  const { from, rows, log } = services;
  /** One that waits for a shard that is away must not keep the others waiting. */
  const under = new Map<string | null, Promise<void>>();
  const tell = warnSeldom(log, "events wait to be handed over to another shard");

  async function look(signal: AbortSignal): Promise<void> {
    for (const shard of await rows.destinations(from.db)) {
      const take = under.has(shard) ? null : takeFor(services, shard, held);
      if (take === null) continue;
      const work = untilNone(take, signal).catch(failed);
      under.set(
        shard,
        work.finally(() => under.delete(shard)),
      );
    }
  }

  function failed(error: unknown): void {
    tell(error, { from: from.name });
  }

  const held: Held = { works: new Set(), failed };
  const repeated = makeRepeated(LOOK_EVERY_MS, look, failed);
  return {
    start: () => repeated.start(),
    async stop() {
      await repeated.stop();
      await Promise.all(under.values());
      await Promise.all(held.works);
    },
  };
}

/** Answers how many events have gone on. */
type Take = () => Promise<number>;

/** Null: they wait as they are, for a shard that is away, or that this process does not have yet and is another worker's. */
function takeFor(services: HandOverServices, shard: string | null, held: Held): Take | null {
  if (shard === null) return () => direct(services);
  const to = services.shards.get(shard);
  return to === undefined || to.pulse.isAway() ? null : () => handOverTo(services, { shard, to }, held);
}

async function untilNone(take: Take, signal: AbortSignal): Promise<void> {
  while ((await take()) > 0 && !signal.aborted);
}

/** Asks the directory where events go. */
async function direct({ from, rows, directory }: HandOverServices): Promise<number> {
  const events = await rows.claim(from.db, null, AT_ONCE);
  const homes = await Promise.allSettled(events.map(({ tenantId }) => directory.locate(tenantId)));
  const placed = events.map(({ id }, place) => {
    const home = homes[place];
    return { id, shard: home?.status === "fulfilled" ? home.value : null };
  });
  await rows.redirect(
    from.db,
    placed.filter(({ shard }) => shard !== null),
    0,
  );
  await rows.redirect(
    from.db,
    placed.filter(({ shard }) => shard === null),
    PAUSE_MS,
  );
  return placed.filter(({ shard }) => shard !== null).length;
}

type Work = { event: HandedOver; result: Promise<Outcome> };

/** Those that still wait for a key are settled behind it, while the shard is given more. */
async function handOverTo(
  services: HandOverServices,
  { shard, to }: { shard: string; to: Target },
  held: Held,
): Promise<number> {
  const events = await services.rows.claim(services.from.db, shard, AT_ONCE);
  const ended = new Set<EventId>();
  const works = events.map((event): Work => {
    const result = handOver(services, { shard, to }, event).finally(() => ended.add(event.id));
    return { event, result };
  });
  const all = Promise.allSettled(works.map(({ result }) => result));
  await withinLimit(all, HELD_MS, () => new Error("some wait")).catch(() => undefined);
  const late =
    held.works.size < MOST_HELD
      ? works.filter(({ event }) => event.idempotencyKey !== null && !ended.has(event.id))
      : [];
  if (late.length > 0) void keepIn(held.works, settle(services, shard, late).catch(held.failed));
  const others = works.filter((work) => !late.includes(work));
  return late.length + (await settle(services, shard, others));
}

/** Answers how many of them have gone on. */
async function settle(
  { from, rows }: HandOverServices,
  shard: string,
  works: readonly Work[],
): Promise<number> {
  const events = works.map(({ event }) => event);
  const results = await Promise.allSettled(works.map(({ result }) => result));
  const idsOf = (kind: Outcome | "failed") =>
    events.flatMap(({ id }, place) => (kindOf(results[place]) === kind ? [id] : []));
  const failure = results.find((result) => result.status === "rejected");
  await rows.remove(from.db, idsOf("stored"));
  await rows.redirect(
    from.db,
    idsOf("elsewhere").map((id) => ({ id, shard: null })),
    0,
  );
  await rows.redirect(
    from.db,
    [...idsOf("refused").map((id) => ({ id, shard: null })), ...idsOf("failed").map((id) => ({ id, shard }))],
    PAUSE_MS,
  );
  if (failure !== undefined) throw failure.reason;
  return events.length - idsOf("refused").length;
}

/** `refused`: by the shard in which the directory has the tenant, because a move is under way. */
type Outcome = "stored" | "elsewhere" | "refused";

function kindOf(result: PromiseSettledResult<Outcome> | undefined): Outcome | "failed" {
  return result?.status === "fulfilled" ? result.value : "failed";
}

async function handOver(
  services: HandOverServices,
  { shard, to }: { shard: string; to: Target },
  waiting: HandedOver,
): Promise<Outcome> {
  const { from, directory, log } = services;
  const { tenantId, id: eventId } = waiting;
  const home = await directory.find(tenantId);
  if (home.shard !== shard) return "elsewhere";
  const event = toAccept(waiting, { isAtHome: from.name === shard });
  try {
    const taken = await to.pulse.guard(() => to.taken.accept(event, "grouped"));
    if (taken === "accepted") to.metrics.eventsAccepted.inc();
    if (taken === "key_reused") {
      log.error(
        { tenantId, eventId, eventType: event.type },
        "an event whose idempotency key was used for other content in its tenant's shard is not sent",
      );
      to.metrics.eventsRejected.inc({ reason: "idempotency_key_reused" });
    }
    return "stored";
  } catch (error) {
    if (!isMisrouted(error)) throw error;
    directory.forget(tenantId);
    return "refused";
  }
}

/** A key that was claimed where the tenant turns out to live is the event's own already. */
function toAccept(waiting: HandedOver, { isAtHome }: { isAtHome: boolean }): NewEvent {
  const { id, tenantId, type, version, body, others, traceparent } = waiting;
  const versions = [version, ...Object.keys(others ?? {}).map(Number)];
  return {
    id,
    tenantId,
    type,
    version,
    body,
    others,
    patterns: patternsMatching(type, versions),
    idempotencyKey: isAtHome && waiting.claimed ? null : waiting.idempotencyKey,
    ...(traceparent === null ? {} : { traceparent }),
  };
}
