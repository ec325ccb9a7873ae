import * as z from "zod";
import { ConfigError } from "../shared/config-error.ts";

const givenTime = z.iso.datetime({ offset: true });

/**
 * The API takes one spelling of a time; a person may give a day, or leave out
 * the seconds. Absent: now. `Date` alone would guess: it reads "5" as a day in
 * May 2001, 03/04 as March wherever it is April, and 30 February as 2 March.
 */
export function instantOf(option: string, text: string | undefined): string {
  if (text === undefined) return new Date().toISOString();
  const isDay = /^[0-9-]{10}$/.test(text);
  const whole = isDay ? `${text}T00:00:00Z` : text.replace(/(T[0-9]{2}:[0-9]{2})(?=[Z+-])/, "$1:00");
  if (givenTime.safeParse(whole).success) return new Date(whole).toISOString();
  throw new ConfigError(`${option} ${text} is not a time such as 2026-01-31 or 2026-01-31T08:00Z`);
}
