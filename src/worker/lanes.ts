/**
 * The order in which a worker makes the attempts that it has leased: one lane
 * per endpoint, a tenant's lanes in turn, tenants in turn, within the shares
 * that each may hold ({@link roomIn}, {@link mayStart}). So neither a
 * slow endpoint nor a busy tenant delays another. Pure bookkeeping: the time
 * comes in, nothing is sent.
 */
import { LRUCache } from "lru-cache";
import type { Ask, EventAtEndpoint, LeasedDispatch } from "../queue/queue.ts";
import { slotOf, SlotSet, type Slot } from "../queue/slots.ts";
import type { EndpointId, EndpointKey, TenantId } from "../shared/id.ts";
import { BackloggedLanes } from "./backlogged-lanes.ts";
import { Lane, newLearned, type LaneTenant, type Learned } from "./lane.ts";
import { fairWeight, mayStart, roomIn, type Held, type ShareLimits } from "./shares.ts";
import { FIRST_WIDTH } from "./width.ts";

export const SHARES: ShareLimits = {
  inFlight: 2048,
  inFlightPerTenant: 512,
  inFlightAlways: 8,
  weight: 32 * 1024 * 1024,
};

/** What to do next: make an attempt, or come back for an endpoint when its rate limit lets it go on. */
export type Next =
  | { kind: "start"; dispatch: LeasedDispatch }
  | { kind: "pause"; endpointId: EndpointId; untilMs: number };

const MAX_LEARNED = 10_000;
/** A lane keeps a little more than its capacity, so that it is not trimmed and filled in turn. */
const TRIM_ABOVE = 1.5;

export class Lanes {
  readonly #limits: ShareLimits;
  readonly #lanes = new Map<EndpointId, Lane>();
  readonly #tenants = new Map<TenantId, LaneTenant>();
  readonly #learned = new LRUCache<EndpointId, Learned>({ max: MAX_LEARNED });
  readonly #readyTenants = new Set<LaneTenant>();
  readonly #backlogged = new BackloggedLanes();
  readonly #arrivedAtMs: number[] = [];
  readonly #all: Held & { waiting: number } = { weight: 0, inFlight: 0, waiting: 0 };

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#all.waiting;
  }

  get inFlight(): number {
    return this.#all.inFlight;
  }

  /** Bytes, about, of what waits and of what is in flight. */
  get weight(): number {
    return this.#all.weight;
  }

  /** Endpoints with dispatches in the table that their lanes had no room for. */
  get backlogs(): number {
    return this.#backlogged.all().length;
  }

  /** False once even a tenant that holds nothing would be refused. */
  get hasRoom(): boolean {
    return roomIn(this.#limits, this.#all, { weight: 0, inFlight: 0 }, { weight: 0, inFlight: 0 }) > 0;
  }

  /** Queues a dispatch in its endpoint's lane; false when that lane is full or backlogged. */
  offer(dispatch: LeasedDispatch, nowMs: number): boolean {
    const lane = this.#laneOf(dispatch, nowMs);
    const weight = lane.weigh(dispatch);
    const isFull = lane.waiting >= lane.capacityAt(nowMs) || this.#roomFor(lane, weight) === 0;
    if (lane.state !== "open" || isFull) {
      this.#refuse(lane, 1);
      return false;
    }
    this.#push(lane, dispatch, nowMs);
    return true;
  }

  /** What to do next; null when nothing may start. */
  next(nowMs: number): Next | null {
    for (const tenant of this.#readyTenants) {
      if (!mayStart(this.#limits, this.#all, tenant)) continue;
      const [lane] = tenant.ready;
      if (lane === undefined) continue;
      // To the end of both rings: the others come first next time.
      tenant.ready.delete(lane);
      this.#readyTenants.delete(tenant);
      const next = this.#startOf(lane, nowMs);
      this.#refresh(lane, nowMs);
      if (next !== null) return next;
    }
    return null;
  }

  /** The attempt that {@link next} gave out is over; `wasSlow` when its receiver held it for long. */
  finished(dispatch: LeasedDispatch, wasSlow: boolean, nowMs: number): void {
    this.#ended(dispatch, nowMs, (lane) => lane.finish(dispatch, wasSlow, nowMs));
  }

  /** What {@link next} gave out went back to the table without an attempt. */
  returned(dispatch: LeasedDispatch, nowMs: number): void {
    this.#ended(dispatch, nowMs, (lane) => lane.forget(dispatch));
  }

  /**
   * The endpoint's rate limit as it is now. Milliseconds that the dispatch must
   * wait for it, which is then in line again; 0 when it may be sent.
   */
  keepRate(dispatch: LeasedDispatch, perSecond: number | null, nowMs: number): number {
    const lane = this.#laneOf(dispatch, nowMs);
    const waitMs = lane.keepRate(dispatch, perSecond, nowMs);
    if (waitMs > 0) {
      this.#all.waiting++;
      this.#ended(dispatch, nowMs, () => undefined);
    }
    return waitMs;
  }

  /** The pause that {@link next} or {@link keepRate} answered is over. */
  turnCame(endpointId: EndpointId, nowMs: number): void {
    const lane = this.#lanes.get(endpointId);
    if (lane !== undefined) this.#refresh(lane, nowMs);
  }

  /** The refused or trimmed dispatches are parked in the table, or their leases are lost. */
  parked(dispatches: readonly LeasedDispatch[]): void {
    for (const { endpointId } of dispatches) {
      const lane = this.#lanes.get(endpointId);
      if (lane !== undefined) lane.leaving--;
    }
  }

  /** The table holds parked dispatches of the endpoint. */
  foundBacklog(endpoint: EndpointKey, nowMs: number): void {
    this.#refuse(this.#laneOf(endpoint, nowMs), 0);
  }

  /** Endpoints in these slots, of all tenants or of these, that take only the dispatches that they ask for. */
  backlogged(slots: SlotSet, tenants?: readonly TenantId[]): EndpointId[] {
    const lanes =
      tenants === undefined
        ? this.#backlogged.all()
        : tenants.flatMap((id) => this.#backlogged.of(this.#tenants.get(id)));
    return lanes.map((lane) => lane.endpointId).filter((id) => slots.has(slotOf(id)));
  }

  /** The requests of backlogged lanes in these slots that run low, tenants in turn, `most` together. Each must be answered by {@link pulled}. */
  ask(slots: SlotSet, most: { dispatches: number; weight: number }, nowMs: number): Ask[] {
    const asks: Ask[] = [];
    let { dispatches, weight } = most;
    for (const lane of this.#backlogged.inTurn()) {
      if (!slots.has(slotOf(lane.endpointId))) continue;
      if (dispatches <= 0 || weight <= 0) break;
      const capacity = lane.pullCapacityAt(nowMs);
      const { typicalWeight } = lane.learned;
      const room = this.#roomFor(lane, typicalWeight);
      if (lane.state !== "backlogged" || lane.leaving > 0 || lane.waiting > capacity / 2 || room === 0)
        continue;
      const ask = {
        tenantId: lane.tenant.id,
        endpointId: lane.endpointId,
        dispatches: Math.min(capacity - lane.waiting, dispatches),
        bodyBytes: 0,
      };
      ask.bodyBytes = Math.min(room, weight, 2 * typicalWeight * ask.dispatches);
      dispatches -= ask.dispatches;
      weight -= ask.bodyBytes;
      asks.push(ask);
      lane.move("asked");
      this.#reweigh(lane, () => lane.pledge(ask.bodyBytes));
      this.#backlogged.hadTurn(lane);
    }
    return asks;
  }

  /**
   * The answer to an {@link ask}: the leased dispatches, and whether no more are
   * parked. False when the lane does not wait for it any more, because its slot
   * was left meanwhile.
   */
  pulled(
    endpointId: EndpointId,
    { dispatches, isAll }: { dispatches: readonly LeasedDispatch[]; isAll: boolean },
    nowMs: number,
  ): boolean {
    const lane = this.#lanes.get(endpointId);
    if (lane?.isPulling !== true) return false;
    lane.move(isAll ? "drained" : "pulled");
    if (lane.state === "open") this.#backlogged.delete(lane);
    this.#reweigh(lane, () => lane.pledge(0));
    for (const dispatch of dispatches) this.#push(lane, dispatch, nowMs);
    this.#refresh(lane, nowMs);
    return true;
  }

  /**
   * To be called a few times a second. Takes out dispatches that a lane cannot
   * finish soon, and those beyond their tenant's part when memory is short. In
   * the table they delay no other dispatch.
   */
  tend(nowMs: number): LeasedDispatch[] {
    const fair = fairWeight(this.#limits, this.#all, this.#tenants.size);
    const out: LeasedDispatch[] = [];
    for (const lane of this.#lanes.values()) {
      const capacity = lane.capacityAt(nowMs);
      const count = lane.waiting > capacity * TRIM_ABOVE ? capacity : Infinity;
      const isOver = fair !== null && lane.tenant.weight > 2 * fair;
      const weight = isOver ? fair / lane.tenant.lanes.size : Infinity;
      const isRight = count === Infinity && weight === Infinity;
      const taken = isRight ? [] : this.#takeOut(lane, () => lane.trim({ count, weight }));
      if (taken.length > 0) {
        this.#refuse(lane, taken.length);
        out.push(...taken);
      }
      this.#refresh(lane, nowMs);
    }
    return out;
  }

  /** Removes an event's waiting dispatches at an endpoint. An attempt in flight continues. */
  withdraw({ endpointId, eventId }: EventAtEndpoint, nowMs: number): LeasedDispatch[] {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return [];
    const taken = this.#takeOut(lane, () => lane.withdraw((dispatch) => dispatch.eventId === eventId));
    this.#refresh(lane, nowMs);
    return taken;
  }

  /** This worker makes the attempts of these slots from now on. */
  arrive(slots: readonly Slot[], nowMs: number): void {
    for (const slot of slots) this.#arrivedAtMs[slot] = nowMs;
    const arriving = new SlotSet(slots);
    // Lanes that kept attempts in flight since the slot was left, or the presence had a break.
    for (const lane of this.#lanesOf((slot) => arriving.has(slot))) lane.learned.turn.sinceMs = nowMs;
  }

  /** Empties the lanes of these slots, or of all, and forgets what they learned. Attempts in flight stay counted. */
  leave(isLeaving: (slot: Slot) => boolean, nowMs: number): LeasedDispatch[] {
    const out: LeasedDispatch[] = [];
    for (const lane of this.#lanesOf(isLeaving)) {
      out.push(...this.#takeOut(lane, () => lane.withdraw(() => true)));
      lane.move("left");
      lane.learned.width = FIRST_WIDTH;
      this.#backlogged.delete(lane);
      this.#reweigh(lane, () => lane.pledge(0));
      this.#refresh(lane, nowMs);
    }
    for (const endpointId of this.#learned.keys()) {
      if (isLeaving(slotOf(endpointId)) && !this.#lanes.has(endpointId)) this.#learned.delete(endpointId);
    }
    return out;
  }

  /** Attempts in flight in these slots. */
  started(isWanted: (slot: Slot) => boolean): LeasedDispatch[] {
    return this.#lanesOf(isWanted).flatMap((lane) => lane.started);
  }

  /** How many attempts other workers still have in flight at the endpoint. */
  setElsewhere(endpoint: EndpointKey, count: number, nowMs: number): void {
    const lane = this.#laneOf(endpoint, nowMs);
    lane.learned.elsewhere = count;
    this.#refresh(lane, nowMs);
  }

  #lanesOf(isWanted: (slot: Slot) => boolean): Lane[] {
    return [...this.#lanes.values()].filter(({ endpointId }) => isWanted(slotOf(endpointId)));
  }

  #refuse(lane: Lane, count: number): void {
    lane.move("refused");
    lane.leaving += count;
    this.#backlogged.add(lane);
  }

  #startOf(lane: Lane, nowMs: number): Next | null {
    if (!lane.canStartAt(nowMs)) return null;
    const started = lane.start(nowMs);
    if ("untilMs" in started) return { kind: "pause", endpointId: lane.endpointId, untilMs: started.untilMs };
    this.#all.waiting--;
    this.#all.inFlight++;
    lane.tenant.inFlight++;
    return { kind: "start", dispatch: started.dispatch };
  }

  #push(lane: Lane, dispatch: LeasedDispatch, nowMs: number): void {
    this.#reweigh(lane, () => lane.push(dispatch, nowMs));
    this.#all.waiting++;
    this.#refresh(lane, nowMs);
  }

  #ended(dispatch: LeasedDispatch, nowMs: number, end: (lane: Lane) => void): void {
    const lane = this.#laneOf(dispatch, nowMs);
    this.#reweigh(lane, () => end(lane));
    this.#all.inFlight--;
    lane.tenant.inFlight--;
    this.#refresh(lane, nowMs);
  }

  /** A change of a lane's load also changes its tenant's and the total. */
  #reweigh<T>(lane: Lane, change: () => T): T {
    const before = lane.weight;
    const result = change();
    lane.tenant.weight += lane.weight - before;
    this.#all.weight += lane.weight - before;
    return result;
  }

  #takeOut(lane: Lane, take: () => LeasedDispatch[]): LeasedDispatch[] {
    const taken = this.#reweigh(lane, take);
    this.#all.waiting -= taken.length;
    return taken;
  }

  /** How much the lane may still take; 0 if one dispatch of this weight is too much, unless it is its tenant's only one. */
  #roomFor(lane: Lane, weight: number): number {
    const room = roomIn(this.#limits, this.#all, lane.tenant, lane);
    if (room >= weight) return room;
    // Only within the pool: the reserve beyond it is for tenants that hold little.
    return lane.tenant.weight === 0 && this.#all.weight < this.#limits.weight ? weight : 0;
  }

  #laneOf(of: EndpointKey, nowMs: number): Lane {
    const known = this.#lanes.get(of.endpointId);
    if (known !== undefined) return known;
    let tenant = this.#tenants.get(of.tenantId);
    if (tenant === undefined) {
      tenant = { id: of.tenantId, lanes: new Set(), ready: new Set(), weight: 0, inFlight: 0 };
      this.#tenants.set(tenant.id, tenant);
    }
    let learned = this.#learned.get(of.endpointId);
    if (learned === undefined) this.#learned.set(of.endpointId, (learned = newLearned()));
    learned.turn.sinceMs = this.#arrivedAtMs[slotOf(of.endpointId)] ?? -Infinity;
    const lane = new Lane(tenant, of.endpointId, { learned, nowMs });
    tenant.lanes.add(lane);
    this.#lanes.set(lane.endpointId, lane);
    return lane;
  }

  /** Adds the lane and its tenant to the rings or removes them, and deletes idle ones. */
  #refresh(lane: Lane, nowMs: number): void {
    const { tenant } = lane;
    if (lane.canStartAt(nowMs)) tenant.ready.add(lane);
    else tenant.ready.delete(lane);
    if (tenant.ready.size > 0) this.#readyTenants.add(tenant);
    else this.#readyTenants.delete(tenant);
    if (!lane.isIdle) return;
    this.#lanes.delete(lane.endpointId);
    tenant.lanes.delete(lane);
    if (tenant.lanes.size === 0) this.#tenants.delete(tenant.id);
  }
}
