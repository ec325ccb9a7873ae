import { isPassing } from "../database/passing-errors.ts";
import { isMisrouted } from "../database/residence.ts";
import type { Taken, TakenEvents } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";

/** One that the database refuses, or whose tenant it refuses, fails its group; then each is tried alone. */
export async function takeEvent(
  taken: TakenEvents,
  event: NewEvent,
  how: "grouped" | "alone" = "grouped",
): Promise<Taken> {
  try {
    return await taken.accept(event, how);
  } catch (error) {
    if (how === "alone" || (isPassing(error) && !isMisrouted(error))) throw error;
    return taken.accept(event, "alone");
  }
}
