import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { warnSeldom } from "./warn-seldom.ts";

/** What to do with a failure of work that is repeated: it is counted under this name, and told with {@link warnSeldom}. */
export function upkeepFailed(
  { log, metrics }: { log: Pick<Log, "warn">; metrics: Pick<Metrics, "upkeepFailures"> },
  work: string,
  message: string,
): (error: unknown) => void {
  const tell = warnSeldom(log, message);
  return (error) => {
    metrics.upkeepFailures.inc({ work });
    tell(error, { work });
  };
}
