/**
 * Empties slots before another worker gets them, and takes over slots from
 * another. Dispatches in memory return to the table. Attempts in flight get a
 * moment to end. The next owner is told of the rest, and counts them as its own
 * until they are over.
 */
import { sleep, type Clock } from "../shared/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import type { DispatchQueue, LeasedDispatch } from "../queue/queue.ts";
import { SlotSet, slotOf, type InFlight, type Slot, type SlotStore } from "../queue/slots.ts";
import type { CatchUp } from "./catch-up.ts";
import type { Lanes } from "./lanes.ts";
import type { SlotHolder } from "./slot-keeper.ts";

/** Most attempts end within it; an endpoint in a slot that moves waits at most so long. */
const DRAIN_MS = 500;
const DRAIN_LOOK_MS = 10;
const ELSEWHERE_LOOK_MS = 500;

type HandOverServices = {
  queue: Pick<DispatchQueue, "findBacklogs" | "findDue">;
  store: Pick<SlotStore, "stillInFlight">;
  lanes: Lanes;
  catchUp: Pick<CatchUp, "arrive" | "arrived" | "note" | "leave">;
  clock: Clock;
  log: Log;
  giveBack: (dispatches: readonly LeasedDispatch[]) => void;
  /** Ends when nothing that began before can bring dispatches, and what was given back is in the table. */
  settled: () => Promise<unknown>;
  pump: () => void;
  wake: () => void;
  /** Once aborted, it no longer asks about attempts of others. */
  stopping: AbortSignal;
};

export function makeHandOver(services: HandOverServices): SlotHolder {
  const { queue, lanes, catchUp, clock, giveBack, settled, wake } = services;
  const elsewhere = makeElsewhere(services);
  return {
    async arrive(taken) {
      const slots = new SlotSet(taken.map(({ slot }) => slot));
      lanes.arrive(
        taken.map(({ slot }) => slot),
        clock.nowMs(),
      );
      catchUp.arrive(slots);
      catchUp.note(await queue.findDue(slots), slots);
      for (const endpoint of await queue.findBacklogs()) {
        if (slots.has(slotOf(endpoint.endpointId))) lanes.foundBacklog(endpoint, clock.nowMs());
      }
      // Of a slot that comes back, the lanes still count this worker's own attempts.
      const own = new Set(lanes.started((slot) => slots.has(slot)).map(({ id }) => id));
      elsewhere.add(taken.flatMap(({ inFlight }) => inFlight).filter(({ id }) => !own.has(id)));
    },
    ready() {
      catchUp.arrived();
      wake();
    },
    async leave(isLeaving) {
      const untilMs = clock.nowMs() + DRAIN_MS;
      giveBack(catchUp.leave(isLeaving));
      giveBack(lanes.leave(isLeaving, clock.nowMs()));
      await Promise.race([settled(), sleep(clock, DRAIN_MS)]);
      while (lanes.started(isLeaving).length > 0 && clock.nowMs() < untilMs) {
        await sleep(clock, DRAIN_LOOK_MS);
      }
      const own = lanes
        .started(isLeaving)
        .map(({ tenantId, endpointId, id, leaseId }) => ({ tenantId, endpointId, id, leaseId }));
      return [...own, ...elsewhere.remove(isLeaving)];
    },
  };
}

/** Attempts of former owners that may still be in flight, as the lanes must count them. */
function makeElsewhere({ store, lanes, clock, log, pump, stopping }: HandOverServices) {
  const tell = warnSeldom(log, "attempts of other workers could not be read");
  let known: readonly InFlight[] = [];
  let isLooking = false;

  function lookSoon(): void {
    if (isLooking || known.length === 0 || stopping.aborted) return;
    isLooking = true;
    clock.after(ELSEWHERE_LOOK_MS, () => void look());
  }

  async function look(): Promise<void> {
    if (stopping.aborted) return;
    try {
      const asked = new Set(known.map(({ id }) => id));
      const left = new Set((await store.stillInFlight(known)).map(({ id }) => id));
      set(known.filter(({ id }) => !asked.has(id) || left.has(id)));
    } catch (error) {
      tell(error);
    }
    isLooking = false;
    lookSoon();
    pump();
  }

  function set(attempts: readonly InFlight[]): void {
    const endpoints = new Map([...known, ...attempts].map((attempt) => [attempt.endpointId, attempt]));
    // A slot that is taken again after a break may name attempts that are known.
    known = [...new Map(attempts.map((attempt) => [attempt.id, attempt])).values()];
    for (const endpoint of endpoints.values()) {
      const count = known.filter(({ endpointId }) => endpointId === endpoint.endpointId).length;
      lanes.setElsewhere(endpoint, count, clock.nowMs());
    }
  }

  return {
    add(attempts: readonly InFlight[]): void {
      set([...known, ...attempts]);
      lookSoon();
    },
    remove(isLeaving: (slot: Slot) => boolean): InFlight[] {
      const leaving = known.filter(({ endpointId }) => isLeaving(slotOf(endpointId)));
      set(known.filter((attempt) => !leaving.includes(attempt)));
      return leaving;
    },
  };
}
