/** The grace period of a rotation as a person gives it, in seconds for the API. */

export const GRACES = { none: 0, hour: 3600, day: 86_400, week: 604_800 } as const;
export type Grace = keyof typeof GRACES | "own";
export const GRACE_NAMES: readonly Grace[] = ["none", "hour", "day", "week", "own"];

const MAX_S = GRACES.week;
export const UNITS = { minutes: 60, hours: 3600, days: 86_400 } as const;
export type Unit = keyof typeof UNITS;
export const UNIT_NAMES: readonly Unit[] = ["minutes", "hours", "days"];

/** Null for what is no grace period: not a number above zero, or longer than the API allows. */
export function graceSeconds(grace: Grace, count: string, unit: Unit): number | null {
  if (grace !== "own") return GRACES[grace];
  if (!/^\d{1,5}$/.test(count.trim())) return null;
  const seconds = Number(count) * UNITS[unit];
  return seconds >= 1 && seconds <= MAX_S ? seconds : null;
}
