import type { DispatchQueue } from "../queue/queue.ts";
import type { Log } from "../telemetry/log.ts";
import type { EndpointKey } from "../shared/id.ts";

export type Following = { queue: Pick<DispatchQueue, "endpointChanged">; log: Log };

/**
 * Makes pending dispatches follow an endpoint that was enabled, disabled or
 * deleted. Never rejects: the change is committed, and its mark makes a worker's
 * upkeep do within a second what fails here.
 */
export async function followChange({ queue, log }: Following, endpoint: EndpointKey): Promise<void> {
  try {
    await queue.endpointChanged(endpoint);
  } catch (error) {
    log.warn({ err: error, ...endpoint }, "pending dispatches have not followed their endpoint yet");
  }
}
