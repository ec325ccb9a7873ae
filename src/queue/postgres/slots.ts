import type { Db } from "../../database/pool.ts";
import type { SlotStore } from "../slots.ts";
import {
  askForSlots,
  findInFlight,
  leaveSlots,
  readSlots,
  retireFromSlots,
  takeSlots,
} from "./slot-store.ts";

/** The slots in PostgreSQL's table, for the worker with this id in `workers`. */
export function makeSlotStore(db: Db, workerId: string): SlotStore {
  return {
    workerId,
    read: () => readSlots(db),
    take: (slots) => takeSlots(db, workerId, slots),
    leave: (slots, inFlight) => leaveSlots(db, workerId, slots, inFlight),
    retire: () => retireFromSlots(db, workerId),
    ask: () => askForSlots(db),
    stillInFlight: (attempts) => findInFlight(db, attempts),
  };
}
