import { ConfigError } from "../shared/config-error.ts";
import { parseDurationMs } from "../shared/duration.ts";

/** The value of `--wait` in milliseconds. Throws ConfigError. */
export function parseWait(text: string): number {
  const waitMs = parseDurationMs(text);
  if (waitMs === null) throw new ConfigError(`--wait ${text} is not a duration such as 60s or 2m`);
  return waitMs;
}
