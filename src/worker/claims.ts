/** A worker's look-out for dispatches that are due: when somebody says so, and otherwise some times a second. */
import type { Outbox } from "../events/outbox.ts";
import { pause } from "../shared/every.ts";
import type { Log } from "../telemetry/log.ts";
import type { ClaimLimits, CrowdedEndpoint, DispatchQueue, LeasedDispatch } from "../queue/queue.ts";

const CLAIM_LIMITS: ClaimLimits = { dispatches: 500, bodyBytes: 8 * 1024 * 1024 };
/**
 * How often the queue is asked when nobody says that something is due. Retries
 * become due by themselves: asked once a second, those of a busy failing
 * endpoint came as one burst that made its neighbours wait 50 ms.
 */
export const POLL_MS = 200;
/** How soon it is asked again after something was due: retries of a busy endpoint trickle on, better in small groups. */
const BUSY_POLL_MS = 50;

export type Claims = {
  start(): void;
  /** Something is due now: claim without waiting for the next poll. */
  wake(): void;
  /** When it last looked, on the monotonic clock in milliseconds. */
  lastLookAt(): number;
  /** Ends when the claim under way has. */
  stop(): Promise<void>;
};

export function makeClaims(services: {
  queue: Pick<DispatchQueue, "claim">;
  outbox: Outbox;
  /** Whether more can be taken; without room the queue is left to others. */
  hasRoom: () => boolean;
  take: (claimed: readonly LeasedDispatch[]) => void;
  withoutEvent: (claimed: readonly LeasedDispatch[]) => void;
  /** Endpoints for which more cannot be taken; what is due of them is turned away. */
  crowded: () => CrowdedEndpoint[];
  turnedAway: (endpoint: CrowdedEndpoint, count: number) => void;
  log: Log;
}): Claims {
  const { queue, outbox, hasRoom, take, withoutEvent, crowded, turnedAway, log } = services;
  const stopping = new AbortController();
  let wakeUp = Promise.withResolvers<void>();
  let claiming: Promise<void> | null = null;
  let lastLookAt = performance.now();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = wakeUp.promise;
      const found = await claimOnce();
      if (found === "more") continue;
      await Promise.race([woken, pause(found === "some" ? BUSY_POLL_MS : POLL_MS, stopping.signal)]);
      wakeUp = Promise.withResolvers<void>();
    }
  }

  /** What was due: "more" when the rest is to be claimed at once. */
  async function claimOnce(): Promise<"nothing" | "some" | "more"> {
    if (!hasRoom()) {
      // Busy, not stuck.
      lastLookAt = performance.now();
      return "nothing";
    }
    // What SQL published comes first, so that this same look claims it.
    const relayed = await relayOutbox();
    try {
      const without = crowded();
      const found = await queue.claim(CLAIM_LIMITS, without);
      const { claimed, isAll } = found;
      lastLookAt = performance.now();
      for (const endpoint of without) turnedAway(endpoint, found.turnedAway.get(endpoint.endpointId) ?? 0);
      withoutEvent(found.withoutEvent);
      take(claimed);
      if (!isAll || relayed === "more") return "more";
      return claimed.length > 0 ? "some" : "nothing";
    } catch (error) {
      log.warn({ err: error }, "nothing could be claimed");
      return "nothing";
    }
  }

  async function relayOutbox(): Promise<"all" | "more"> {
    try {
      return await outbox.relay();
    } catch (error) {
      log.warn({ err: error }, "the outbox could not be relayed");
      return "all";
    }
  }

  return {
    start() {
      claiming ??= loop();
    },
    wake: () => wakeUp.resolve(),
    lastLookAt: () => lastLookAt,
    async stop() {
      stopping.abort();
      wakeUp.resolve();
      await claiming;
    },
  };
}
