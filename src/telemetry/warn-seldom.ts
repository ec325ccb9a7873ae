import { seldom } from "../shared/seldom.ts";
import type { Log } from "./log.ts";

const EVERY_MS = 10_000;

/**
 * Warns of work that is tried again and again: at once, and then in a line every
 * ten seconds, with the newest error. Its `times` is how often it failed since
 * the line before. An outage would fill the log otherwise.
 */
export function warnSeldom(
  log: Pick<Log, "warn">,
  message: string,
): (err: unknown, about?: Readonly<Record<string, unknown>>) => void {
  return seldom(EVERY_MS, (times, err: unknown, about = {}) => log.warn({ ...about, err, times }, message));
}
