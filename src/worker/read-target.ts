/** Reads where a dispatch goes, also over a database that has just lost the connection. */
import { isConnectionLoss } from "../database/passing-errors.ts";
import type { SendTarget } from "../endpoints/send-target.ts";
import { sleep, type Clock } from "../shared/clock.ts";
import type { TargetCache } from "./target-cache.ts";
import type { EndpointKey } from "../shared/id.ts";

const READ_AGAIN_MS = 500;
const READ_AGAIN_WITHIN_MS = 5000;

/**
 * Null for an endpoint that is deleted. Nothing has been sent yet, and a dispatch that fails here keeps its
 * lease for up to a minute. So the read is made again, and begun no later than after five seconds: a stop waits
 * for it.
 */
export async function readTarget(
  targets: Pick<TargetCache, "get">,
  key: EndpointKey,
  clock: Clock,
): Promise<SendTarget | null> {
  const lastMs = clock.nowMs() + READ_AGAIN_WITHIN_MS - READ_AGAIN_MS;
  for (;;) {
    try {
      return await targets.get(key);
    } catch (error) {
      if (!isConnectionLoss(error) || clock.nowMs() >= lastMs) throw error;
      await sleep(clock, READ_AGAIN_MS);
    }
  }
}
