/**
 * Room for the events that are being accepted at once, in a process. Events of
 * some tenants may wait in it, as for a shard that is silent or for a key that
 * an open transaction holds. So a tenant has at most twice as much as is free:
 * one alone gets two thirds of the room, and however many fill it, some stays
 * free for those who have nothing in it.
 */
import type { NewEvent } from "../queue/queue.ts";
import type { TenantId } from "../shared/id.ts";
import { sizeOfBodies } from "./checked-events.ts";

/** Of their bodies. */
type Amount = { events: number; characters: number };

const ROOM: Amount = { events: 30_000, characters: 96 * 1024 * 1024 };
const NOTHING: Amount = { events: 0, characters: 0 };
const TIMES_WHAT_IS_FREE = 2;

export class AcceptingRoom {
  #taken = NOTHING;
  readonly #ofTenants = new Map<TenantId, Amount>();

  /** Null where there is no room for all of them; otherwise what gives it back. */
  take(events: readonly NewEvent[]): (() => void) | null {
    const wanted = amountsOf(events);
    const free = wanted.values().reduce(subtract, subtract(ROOM, this.#taken));
    const most = {
      events: TIMES_WHAT_IS_FREE * free.events,
      characters: TIMES_WHAT_IS_FREE * free.characters,
    };
    for (const [tenantId, amount] of wanted)
      if (!fits(add(this.#ofTenants.get(tenantId) ?? NOTHING, amount), most)) return null;
    this.#change(wanted, add);
    return () => this.#change(wanted, subtract);
  }

  #change(amounts: ReadonlyMap<TenantId, Amount>, how: typeof add): void {
    for (const [tenantId, amount] of amounts) {
      this.#taken = how(this.#taken, amount);
      const ofTenant = how(this.#ofTenants.get(tenantId) ?? NOTHING, amount);
      if (ofTenant.events === 0) this.#ofTenants.delete(tenantId);
      else this.#ofTenants.set(tenantId, ofTenant);
    }
  }
}

function amountsOf(events: readonly NewEvent[]): Map<TenantId, Amount> {
  const amounts = new Map<TenantId, Amount>();
  for (const event of events) {
    const one = { events: 1, characters: sizeOfBodies(event) };
    amounts.set(event.tenantId, add(amounts.get(event.tenantId) ?? NOTHING, one));
  }
  return amounts;
}

function add(one: Amount, other: Amount): Amount {
  return { events: one.events + other.events, characters: one.characters + other.characters };
}

function subtract(one: Amount, other: Amount): Amount {
  return { events: one.events - other.events, characters: one.characters - other.characters };
}

function fits(amount: Amount, most: Amount): boolean {
  return amount.events <= most.events && amount.characters <= most.characters;
}
