/**
 * Brings dispatches from the queue into the lanes. Claims due dispatches: on
 * NOTIFY, and by polling five times a second. For backlogged lanes it parks due
 * dispatches, so that they delay no other claim, and pulls what the lanes ask for.
 */
import type { Outbox } from "../events/outbox.ts";
import { sleep, type Clock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { ClaimLimits, DispatchQueue, LeasedDispatch, Presence } from "../queue/queue.ts";
import { slotOf } from "../queue/slots.ts";
import type { CatchUp } from "./catch-up.ts";
import type { Lanes } from "./lanes.ts";
import type { SlotKeeper } from "./slot-keeper.ts";

const CLAIM_LIMITS: ClaimLimits = { dispatches: 500, bodyBytes: 8 * 1024 * 1024 };
/**
 * How often the queue is polled. Nothing notifies of retries that become due.
 * Polled once a second, those of a busy failing endpoint came as one burst that
 * delayed its neighbours by 50 ms.
 */
export const POLL_MS = 200;
/** The interval after a poll that found due dispatches: more retries of a busy endpoint follow, better in small groups. */
const BUSY_POLL_MS = 50;
/** How often it checks for unknown backlogs, such as a replay's. */
const BACKLOGS_EVERY_MS = 1000;

export type Claims = {
  start(): void;
  /** Claims without waiting for the next poll. */
  wake(): void;
  /** When it last looked, on the clock in milliseconds. */
  lastLookAt(): number;
  /** Ends with the look under way. */
  underWay(): Promise<unknown>;
  /** Ends when the claim under way has. */
  stop(): Promise<void>;
};

type Found = "nothing" | "some" | "more";

export type ClaimsServices = {
  queue: Pick<DispatchQueue, "claim" | "park" | "parkOldest" | "pull" | "findBacklogs">;
  outbox: Outbox;
  lanes: Lanes;
  slots: Pick<SlotKeeper, "owned">;
  presence: Presence;
  catchUp: Pick<CatchUp, "lookBegins" | "withOlder" | "foundAll" | "leftSome" | "givenUp" | "oldestParked">;
  clock: Clock;
  log: Log;
  /** Offers claimed dispatches to the lanes, and starts what may start. */
  take: (claimed: readonly LeasedDispatch[]) => void;
  /** The lanes refuse these, which are parked, and pulled behind the older ones of their endpoints. */
  park: (leased: readonly LeasedDispatch[]) => void;
  /** The lanes were filled by a pull. */
  pulled: () => void;
  withoutEvent: (claimed: readonly LeasedDispatch[]) => void;
};

export function makeClaims(services: ClaimsServices): Claims {
  const { lanes, presence, catchUp, clock, log } = services;
  const stopping = new AbortController();
  let wakeUp = Promise.withResolvers<void>();
  let claiming: Promise<void> | null = null;
  let looking: Promise<unknown> = Promise.resolve();
  let lastLookAt = clock.nowMs();
  const steps = makeSteps(services);
  const pulls = makePulls(services);
  const tell = warnSeldom(log, "dispatches could not be claimed");

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = wakeUp.promise;
      looking = look();
      const found = await looking;
      if (found === "more") continue;
      await Promise.race([woken, sleep(clock, found === "some" ? BUSY_POLL_MS : POLL_MS, stopping.signal)]);
      wakeUp = Promise.withResolvers<void>();
    }
  }

  async function look(): Promise<Found> {
    // Dispatches that it may not send are left to other workers.
    if (!presence.isConfirmed()) return "nothing";
    const number = catchUp.lookBegins();
    try {
      // The outbox comes first, so that this look claims its events too.
      const relayed = await steps.relay();
      // Without room, the queue is left to other workers. This worker is busy, not stuck.
      const claimed = lanes.hasRoom ? await steps.claim(number) : steps.leftSome(number);
      const pulled = await pulls.serve();
      lastLookAt = clock.nowMs();
      return [relayed, claimed, pulled].reduce(theMore, "nothing");
    } catch (error) {
      steps.leftSome(number);
      tell(error);
      return "nothing";
    }
  }

  return {
    start() {
      claiming ??= loop();
    },
    wake: () => wakeUp.resolve(),
    lastLookAt: () => lastLookAt,
    underWay: () => looking,
    async stop() {
      stopping.abort();
      await claiming;
    },
  };
}

function theMore(one: Found, other: Found): Found {
  if (one === "more" || other === "more") return "more";
  return one === "some" ? one : other;
}

function makeSteps(services: ClaimsServices) {
  const { queue, outbox, lanes, slots, catchUp, log, take, park, withoutEvent } = services;
  const tell = warnSeldom(log, "the outbox could not be relayed");

  async function relay(): Promise<Found> {
    try {
      return (await outbox.relay()) === "more" ? "more" : "nothing";
    } catch (error) {
      tell(error);
      return "nothing";
    }
  }

  async function claim(look: number): Promise<Found> {
    const own = slots.owned();
    if (own.isEmpty) return "nothing";
    const found = await queue.claim(CLAIM_LIMITS, lanes.backlogged(own), own);
    withoutEvent(found.withoutEvent);
    take(catchUp.withOlder(found.claimed));
    if (!found.isAll) {
      leftSome(look);
      return "more";
    }
    take(catchUp.foundAll(look, own));
    return found.claimed.length > 0 ? "some" : "nothing";
  }

  function leftSome(look: number): Found {
    park(catchUp.leftSome(look));
    return "nothing";
  }

  return { relay, claim, leftSome };
}

function makePulls(services: ClaimsServices) {
  const { queue, lanes, slots, catchUp, clock, log, take, pulled, withoutEvent } = services;
  const findBacklogs = makeBacklogSearch(services);
  const tell = warnSeldom(log, "parked dispatches could not be pulled");

  async function serve(): Promise<Found> {
    await findBacklogs();
    const backlogged = lanes.backlogged(slots.owned());
    if (backlogged.length === 0) return "nothing";
    const isParked = await queue.park(backlogged);
    await parkOldest();
    const count = await pull(isParked);
    if (!isParked || count >= CLAIM_LIMITS.dispatches) return "more";
    return count > 0 ? "some" : "nothing";
  }

  /** Also of endpoints that are given up meanwhile: what their lanes refused is younger, and may be pulled next. */
  async function parkOldest(): Promise<void> {
    for (let endpoints = catchUp.givenUp(); endpoints.length > 0; endpoints = catchUp.givenUp()) {
      await queue.parkOldest(endpoints);
      catchUp.oldestParked(endpoints);
    }
  }

  /** How many dispatches came. While some due ones are not parked, no lane has all of its own. */
  async function pull(isParked: boolean): Promise<number> {
    const asks = lanes.ask(
      slots.owned(),
      { dispatches: CLAIM_LIMITS.dispatches, weight: CLAIM_LIMITS.bodyBytes },
      clock.nowMs(),
    );
    if (asks.length === 0) return 0;
    const answers = await queue.pull(asks).catch((error: unknown) => {
      tell(error);
      return null;
    });
    let count = 0;
    for (const { endpointId } of asks) {
      const answer = answers?.get(endpointId);
      const dispatches = catchUp.withOlder(answer?.claimed ?? []);
      const isAll = isParked && answer?.isAll === true;
      const isWanted = lanes.pulled(endpointId, { dispatches, isAll }, clock.nowMs());
      if (!isWanted) take(dispatches);
      withoutEvent(answer?.withoutEvent ?? []);
      count += dispatches.length;
    }
    pulled();
    return count;
  }

  return { serve };
}

/** Now and then, in this worker's slots. */
function makeBacklogSearch({
  queue,
  lanes,
  slots,
  clock,
}: Pick<ClaimsServices, "queue" | "lanes" | "slots" | "clock">) {
  let foundAtMs = -Infinity;
  return async (): Promise<void> => {
    if (clock.nowMs() - foundAtMs < BACKLOGS_EVERY_MS) return;
    const found = await queue.findBacklogs();
    for (const endpoint of found) {
      if (slots.owned().has(slotOf(endpoint.endpointId))) lanes.foundBacklog(endpoint, clock.nowMs());
    }
    foundAtMs = clock.nowMs();
  };
}
