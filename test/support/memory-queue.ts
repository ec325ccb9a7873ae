/**
 * The queue's port in memory, on a given clock: what `src/queue/postgres` does
 * in a database, for the simulation of workers. The contract test holds the two
 * to the same behaviour. Counts the updates that PostgreSQL would make.
 */
import assert from "node:assert/strict";
import type { Clock } from "../../src/shared/clock.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId, TenantId } from "../../src/shared/id.ts";
import {
  DEFER_MS,
  KeyReusedError,
  LEASE_MS,
  type Acceptance,
  type Ask,
  type Claimed,
  type ClaimLimits,
  type CompletedAttempt,
  type DispatchQueue,
  type EarlierEvent,
  type LeasedDispatch,
  type NewEvent,
  type OutboxEvent,
  type Relay,
} from "../../src/queue/queue.ts";
import { ALL_SLOTS, slotOf, type SlotSet } from "../../src/queue/slots.ts";
import { MemoryKeys } from "./memory-keys.ts";
import { DueRows, ParkedRows } from "./memory-lines.ts";
import {
  byAge,
  depthOf,
  newRow,
  OLDEST_AT_ONCE,
  PARKED_AT_ONCE,
  withinBytes,
  type MemoryRow,
} from "./memory-rows.ts";

type Lease = Pick<LeasedDispatch, "id" | "leaseId">;
export type MemoryEndpoint = EndpointKey & { enabled: boolean; deleted?: boolean };

/** What a statement takes; the database itself is never busy. */
const STATEMENT_MS = 2;

export class MemoryQueue implements DispatchQueue {
  readonly rows = new Map<DeliveryId, MemoryRow>();
  readonly endpoints = new Map<EndpointId, MemoryEndpoint>();
  /** In the order of publishing. */
  readonly outbox: OutboxEvent[] = [];
  /** Left for other databases. */
  readonly handovers: NewEvent[] = [];
  /** Updates of rows: leases, releases, parking, holding. */
  updates = 0;
  /** Of one row, which is one attempt. */
  mostUpdates = 0;
  /** Outcomes that were recorded, each once. */
  readonly completed = new Map<DeliveryId, CompletedAttempt>();
  /** When dispatches were accepted that anybody may claim. */
  notify: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #due: DueRows;
  readonly #parked = new ParkedRows();
  readonly #ofTenant = new Map<TenantId, MemoryEndpoint[]>();
  /** Of each accepted event. */
  readonly #dispatchCounts = new Map<EventId, number>();
  readonly #keys = new MemoryKeys();
  /** After a claim that left some due. */
  #inTurns = false;
  #lease = 0;
  #order = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = new DueRows(this.rows);
  }

  addEndpoint(endpoint: MemoryEndpoint): void {
    this.endpoints.set(endpoint.endpointId, endpoint);
    this.#ofTenant.set(endpoint.tenantId, [...(this.#ofTenant.get(endpoint.tenantId) ?? []), endpoint]);
  }

  async accept(
    events: readonly NewEvent[],
    places: { lease: SlotSet | null; parked: readonly EndpointId[] },
  ): Promise<Acceptance> {
    await this.#statement();
    return this.#insertAll(this.#keys.claim(events), places);
  }

  async acceptParts(
    parts: readonly (readonly NewEvent[])[],
    { parked, handOver = [] }: { parked: readonly EndpointId[]; handOver?: readonly NewEvent[] },
  ): ReturnType<DispatchQueue["acceptParts"]> {
    await this.#statement();
    const events = parts.flat();
    const free = this.#keys.claim(events);
    const earlier = this.#earlier(events.filter((event) => !free.includes(event)));
    if ([...earlier.values()].some(({ sameContent }) => !sameContent)) {
      this.#keys.free(free);
      throw new KeyReusedError();
    }
    this.handovers.push(...handOver);
    const { leased: _none, ...accepted } = this.#insertAll(free, { lease: null, parked });
    return { ...accepted, earlier };
  }

  async findEarlier(events: readonly NewEvent[]): Promise<Map<EventId, EarlierEvent>> {
    await this.#statement();
    return this.#earlier(events);
  }

  async findKnown(events: readonly Pick<NewEvent, "id">[]): Promise<Set<EventId>> {
    await this.#statement();
    return new Set(events.map(({ id }) => id).filter((id) => this.#dispatchCounts.has(id)));
  }

  async relay({ types, limits, judge }: Relay): ReturnType<DispatchQueue["relay"]> {
    const known = this.outbox.filter(({ type }) => types.includes(type));
    const { taken } = withinBytes(known.slice(0, limits.events), limits.bodyBytes);
    for (const event of taken) this.outbox.splice(this.outbox.indexOf(event), 1);
    const events = taken.flatMap(judge);
    if (events.length > 0) await this.accept(events, { lease: null, parked: [] });
    return { relayed: events.length, mayHaveMore: known.length > taken.length };
  }

  async claim(limits: ClaimLimits, without: readonly EndpointId[], slots = ALL_SLOTS): Promise<Claimed> {
    await this.#statement();
    const skipped = new Set(without);
    const isWanted = ({ endpointId }: MemoryRow): boolean =>
      !skipped.has(endpointId) && slots.has(slotOf(endpointId));
    const due = this.#due[this.#inTurns ? "takeInTurns" : "take"](
      this.#clock.nowMs(),
      isWanted,
      limits.dispatches,
    );
    const { taken, left } = withinBytes(due, limits.bodyBytes);
    for (const row of left.toReversed()) this.#due.add(row, "first");
    const leaseId = this.#nextLease();
    const isAll = due.length < limits.dispatches && left.length === 0;
    this.#inTurns = !isAll;
    const claimed = this.#update(taken.toSorted(byAge), (row) => this.#leaseTo(row, leaseId));
    return { claimed, withoutEvent: [], isAll };
  }

  async park(endpoints: readonly EndpointId[]): Promise<boolean> {
    await this.#statement();
    const wanted = new Set(endpoints);
    const isWanted = ({ endpointId }: MemoryRow): boolean => wanted.has(endpointId);
    const due = this.#due.take(this.#clock.nowMs(), isWanted, PARKED_AT_ONCE);
    this.#update(due, (row) => this.#park(row));
    return due.length < PARKED_AT_ONCE;
  }

  async parkOldest(endpoints: readonly EndpointKey[]): Promise<void> {
    await this.#statement();
    for (const { endpointId } of endpoints) {
      const due = this.#due.take(this.#clock.nowMs(), (row) => row.endpointId === endpointId, OLDEST_AT_ONCE);
      this.#update(due, (row) => this.#park(row));
    }
  }

  async pull(asks: readonly Ask[]): Promise<Map<EndpointId, Claimed>> {
    await this.#statement();
    const leaseId = this.#nextLease();
    return new Map(
      asks.map((ask) => {
        assert.ok(
          Number.isInteger(ask.dispatches) && Number.isInteger(ask.bodyBytes),
          "SQL takes whole numbers",
        );
        const first = this.#parked.oldestOf(ask.endpointId).slice(0, ask.dispatches);
        const { taken, left } = withinBytes(first, ask.bodyBytes);
        const isAll = first.length < ask.dispatches && left.length === 0;
        return [
          ask.endpointId,
          { claimed: this.#update(taken, (row) => this.#leaseTo(row, leaseId)), withoutEvent: [], isAll },
        ];
      }),
    );
  }

  async findDue(slots: SlotSet): Promise<EndpointId[]> {
    await this.#statement();
    return this.#due.endpoints(this.#clock.nowMs()).filter((id) => slots.has(slotOf(id)));
  }

  async findBacklogs(): Promise<EndpointKey[]> {
    await this.#statement();
    return this.#parked.endpoints();
  }

  async complete(attempts: readonly CompletedAttempt[]): Promise<Set<DeliveryId>> {
    await this.#statement();
    const done = attempts.filter(({ dispatch }) => this.rows.get(dispatch.id)?.leaseId === dispatch.leaseId);
    for (const attempt of done) {
      const { dispatch, nextDelayMs } = attempt;
      this.rows.delete(dispatch.id);
      assert.ok(!this.completed.has(dispatch.id), "an outcome is recorded once");
      this.completed.set(dispatch.id, attempt);
      if (nextDelayMs === null) continue;
      const next = { attempt: dispatch.attempt + 1, delayMs: nextDelayMs };
      this.#due.add(
        this.#insert(
          { ...dispatch, id: dispatch.eventId, type: dispatch.eventType },
          dispatch.endpointId,
          next,
        ),
      );
    }
    return new Set(done.map(({ dispatch }) => dispatch.id));
  }

  async release(dispatches: readonly Lease[], to: "claimable" | "parked"): Promise<void> {
    await this.#statement();
    const rows = this.#leasedRows(dispatches);
    this.#update(rows, (row) => {
      row.leaseId = null;
      row.claimableMs = Math.min(row.dueMs, this.#clock.nowMs());
      if (to === "parked") this.#park(row);
      else this.#due.add(row);
    });
  }

  async defer(dispatch: LeasedDispatch): Promise<void> {
    await this.#statement();
    this.#update(this.#leasedRows([dispatch]), (row) => {
      const nowMs = this.#clock.nowMs();
      row.leaseId = null;
      row.claimableMs = nowMs + Math.min(Math.max(nowMs - row.dueMs, DEFER_MS.shortest), DEFER_MS.longest);
      this.#due.add(row);
    });
  }

  async hold(dispatches: readonly LeasedDispatch[]): Promise<Set<DeliveryId>> {
    await this.#statement();
    const rows = this.#leasedRows(dispatches);
    this.#update(rows, (row) => {
      row.leaseId = null;
      row.claimableMs = Math.max(row.dueMs, this.#clock.nowMs());
      row.held = true;
    });
    return new Set(rows.map(({ id }) => id));
  }

  async endpointChanged({ endpointId }: EndpointKey): Promise<void> {
    await this.#statement();
    const endpoint = this.endpoints.get(endpointId);
    for (const row of [...this.rows.values()].filter((one) => one.endpointId === endpointId)) {
      if (endpoint?.deleted === true) this.#end(row);
      else if (endpoint?.enabled === true) this.#resume(row);
      else if (row.leaseId === null) row.held = true;
    }
  }

  async measure(): ReturnType<DispatchQueue["measure"]> {
    const depth = depthOf([...this.rows.values()], this.#clock.nowMs());
    return { ...depth, outboxWaiting: this.outbox.length, handoversWaiting: this.handovers.length };
  }

  /** Due at once, and leased to nobody: as when an endpoint is enabled again. */
  addBacklog(events: readonly NewEvent[], endpointId: EndpointId): void {
    for (const event of events) this.#due.add(this.#insert(event, endpointId, { attempt: 1, delayMs: 0 }));
  }

  /** As if every lease had run its time. */
  endLeases(): void {
    for (const row of this.rows.values()) {
      if (row.leaseId === null) continue;
      row.claimableMs = this.#clock.nowMs();
      this.#due.add(row);
    }
  }

  /** When others may claim what is leased now. */
  leaseEndMs(nowMs: number): number {
    return nowMs + LEASE_MS;
  }

  #statement(): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(STATEMENT_MS, resolve);
    });
  }

  #insertAll(
    events: readonly NewEvent[],
    { lease, parked }: { lease: SlotSet | null; parked: readonly EndpointId[] },
  ): Acceptance {
    const isParked = new Set(parked);
    const leaseId = this.#nextLease();
    const leased: LeasedDispatch[] = [];
    const parkedAt = new Map<EndpointId, EndpointKey>();
    const unleased = new Set<EndpointId>();
    const accepted = events.map((event) => {
      const subscribed = this.#subscribedTo(event);
      this.#dispatchCounts.set(event.id, subscribed.length);
      for (const { endpointId } of subscribed) {
        const row = this.#insert(event, endpointId, { attempt: 1, delayMs: 0 });
        if (isParked.has(endpointId)) {
          this.#park(row);
          parkedAt.set(endpointId, { tenantId: event.tenantId, endpointId });
        } else if (lease?.has(slotOf(endpointId)) !== true) {
          this.#due.add(row);
          unleased.add(endpointId);
        } else leased.push(this.#leaseTo(row, leaseId));
      }
      return { id: event.id, dispatchCount: subscribed.length };
    });
    if (unleased.size > 0) this.notify();
    return { accepted, leased, parked: [...parkedAt.values()], unleased: [...unleased] };
  }

  #subscribedTo({ tenantId, patterns }: NewEvent): MemoryEndpoint[] {
    return (this.#ofTenant.get(tenantId) ?? []).filter(
      ({ endpointId, enabled, deleted }) =>
        enabled && deleted !== true && (patterns.includes("*") || patterns.includes(endpointId)),
    );
  }

  #earlier(events: readonly NewEvent[]): Map<EventId, EarlierEvent> {
    return new Map(
      events.flatMap((event) => {
        const found = this.#keys.find(event);
        if (found === null) return [];
        return [[event.id, { ...found, dispatchCount: this.#dispatchCounts.get(found.id) ?? 0 }]];
      }),
    );
  }

  #insert(
    event: Pick<NewEvent, "id" | "tenantId" | "type" | "body" | "traceparent">,
    endpointId: EndpointId,
    { attempt, delayMs }: { attempt: number; delayMs: number },
  ): MemoryRow {
    const due = { attempt, dueMs: this.#clock.nowMs() + delayMs, order: this.#order++ };
    const row = newRow(event, endpointId, due);
    this.rows.set(row.id, row);
    return row;
  }

  #leaseTo(row: MemoryRow, leaseId: string): LeasedDispatch {
    const leaseEndsMs = this.#clock.nowMs() + LEASE_MS;
    this.#parked.delete(row);
    row.leaseId = leaseId;
    row.claimableMs = this.leaseEndMs(this.#clock.nowMs());
    // Claimable again when the lease ends.
    this.#due.add(row);
    const { id, tenantId, endpointId, eventId, eventType, body, traceparent, attempt } = row;
    const of = { id, tenantId, endpointId, eventId, eventType, body, attempt, once: false };
    return { ...of, ...(traceparent === undefined ? {} : { traceparent }), leaseId, leaseEndsMs };
  }

  #leasedRows(dispatches: readonly Lease[]): MemoryRow[] {
    return dispatches.flatMap(({ id, leaseId }) => {
      const row = this.rows.get(id);
      return row?.leaseId === leaseId ? [row] : [];
    });
  }

  #resume(row: MemoryRow): void {
    if (!row.held) return;
    row.held = false;
    row.claimableMs = Math.max(row.claimableMs, this.#clock.nowMs());
    if (!row.parked) this.#due.add(row);
  }

  /** The log here is of attempts alone: nobody asks it for what ended without one. */
  #end(row: MemoryRow): void {
    this.#parked.delete(row);
    this.rows.delete(row.id);
  }

  #update<T>(rows: readonly MemoryRow[], change: (row: MemoryRow) => T): T[] {
    for (const row of rows) {
      row.updates++;
      this.mostUpdates = Math.max(this.mostUpdates, row.updates);
    }
    this.updates += rows.length;
    return rows.map(change);
  }

  #park(row: MemoryRow): void {
    row.leaseId = null;
    this.#parked.add(row);
  }

  #nextLease(): string {
    return `lease-${this.#lease++}`;
  }
}
