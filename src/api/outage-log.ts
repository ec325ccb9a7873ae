import { Refusal } from "../shared/refusal.ts";
import type { Log } from "../telemetry/log.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import { isOutage } from "./error-answers.ts";

/** For the operator: why callers get 503, in a line every ten seconds, however many they are. */
export function makeOutageLog(log: Pick<Log, "warn">): (error: Error) => void {
  const tell = warnSeldom(
    log,
    "callers get 503: the database, the object store or the stream did not serve them",
  );
  return (error) => {
    if (isOutage(error)) tell(error);
    else if (isUnavailable(error) && error.cause instanceof Error) tell(error.cause);
  };
}

/** One without a cause has a line of its own where it was found. */
function isUnavailable(error: Error): error is Refusal {
  return error instanceof Refusal && error.code === "unavailable";
}
