import { LRUCache } from "lru-cache";
import type { EndpointId } from "../shared/id.ts";
/**
 * The order in which a worker makes the attempts that it has leased: one lane
 * an endpoint, lanes of a tenant in turn, tenants in turn, and never more in
 * flight than the limits say. So neither a slow endpoint nor a busy tenant
 * stands in another's way. How many attempts an endpoint gets at once is
 * learned: one more after each round of them that came back while the lane was
 * full, half for each that hung. Pure bookkeeping: no clock, no I/O.
 */
import type { EventAtEndpoint, LeasedDispatch } from "../queue/queue.ts";
import type { LaneProgress } from "./return-times.ts";

export type LaneLimits = {
  inFlight: number;
  inFlightPerTenant: number;
  inFlightPerEndpoint: number;
  /** What an endpoint begins with: opening many connections at once would make all others wait. */
  firstInFlightPerEndpoint: number;
  /** What an endpoint keeps however slow it is. */
  leastInFlightPerEndpoint: number;
  waitingPerEndpoint: number;
  /** Characters of bodies that may wait in all, for one tenant, and for one endpoint. */
  waitingBodySize: number;
  waitingBodySizePerTenant: number;
  waitingBodySizePerEndpoint: number;
};

type Lane = {
  tenant: Tenant;
  key: EndpointId;
  waiting: LeasedDispatch[];
  head: number;
  bodySize: number;
  inFlight: number;
  finished: number;
  isPaused: boolean;
};
type Tenant = { id: string; ready: Set<Lane>; lanes: number; inFlight: number; bodySize: number };

const MAX_WIDTHS = 10_000;

export class Lanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<EndpointId, Lane>();
  readonly #tenants = new Map<string, Tenant>();
  /** How many attempts an endpoint may have in flight, as far as that is known; a fraction is the way to one more. */
  readonly #widths = new LRUCache<EndpointId, number>({ max: MAX_WIDTHS });
  readonly #readyTenants = new Set<Tenant>();
  readonly #crowded = new Set<Lane>();
  #waiting = 0;
  #waitingBodySize = 0;
  #inFlight = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** False once so much waits that what is accepted next is better left to the table. */
  get hasRoom(): boolean {
    return this.#waitingBodySize < this.#limits.waitingBodySize;
  }

  /** Whether the endpoint was slow lately. */
  isSlow(endpointId: EndpointId): boolean {
    return this.#widthOf(endpointId) < this.#limits.firstInFlightPerEndpoint;
  }

  /** How the endpoint's lane gets on. */
  progressOf(endpointId: EndpointId): LaneProgress {
    const lane = this.#lanes.get(endpointId);
    const waiting = lane === undefined ? 0 : lane.waiting.length - lane.head;
    return { finished: lane?.finished ?? 0, waiting, isSlow: this.isSlow(endpointId) };
  }

  /** The endpoints whose lanes turned something away and are still full. */
  crowded(): EndpointId[] {
    for (const lane of this.#crowded) if (!this.#isFull(lane)) this.#crowded.delete(lane);
    return [...this.#crowded].map((lane) => lane.key);
  }

  /** Queues a dispatch in its endpoint's lane; false when that lane is full, or its tenant has enough in others. */
  offer(dispatch: LeasedDispatch): boolean {
    const lane = this.#laneOf(dispatch);
    if (this.#isFull(lane)) {
      this.#crowded.add(lane);
      return false;
    }
    lane.waiting.push(dispatch);
    this.#count(lane, 1, dispatch.body.length);
    this.#refresh(lane);
    return true;
  }

  /** The next attempt to make, now counted as in flight; null when nothing may start. */
  next(): LeasedDispatch | null {
    if (this.#inFlight >= this.#limits.inFlight) return null;
    const [tenant] = this.#readyTenants;
    const [lane] = tenant?.ready ?? [];
    const dispatch = lane?.waiting[lane.head];
    if (tenant === undefined || lane === undefined || dispatch === undefined) return null;
    lane.head++;
    if (lane.head === lane.waiting.length || lane.head > 1000) {
      lane.waiting = lane.waiting.slice(lane.head);
      lane.head = 0;
    }
    this.#count(lane, -1, -dispatch.body.length);
    this.#inFlight++;
    lane.inFlight++;
    tenant.inFlight++;
    // To the end of both rings: the others come first next time.
    tenant.ready.delete(lane);
    this.#readyTenants.delete(tenant);
    this.#refresh(lane);
    return dispatch;
  }

  /** The attempt that {@link next} gave out is over; `wasSlow` when it held its place for long. */
  finished(dispatch: LeasedDispatch, wasSlow: boolean): void {
    const lane = this.#lanes.get(dispatch.endpointId);
    if (lane === undefined) throw new Error("finished an attempt that no lane had started");
    this.#adapt(lane, wasSlow);
    this.#inFlight--;
    lane.inFlight--;
    lane.finished++;
    lane.tenant.inFlight--;
    this.#refresh(lane);
  }

  /** Puts back what {@link next} gave out, first in its lane, and starts nothing there until {@link unpause}. */
  putBackAndPause(dispatch: LeasedDispatch): void {
    const lane = this.#laneOf(dispatch);
    lane.waiting = [dispatch, ...lane.waiting.slice(lane.head)];
    lane.head = 0;
    lane.isPaused = true;
    this.#count(lane, 1, dispatch.body.length);
    this.#refresh(lane);
  }

  unpause(dispatch: LeasedDispatch): void {
    const lane = this.#lanes.get(dispatch.endpointId);
    if (lane === undefined) return;
    lane.isPaused = false;
    this.#refresh(lane);
  }

  /** Takes an event's dispatches out of an endpoint's lane; what is in flight goes on. */
  withdraw({ endpointId, eventId }: EventAtEndpoint): LeasedDispatch[] {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return [];
    const waiting = lane.waiting.slice(lane.head);
    const withdrawn = waiting.filter((dispatch) => dispatch.eventId === eventId);
    lane.waiting = waiting.filter((dispatch) => dispatch.eventId !== eventId);
    lane.head = 0;
    const bodySize = withdrawn.reduce((sum, dispatch) => sum + dispatch.body.length, 0);
    this.#count(lane, -withdrawn.length, -bodySize);
    this.#refresh(lane);
    return withdrawn;
  }

  /** Empties every lane; what is in flight stays counted. */
  takeAll(): LeasedDispatch[] {
    const taken: LeasedDispatch[] = [];
    for (const lane of this.#lanes.values()) {
      const waiting = lane.waiting.slice(lane.head);
      taken.push(...waiting);
      lane.waiting = [];
      lane.head = 0;
      this.#count(lane, -waiting.length, -lane.bodySize);
      this.#refresh(lane);
    }
    return taken;
  }

  /** However much its tenant has waiting elsewhere, a lane takes what it could start at once. */
  #isFull(lane: Lane): boolean {
    const waiting = lane.waiting.length - lane.head;
    return (
      waiting >= this.#limits.waitingPerEndpoint ||
      lane.bodySize >= this.#limits.waitingBodySizePerEndpoint ||
      (lane.tenant.bodySize >= this.#limits.waitingBodySizePerTenant && waiting >= this.#widthOf(lane.key))
    );
  }

  #count(lane: Lane, dispatches: number, bodySize: number): void {
    lane.bodySize += bodySize;
    lane.tenant.bodySize += bodySize;
    this.#waiting += dispatches;
    this.#waitingBodySize += bodySize;
  }

  #widthOf(endpointId: EndpointId): number {
    return this.#widths.get(endpointId) ?? this.#limits.firstInFlightPerEndpoint;
  }

  /**
   * A lane that does not use its width learns nothing about a larger one. Were it
   * to grow all the same, the first burst of retries would open connections by
   * the dozen at once, and all other endpoints would wait for the handshakes.
   */
  #adapt(lane: Lane, wasSlow: boolean): void {
    const width = this.#widthOf(lane.key);
    const whole = Math.floor(width);
    const { inFlightPerEndpoint: most, leastInFlightPerEndpoint: least } = this.#limits;
    if (wasSlow) this.#widths.set(lane.key, Math.max(least, Math.floor(width / 2)));
    else if (lane.inFlight >= whole) this.#widths.set(lane.key, Math.min(most, width + 1 / whole));
  }

  #laneOf(dispatch: LeasedDispatch): Lane {
    const known = this.#lanes.get(dispatch.endpointId);
    if (known !== undefined) return known;
    let tenant = this.#tenants.get(dispatch.tenantId);
    if (tenant === undefined) {
      tenant = { id: dispatch.tenantId, ready: new Set(), lanes: 0, inFlight: 0, bodySize: 0 };
      this.#tenants.set(tenant.id, tenant);
    }
    const lane = {
      tenant,
      key: dispatch.endpointId,
      waiting: [],
      head: 0,
      bodySize: 0,
      inFlight: 0,
      finished: 0,
      isPaused: false,
    };
    tenant.lanes++;
    this.#lanes.set(lane.key, lane);
    return lane;
  }

  /** Puts the lane and its tenant in or out of the rings, and forgets those that are idle. */
  #refresh(lane: Lane): void {
    const { tenant } = lane;
    const isWaiting = lane.head < lane.waiting.length;
    const mayStart = !lane.isPaused && lane.inFlight < Math.floor(this.#widthOf(lane.key));
    if (isWaiting && mayStart) tenant.ready.add(lane);
    else tenant.ready.delete(lane);
    if (!isWaiting && lane.inFlight === 0) {
      this.#lanes.delete(lane.key);
      this.#crowded.delete(lane);
      tenant.lanes--;
    }
    if (tenant.ready.size > 0 && tenant.inFlight < this.#limits.inFlightPerTenant)
      this.#readyTenants.add(tenant);
    else this.#readyTenants.delete(tenant);
    if (tenant.lanes === 0) this.#tenants.delete(tenant.id);
  }
}
