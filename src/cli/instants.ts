import { ConfigError } from "../shared/config-error.ts";

/** The API takes one spelling of a time; a person may give a day. Absent: now. */
export function instantOf(option: string, text: string | undefined): string {
  const at = text === undefined ? new Date() : new Date(text);
  if (Number.isNaN(at.getTime())) throw new ConfigError(`${option} ${text} is not a time such as 2026-01-31`);
  return at.toISOString();
}
