/**
 * One endpoint's line in a worker's memory.
 *
 * A lane is *open* while its endpoint has no dispatches parked in the table:
 * it takes whatever is claimed or accepted. Once it must refuse one, or is
 * known to have parked ones, it is *backlogged*: it refuses everything, so that
 * newer dispatches line up behind older ones in the table, and asks for the
 * oldest of them as it empties. While such a request runs it is *pulling*, or
 * *pulling_more* once something was refused meanwhile, which the answer may not
 * know. When a request finds all there is, the lane is open again. A lane whose
 * slot goes to another worker is *left*: what is parked is that worker's then.
 *
 * Dispatches start in the order in which they came, also requeued
 * ones. Pure: the time is an argument.
 */
import assert from "node:assert/strict";
import type { LeasedDispatch } from "../queue/queue.ts";
import type { EndpointId, TenantId } from "../shared/id.ts";
import { capacityOf, newPace, noteFinished, type Pace } from "./pace.ts";
import { isStale, takeTurn, type Turn } from "./pacer.ts";
import { weightOf, type Held } from "./shares.ts";
import { FIRST_WIDTH, LEAST_WIDTH, narrower, SLOW_ATTEMPT_MS, wider } from "./width.ts";

export type LaneState = "open" | "backlogged" | "pulling" | "pulling_more";
export type LaneEvent = "refused" | "asked" | "pulled" | "drained" | "left";

const NEXT: Readonly<Record<LaneState, Partial<Record<LaneEvent, LaneState>>>> = {
  open: { refused: "backlogged", left: "open" },
  backlogged: { refused: "backlogged", asked: "pulling", left: "open" },
  pulling: { refused: "pulling_more", pulled: "backlogged", drained: "open", left: "open" },
  pulling_more: { refused: "pulling_more", pulled: "backlogged", drained: "backlogged", left: "open" },
};

/** What a worker remembers of an endpoint after its lane, which is deleted when it is empty. */
export type Learned = {
  width: number;
  perSecond: number | null;
  turn: Turn;
  /** Of the dispatches that came last. */
  typicalWeight: number;
  /** Attempts that the worker that had the slot before still has in flight. */
  elsewhere: number;
};

/** Before any came: more than most events take. */
const UNKNOWN_WEIGHT = 64 * 1024;

export function newLearned(): Learned {
  return {
    width: FIRST_WIDTH,
    perSecond: null,
    turn: { nextMs: -Infinity, sinceMs: -Infinity },
    typicalWeight: UNKNOWN_WEIGHT,
    elsewhere: 0,
  };
}

/** The lanes of a tenant share what it may hold. */
export type LaneTenant = Held & { id: TenantId; lanes: Set<Lane>; ready: Set<Lane> };

type Place = { dispatch: LeasedDispatch; order: number };
/** With the rate limit that was kept when it was given out. `isAsking`: not yet for the limit as it is now. */
type Started = { order: number; atMs: number; perSecond: number | null; isAsking: boolean };

export class Lane implements Held {
  readonly tenant: LaneTenant;
  readonly endpointId: EndpointId;
  readonly learned: Learned;
  readonly #pace: Pace;
  #state: LaneState = "open";
  #waiting: LeasedDispatch[] = [];
  #head = 0;
  /** Of the first that waits; those behind it count on. */
  #firstOrder = 0;
  /** Given out and returned unsent, so ahead of all waiting dispatches; in order. */
  #putBack: Place[] = [];
  readonly #started = new Map<LeasedDispatch, Started>();
  #weight = 0;
  /** Its request to the table, until the answer arrives. */
  #pledged = 0;
  /** Refused or trimmed, and on their way to be parked: a pull now would come before them. */
  leaving = 0;
  #pausedUntilMs = -Infinity;
  #wasSlow = false;

  constructor(tenant: LaneTenant, endpointId: EndpointId, known: { learned: Learned; nowMs: number }) {
    this.tenant = tenant;
    this.endpointId = endpointId;
    this.learned = known.learned;
    this.#pace = newPace(known.nowMs);
  }

  get state(): LaneState {
    return this.#state;
  }

  get waiting(): number {
    return this.#putBack.length + this.#waiting.length - this.#head;
  }

  get inFlight(): number {
    return this.#started.size;
  }

  /** Of waiting dispatches, of dispatches in flight, and of requested ones. */
  get weight(): number {
    return this.#weight + this.#pledged;
  }

  /** It waits for the answer to a request. */
  get isPulling(): boolean {
    return this.#state === "pulling" || this.#state === "pulling_more";
  }

  /** Started, and not over. */
  get started(): LeasedDispatch[] {
    return [...this.#started.keys()];
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.inFlight === 0 && this.leaving === 0 && this.#state === "open";
  }

  /** Notes what a dispatch of this endpoint weighs. */
  weigh(dispatch: LeasedDispatch): number {
    const weight = weightOf(dispatch);
    this.learned.typicalWeight += Math.round((weight - this.learned.typicalWeight) / 4);
    return weight;
  }

  pledge(weight: number): void {
    this.#pledged = weight;
  }

  move(event: LaneEvent): void {
    const next = NEXT[this.#state][event];
    assert.ok(next !== undefined, `a lane that is ${this.#state} cannot be ${event}`);
    this.#state = next;
  }

  /** Attempts that may be in flight at once: the least while one hangs, though it has not ended yet. */
  widthAt(nowMs: number): number {
    return this.#hangsAt(nowMs) ? LEAST_WIDTH : Math.floor(this.learned.width);
  }

  capacityAt(nowMs: number): number {
    const { perSecond } = this.learned;
    const isBacklogged = this.#state !== "open";
    return capacityOf(this.#pace, { width: this.widthAt(nowMs), perSecond, isBacklogged }, nowMs);
  }

  /**
   * As much of what is parked may wait in the lane. Little while its receiver is
   * slow: many attempts that end at their time limit at once look like a fast
   * pace, and what is pulled for it would be parked again.
   */
  pullCapacityAt(nowMs: number): number {
    const isSlow = this.#wasSlow || this.#hangsAt(nowMs);
    return isSlow ? Math.min(this.capacityAt(nowMs), this.widthAt(nowMs)) : this.capacityAt(nowMs);
  }

  /** Whether an attempt may start, its endpoint's rate limit aside. */
  canStartAt(nowMs: number): boolean {
    const inFlight = this.inFlight + this.learned.elsewhere;
    return this.waiting > 0 && nowMs >= this.#pausedUntilMs && inFlight < this.widthAt(nowMs);
  }

  push(dispatch: LeasedDispatch, nowMs: number): void {
    this.#pace.busySinceMs ??= nowMs;
    this.#waiting.push(dispatch);
    this.#weight += weightOf(dispatch);
  }

  /** Starts the first in line; or until when the rate limit pauses the lane. */
  start(nowMs: number): { dispatch: LeasedDispatch } | { untilMs: number } {
    const { perSecond, turn } = this.learned;
    const waitMs = perSecond === null ? 0 : takeTurn(turn, perSecond, nowMs);
    if (waitMs > 0) return { untilMs: (this.#pausedUntilMs = nowMs + waitMs) };
    const { dispatch, order } = this.#shift();
    this.#started.set(dispatch, { order, atMs: nowMs, perSecond, isAsking: true });
    if (this.waiting === 0) this.#pace.busySinceMs = null;
    return { dispatch };
  }

  /** An attempt is over. A lane that does not use its width learns nothing about a larger one. */
  finish(dispatch: LeasedDispatch, wasSlow: boolean, nowMs: number): void {
    this.#takeStarted(dispatch);
    this.#wasSlow = wasSlow;
    const wasFull = this.inFlight + 1 >= Math.floor(this.learned.width);
    if (wasSlow) this.learned.width = narrower(this.learned.width);
    else if (wasFull) this.learned.width = wider(this.learned.width);
    this.#weight -= weightOf(dispatch);
    noteFinished(this.#pace, nowMs);
  }

  /** Given out, and returned to the table without an attempt: that says nothing about its endpoint. */
  forget(dispatch: LeasedDispatch): void {
    this.#takeStarted(dispatch);
    this.#weight -= weightOf(dispatch);
  }

  /**
   * The rate limit as it is now, for a dispatch that was given out. When it must
   * wait for it, as one before it does, it is in line again where it was: the
   * milliseconds, else 0.
   */
  keepRate(dispatch: LeasedDispatch, perSecond: number | null, nowMs: number): number {
    const started = this.#started.get(dispatch);
    assert.ok(started !== undefined, "what keeps a rate was started in this lane");
    this.learned.perSecond = perSecond;
    let waitMs = 0;
    if (this.#mustWaitBehind(started)) waitMs = Math.max(this.#pausedUntilMs - nowMs, 1);
    else if (perSecond !== null && this.#asksTooEarly(started))
      waitMs = Math.max(this.learned.turn.nextMs - nowMs, 1);
    else if (perSecond !== null && !hasTurn(started, perSecond, nowMs))
      waitMs = takeTurn(this.learned.turn, perSecond, nowMs);
    if (waitMs > 0) this.#putBackInLine(dispatch, nowMs + waitMs);
    else started.isAsking = false;
    return waitMs;
  }

  /** Removes the waiting dispatches that `isWanted` selects. */
  withdraw(isWanted: (dispatch: LeasedDispatch) => boolean): LeasedDispatch[] {
    const line = this.#line();
    const wanted = line.filter(({ dispatch }) => isWanted(dispatch));
    if (wanted.length === 0) return [];
    return this.#keep(
      line.filter(({ dispatch }) => !isWanted(dispatch)),
      wanted,
    );
  }

  /** Removes the last waiting dispatches, until at most `count` of together `weight` are left. */
  trim(most: { count: number; weight: number }): LeasedDispatch[] {
    const line = this.#line();
    let kept = 0;
    let weight = 0;
    for (const { dispatch } of line) {
      weight += weightOf(dispatch);
      if (kept >= most.count || weight > most.weight) break;
      kept++;
    }
    return kept === line.length ? [] : this.#keep(line.slice(0, kept), line.slice(kept));
  }

  /** Time goes by while those that were given out ask, and what asks when a turn is free would pass what had to wait. */
  #mustWaitBehind({ order }: Started): boolean {
    const [first] = this.#putBack;
    return first !== undefined && first.order < order;
  }

  /**
   * Whether one before it still asks: it had to wait, and was given out again.
   * Without a limit none had to, so that all ask in their order.
   */
  #asksTooEarly({ order }: Started): boolean {
    return this.#started.values().some((other) => other.isAsking && other.order < order);
  }

  #hangsAt(nowMs: number): boolean {
    const [oldest] = this.#started.values();
    return oldest !== undefined && nowMs - oldest.atMs > SLOW_ATTEMPT_MS;
  }

  #putBackInLine(dispatch: LeasedDispatch, untilMs: number): void {
    const { order } = this.#takeStarted(dispatch);
    const place = this.#putBack.findIndex((other) => other.order > order);
    this.#putBack.splice(place === -1 ? this.#putBack.length : place, 0, { dispatch, order });
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  #line(): Place[] {
    const rest = this.#waiting.slice(this.#head);
    return [
      ...this.#putBack,
      ...rest.map((dispatch, place) => ({ dispatch, order: this.#firstOrder + place })),
    ];
  }

  #keep(kept: Place[], out: readonly Place[]): LeasedDispatch[] {
    this.#putBack = kept.filter(({ order }) => order < this.#firstOrder);
    this.#waiting = kept.flatMap(({ dispatch, order }) => (order < this.#firstOrder ? [] : [dispatch]));
    this.#head = 0;
    for (const { dispatch } of out) this.#weight -= weightOf(dispatch);
    if (this.waiting === 0) this.#pace.busySinceMs = null;
    return out.map(({ dispatch }) => dispatch);
  }

  #shift(): Place {
    const first = this.#putBack.shift();
    if (first !== undefined) return first;
    const dispatch = this.#waiting[this.#head];
    assert.ok(dispatch !== undefined, "an empty lane starts nothing");
    this.#head++;
    if (this.#head === this.#waiting.length || this.#head > 1000) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    return { dispatch, order: this.#firstOrder++ };
  }

  #takeStarted(dispatch: LeasedDispatch): Started {
    const started = this.#started.get(dispatch);
    assert.ok(started !== undefined, "what ends was started in this lane");
    this.#started.delete(dispatch);
    return started;
  }
}

/** Whether the turn that was taken at the start is one of the limit as it is now. */
function hasTurn({ atMs, perSecond }: Started, limit: number, nowMs: number): boolean {
  return perSecond === limit && !isStale(atMs, limit, nowMs);
}
