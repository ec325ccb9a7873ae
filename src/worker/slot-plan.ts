/** Which slots a worker should take and which it should give back, for equal parts. Pure. */
import { SLOT_COUNT, type Slot, type SlotRow, type SlotTable } from "../queue/slots.ts";

export type SlotPlan = {
  take: SlotRow[];
  leave: Slot[];
  /** Its part is larger than what it has and can take: others have too much. */
  isShort: boolean;
};

/**
 * Every worker comes to the same parts, because all read the same table and
 * rank by id. One that sees another table than the rest takes too many or too
 * few until its next read; a slot still has one owner.
 *
 * A worker without its lock has no part, because it takes nothing: workers that end
 * soon after each start would otherwise leave slots without an owner. What it
 * had is free only once it is silent.
 *
 * @param held the slots that this worker has, those aside that it is giving back
 * @param silent workers that start no attempts
 */
export function planSlots(
  { slots, workers }: SlotTable,
  me: string,
  { held, silent }: { held: ReadonlySet<Slot>; silent: ReadonlySet<string> },
): SlotPlan {
  const living = workers.filter(({ id }) => id === me || !silent.has(id));
  const ids = living
    .filter(({ id, isHeld }) => id === me || isHeld)
    .map(({ id }) => id)
    .toSorted();
  const rank = ids.indexOf(me);
  // Others do not count it either: its row is not there yet, or they took it for dead.
  if (rank === -1) return { take: [], leave: [], isShort: false };
  const part = partOf(rank, ids.length);
  const owners = new Set(living.map(({ id }) => id));
  const free = slots.filter(
    ({ slot, owner }) => !held.has(slot) && (owner === null || owner === me || !owners.has(owner)),
  );
  // Each begins elsewhere, so that workers that look at one moment do not want the same slots.
  const first = Math.floor((rank * SLOT_COUNT) / ids.length);
  const inTurn = [...free.filter(({ slot }) => slot >= first), ...free.filter(({ slot }) => slot < first)];
  // Its own come first: what it knew of them is void, but they were not given to others.
  const own = inTurn.filter(({ owner }) => owner === me);
  const wanted = [...own, ...inTurn.filter(({ owner }) => owner !== me)];
  const take = wanted.slice(0, Math.max(own.length, part - held.size));
  const surplus = Math.max(0, held.size + take.length - part);
  const leave = [...held].toSorted((one, other) => one - other).slice(0, Math.min(surplus, held.size));
  return { take, leave, isShort: held.size + take.length < part };
}

function partOf(rank: number, workers: number): number {
  return Math.floor(SLOT_COUNT / workers) + (rank < SLOT_COUNT % workers ? 1 : 0);
}
