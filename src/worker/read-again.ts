/** Reads what an attempt needs, also over a database that has just lost the connection. */
import { isConnectionLoss } from "../database/passing-errors.ts";
import { sleep, type Clock } from "../shared/clock.ts";

const READ_AGAIN_MS = 500;
const READ_AGAIN_WITHIN_MS = 5000;

/**
 * Nothing has been sent yet, and a dispatch that fails here keeps its lease for up to a minute. So the read is
 * made again, and begun no later than after five seconds: a stop waits for it.
 */
export async function readAgain<T>(read: () => Promise<T>, clock: Clock): Promise<T> {
  const lastMs = clock.nowMs() + READ_AGAIN_WITHIN_MS - READ_AGAIN_MS;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isConnectionLoss(error) || clock.nowMs() >= lastMs) throw error;
      await sleep(clock, READ_AGAIN_MS);
    }
  }
}
