/**
 * Slots: the 256 parts into which endpoints fall by the last byte of their id,
 * which is random. A worker leases slots, and makes the attempts of the
 * endpoints in them. So an endpoint has one worker at a time, whose lane keeps
 * its order, its attempts in flight and its rate limit.
 *
 * Why no slot has two workers that start attempts: the table has one owner a
 * slot, and every change compares the slot's *term* and raises it. A worker
 * counts on what the table said only while its presence is confirmed without a
 * break: what it knew before a break is void until it has leased the slot again
 * under a new term. Others take a slot from its owner only after they have seen
 * that owner silent for longer than a confirmation lasts (`silent-workers.ts`).
 * Then the owner's presence has had a break, whatever the owner itself knows.
 * An owner without its lock whose last confirmation is 10 seconds old by the
 * server's clock has had one too, without observing it first
 * (`postgres/slot-store.ts`).
 */
import assert from "node:assert/strict";
import type { DeliveryId, EndpointId, EndpointKey } from "../shared/id.ts";

export const SLOT_COUNT = 256;

export type Slot = number;

export function slotOf(endpointId: EndpointId): Slot {
  const slot = Number.parseInt(endpointId.slice(-2), 16);
  assert.ok(slot >= 0 && slot < SLOT_COUNT, "the id of an endpoint ends in a byte");
  return slot;
}

/**
 * Slots in groups of so many neighbours. A notification names a group: workers
 * mostly have whole ones, and a commit makes few notifications.
 */
export const NEIGHBOURS = 16;

/** A set of slots, as 256 bits: the lowest bit of the first byte is slot 0. */
export class SlotSet {
  readonly bits: Buffer = Buffer.alloc(SLOT_COUNT / 8);
  readonly isEmpty: boolean;

  constructor(slots: Iterable<Slot> = []) {
    for (const slot of slots) this.bits.writeUInt8(this.#byteOf(slot) | (1 << (slot & 7)), slot >> 3);
    this.isEmpty = this.bits.every((byte) => byte === 0);
  }

  has(slot: Slot): boolean {
    return (this.#byteOf(slot) & (1 << (slot & 7))) !== 0;
  }

  hasSomeOf(group: number): boolean {
    return [0, 1].some((half) => this.bits.readUInt8((group * NEIGHBOURS) / 8 + half) !== 0);
  }

  #byteOf(slot: Slot): number {
    return this.bits.readUInt8(slot >> 3);
  }
}

export const NO_SLOTS = new SlotSet();
export const ALL_SLOTS = new SlotSet(Array.from({ length: SLOT_COUNT }, (_, slot) => slot));

/** An attempt that a worker has in flight as it gives its endpoint's slot away, and the lease under which it runs. */
export type InFlight = EndpointKey & { id: DeliveryId; leaseId: string };

/** A slot as the table has it. */
export type SlotRow = { slot: Slot; owner: string | null; term: number };

/** A worker that takes slots. `seenAt` is only for comparing. */
export type SlotWorker = {
  id: string;
  seenAt: string;
  /** A session holds its lock; it has lost it, or is gone, otherwise. */
  isHeld: boolean;
  /** It has neither its lock nor a recent sign of life. */
  isGone: boolean;
};

export type SlotTable = { slots: readonly SlotRow[]; workers: readonly SlotWorker[] };

/** A slot that a worker took, and the attempts that its former owners may still have in flight. */
export type TakenSlot = { slot: Slot; term: number; inFlight: readonly InFlight[] };

/** Where workers agree on their slots. */
export type SlotStore = {
  /** This worker in the table. */
  readonly workerId: string;
  read(): Promise<SlotTable>;
  /** Leases the slots whose term is still this one. */
  take(slots: readonly Pick<SlotRow, "slot" | "term">[]): Promise<TakenSlot[]>;
  /** Releases slots whose term is still this one, and notifies the other workers. */
  leave(
    slots: readonly Pick<SlotRow, "slot" | "term">[],
    inFlight: ReadonlyMap<Slot, readonly InFlight[]>,
  ): Promise<void>;
  /** This worker takes no slots any more. */
  retire(): Promise<void>;
  /** Asks workers that have more than their part to give some back. */
  ask(): Promise<void>;
  /** Which of these attempts are not over: their leases still hold. */
  stillInFlight(attempts: readonly InFlight[]): Promise<InFlight[]>;
};
