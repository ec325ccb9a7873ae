/** What a person asks for in a replay, and the request that it makes. */
import type { components } from "../../api/schema.d.ts";
import { RANGE_MS } from "../../url/range.ts";

const TIMES = { "1h": 3_600_000, ...RANGE_MS } as const;
type Time = keyof typeof TIMES;
export const TIME_NAMES: readonly Time[] = ["1h", "24h", "7d", "30d"];

export type Request = components["schemas"]["CreateReplayRequest"];
export type Select = Request["select"];
export const SELECTS: readonly Select[] = ["failed", "missed", "all"];
export type Wanted = { select: Select; time: Time; type: string; cause: string };

/** Only what failed has a cause, whatever was chosen of one before. */
export function requestOf(endpointId: string, { select, time, type, cause }: Wanted, nowMs: number): Request {
  return {
    endpoint_id: endpointId,
    from: new Date(nowMs - TIMES[time]).toISOString(),
    to: new Date(nowMs).toISOString(),
    select,
    ...(type !== "" && { event_type: type }),
    ...(cause !== "" && select === "failed" && { cause }),
  };
}
