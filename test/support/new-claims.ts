/** Claims of a worker, with what becomes of what they bring. */
import type { LeasedDispatch } from "../../src/queue/queue.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { makeLog } from "../../src/telemetry/log.ts";
import type { CatchUp } from "../../src/worker/catch-up.ts";
import { makeClaims, type ClaimsServices } from "../../src/worker/claims.ts";
import { VirtualClock } from "./virtual-clock.ts";

export type GivenForClaims = Pick<ClaimsServices, "lanes"> & { catchUp: CatchUp } & Partial<
    Pick<ClaimsServices, "clock" | "slots" | "outbox" | "pulled" | "log"> & { isConfirmed: () => boolean }
  >;

/** Of a worker that has all slots, where nothing else is given. */
export function newClaims(
  { isConfirmed = () => true, ...given }: GivenForClaims,
  queue: Partial<ClaimsServices["queue"]>,
) {
  const went = {
    taken: [] as LeasedDispatch[],
    parked: [] as LeasedDispatch[],
    without: [] as LeasedDispatch[],
  };
  const claims = makeClaims({
    queue: {
      claim: async () => ({ claimed: [], withoutEvent: [], isAll: true }),
      park: async () => true,
      parkOldest: async () => undefined,
      pull: async () => new Map(),
      findBacklogs: async () => [],
      ...queue,
    },
    outbox: { relay: async () => "all" },
    slots: { owned: () => ALL_SLOTS },
    presence: {
      isConfirmed,
      unbrokenSince: () => 0,
      whenConfirmed: () => undefined,
      covers: () => true,
    },
    clock: new VirtualClock(),
    log: makeLog("silent"),
    take: (dispatches) => void went.taken.push(...dispatches),
    park: (dispatches) => void went.parked.push(...dispatches),
    pulled: () => undefined,
    withoutEvent: (dispatches) => void went.without.push(...dispatches),
    ...given,
  });
  return { claims, went };
}
