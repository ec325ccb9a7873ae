import type { Db } from "../database/pool.ts";
import { readSlots } from "../queue/postgres/slot-store.ts";

/** How the workers of a database share its slots, for an operator. */
export type SlotShares = {
  /** How many slots each living worker has, the most first. */
  parts: number[];
  /** Slots whose endpoints wait for a worker. */
  unowned: number;
};

export async function readSlotShares(db: Db): Promise<SlotShares> {
  const { slots, workers } = await readSlots(db);
  const living = workers.filter(({ isGone }) => !isGone);
  const parts = living.map(({ id }) => slots.filter(({ owner }) => owner === id).length);
  return {
    parts: parts.toSorted((one, other) => other - one),
    unowned: slots.length - parts.reduce((sum, part) => sum + part, 0),
  };
}
