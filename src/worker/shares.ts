/**
 * How a worker's memory and its attempts in flight are divided. A tenant may
 * hold at most as much as is still free, and an endpoint at most as much as its
 * tenant may still take. However many greedy tenants there are, each then ends
 * with an equal part, and one such part stays free for the next tenant
 * (a switch shares the buffer between its queues in this way: Choudhury and
 * Hahne, "Dynamic Queue Length Thresholds", 1998). Pure.
 */
import type { LeasedDispatch } from "../queue/queue.ts";

export type ShareLimits = {
  /** Attempts in flight: the pool that is divided, at most for one tenant, and for each tenant however busy the rest are. */
  inFlight: number;
  inFlightPerTenant: number;
  inFlightAlways: number;
  /** {@link weightOf} of the dispatches in memory: the pool that is divided. */
  weight: number;
};

export type Held = { weight: number; inFlight: number };

/** How far beyond the pool a tenant that holds little may go. */
const RESERVE = 1.5;
const LITTLE_WEIGHT = 64 * 1024;
/** Bytes that a dispatch takes beside its body. */
const OVERHEAD = 1024;

/** The approximate bytes that a dispatch takes in memory. */
export function weightOf(dispatch: Pick<LeasedDispatch, "body">): number {
  return OVERHEAD + dispatch.body.length;
}

/** The weight that a lane may still take: dispatches until their sum exceeds it, none at 0. */
export function roomIn(limits: ShareLimits, all: Held, tenant: Held, lane: Held): number {
  const free = limits.weight - all.weight;
  // A dispatch in memory counts three times: as the lane's, as the tenant's, and as no longer free.
  const shared = lane.weight === 0 ? (free - tenant.weight) / 2 : (free - tenant.weight - lane.weight) / 3;
  const little = all.weight < limits.weight * RESERVE ? LITTLE_WEIGHT - tenant.weight : 0;
  return Math.max(0, Math.floor(Math.max(shared, little)));
}

/** Whether a tenant may start one more attempt. */
export function mayStart(limits: ShareLimits, all: Held, tenant: Held): boolean {
  if (tenant.inFlight < limits.inFlightAlways) return all.inFlight < limits.inFlight * RESERVE;
  const free = limits.inFlight - all.inFlight;
  return tenant.inFlight < Math.min(limits.inFlightPerTenant, free);
}

/** The weight that each tenant may keep once memory has run short; null while there is enough. */
export function fairWeight(limits: ShareLimits, all: Held, tenants: number): number | null {
  const fair = limits.weight / (tenants + 1);
  return limits.weight - all.weight < fair ? fair : null;
}
