/**
 * Events whose group met an idempotency key that an open transaction of a
 * producer holds. PostgreSQL does not tell which key it was, so the group is
 * divided until each key that is held stands alone: only what has it waits.
 *
 * What one tenant holds must delay no other. So groups of several tenants are
 * tried first, and divided between tenants. Then tenants take turns, and one
 * with a held key keeps away from the groups of all until it has none.
 */
import { isLockTimeout } from "../database/passing-errors.ts";
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import { countFitting, type GroupSize } from "../shared/group-commit.ts";
import type { TenantId } from "../shared/id.ts";
import { HeldLine, type Waiting } from "./held-line.ts";

/** How long a try waits for a key: all others wait for its end. */
export const LOCK_WAIT_MS = 20;
/** Of what met a key before, so that it is no request of the same moment that has the key. */
const NEXT_LOCK_WAIT_MS = 2;
/** A key that is held for longer is the caller's to try again. */
export const PATIENCE_MS = 5000;
/** Of a group that met a key: few tries where one key is held, and not many more than keys where all are. */
const PARTS = 8;

/** The events, each undefined where its key was used before. Throws the database's lock timeout. */
export type AcceptKeyed = (
  events: readonly NewEvent[],
  lockWaitMs: number,
) => Promise<(AcceptedEvent | undefined)[]>;

type Entry = Waiting & { resolve: (accepted: AcceptedEvent | undefined) => void };
type Next = { group: Entry[]; isFresh: boolean };

export class HeldKeys {
  readonly #accept: AcceptKeyed;
  readonly #size: GroupSize<NewEvent>;
  readonly #clock: Clock;
  /** Groups of several tenants. */
  readonly #mixed: Entry[][] = [];
  /** In the order of their turns. */
  readonly #lines = new Map<TenantId, HeldLine<Entry>>();
  #isTrying = false;

  constructor(accept: AcceptKeyed, size: GroupSize<NewEvent>, clock: Clock) {
    this.#accept = accept;
    this.#size = size;
    this.#clock = clock;
  }

  /** Whether the tenant's events are to be added here, and to no group. */
  concerns(tenantId: TenantId): boolean {
    return this.#lines.has(tenantId);
  }

  add(event: NewEvent): Promise<AcceptedEvent | undefined> {
    const { entry, promise } = this.#entryOf(event);
    this.#lineOf(event.tenantId).add(entry);
    this.#startSoon();
    return promise;
  }

  /** A group that met a key. */
  addGroup(events: readonly NewEvent[]): Promise<AcceptedEvent | undefined>[] {
    const added = events.map((event) => this.#entryOf(event));
    this.#put(added.map(({ entry }) => entry));
    this.#startSoon();
    return added.map(({ promise }) => promise);
  }

  #entryOf(event: NewEvent): { entry: Entry; promise: Promise<AcceptedEvent | undefined> } {
    const { promise, resolve, reject } = Promise.withResolvers<AcceptedEvent | undefined>();
    return { entry: { event, resolve, reject, endsAtMs: this.#clock.nowMs() + PATIENCE_MS }, promise };
  }

  #lineOf(tenantId: TenantId): HeldLine<Entry> {
    const line = this.#lines.get(tenantId) ?? new HeldLine();
    this.#lines.set(tenantId, line);
    return line;
  }

  #put(group: Entry[]): void {
    const [first, ...others] = new Set(group.map(({ event }) => event.tenantId));
    if (first !== undefined && others.length === 0) this.#lineOf(first).addPart(group);
    else this.#mixed.push(group);
  }

  /** At the end of the turn, when all that came in it is there. */
  #startSoon(): void {
    this.#clock.after(0, () => void this.#tryAll());
  }

  async #tryAll(): Promise<void> {
    if (this.#isTrying) return;
    this.#isTrying = true;
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#try(next);
    this.#isTrying = false;
  }

  #countFitting(entries: readonly Entry[]): number {
    return countFitting(
      entries.values().map(({ event }) => event),
      this.#size,
    );
  }

  #next(): Next | null {
    const mixed = this.#mixed.shift();
    if (mixed !== undefined) return { group: mixed, isFresh: false };
    for (const [tenantId, line] of this.#lines) {
      const next = line.take((fresh) => this.#countFitting(fresh), this.#clock.nowMs());
      if (next === null && !line.isEmpty) continue;
      this.#lines.delete(tenantId);
      if (next === null) continue;
      // Behind all others now, and there as long as it is tried.
      this.#lines.set(tenantId, line);
      return next;
    }
    return null;
  }

  async #try({ group, isFresh }: Next): Promise<void> {
    try {
      const events = group.map(({ event }) => event);
      const accepted = await this.#accept(events, isFresh ? LOCK_WAIT_MS : NEXT_LOCK_WAIT_MS);
      for (const [index, { resolve }] of group.entries()) resolve(accepted[index]);
    } catch (error) {
      if (isLockTimeout(error)) return this.#divide(group, error);
      for (const { reject } of group) reject(error);
    }
    for (const [tenantId, entries] of Map.groupBy(group, ({ event }) => event.tenantId)) {
      const line = this.#lines.get(tenantId);
      line?.finish(entries);
      if (line?.isEmpty === true) this.#lines.delete(tenantId);
    }
  }

  #divide(group: Entry[], error: unknown): void {
    const tenants = Map.groupBy(group, ({ event }) => event.tenantId);
    const units = tenants.size > 1 ? tenants : Map.groupBy(group, ({ event }) => event.idempotencyKey);
    if (units.size === 1) return this.#rest(group, error);
    for (const part of partsOf([...units.values()])) this.#put(part);
  }

  #rest(entries: Entry[], error: unknown): void {
    const [first] = entries;
    if (first === undefined) return;
    const { tenantId, idempotencyKey } = first.event;
    const line = this.#lineOf(tenantId);
    const pauseMs = line.hold(entries, error);
    if (pauseMs === null) return;
    this.#clock.after(pauseMs, () => {
      line.wake(idempotencyKey);
      void this.#tryAll();
    });
  }
}

function partsOf(units: Entry[][]): Entry[][] {
  const size = Math.ceil(units.length / PARTS);
  return Array.from({ length: Math.ceil(units.length / size) }, (_, part) =>
    units.slice(part * size, (part + 1) * size).flat(),
  );
}
