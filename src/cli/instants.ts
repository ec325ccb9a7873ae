import * as z from "zod";
import { instantText } from "../api/page-query.ts";
import { ConfigError } from "../shared/config-error.ts";

const DAY = z.iso.date();

/** What the API takes, and what a person would rather write: a day, which begins in UTC, and no seconds. Absent: now. */
export function instantOf(option: string, text: string | undefined): string {
  if (text === undefined) return new Date().toISOString();
  const whole = DAY.safeParse(text).success
    ? `${text}T00:00:00Z`
    : text.replace(/(T[0-9]{2}:[0-9]{2})(?=Z$|[+-])/, "$1:00");
  const at = instantText.safeParse(whole);
  if (at.success) return new Date(at.data).toISOString();
  throw new ConfigError(
    instantText.safeParse(`${whole}Z`).success || instantText.safeParse(`${whole}:00Z`).success
      ? `${option} ${text} has no offset.\nEnd it with Z where it is in UTC, or with one such as +01:00.`
      : `${option} ${text} is not a time such as 2026-01-31 or 2026-01-31T10:00Z`,
  );
}
