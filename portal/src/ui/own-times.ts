/** Times of one's own: what a person typed in fields to the minute, and which times that means. */
import type { Zone } from "../display/display.ts";

/** What is wrong with both times together. */
export type TimesFault = { end: keyof FieldTimes; kind: "noTime" | "wrongOrder" | "inFuture" };

/** As the browser's fields give them: to the minute, without a zone. Empty while none is given. */
export type FieldTimes = { from: string; to: string };

/** Null for a field without a time. */
export type Times = { from: Date | null; to: Date | null };

/** `openTo`: without an end it goes up to now, which this is, and on. */
export function faultOf({ from, to }: Times, openTo: Date | null): TimesFault | undefined {
  if (from === null) return { end: "from", kind: "noTime" };
  if (to === null && openTo === null) return { end: "to", kind: "noTime" };
  if (to === null) return openTo !== null && from > openTo ? { end: "from", kind: "inFuture" } : undefined;
  return to <= from ? { end: "to", kind: "wrongOrder" } : undefined;
}

/**
 * `first`: what the fields began with. Unchanged, they still mean just that: they
 * have no seconds, and do not tell the hour from its repetition when clocks go back.
 */
export function timesOf(fields: FieldTimes, first: Times, zone: Zone): Times {
  return { from: timeOf(fields.from, first.from, zone), to: timeOf(fields.to, first.to, zone) };
}

export function fieldsOf({ from, to }: Times, zone: Zone): FieldTimes {
  return { from: fieldOf(from, zone), to: fieldOf(to, zone) };
}

function timeOf(field: string, first: Date | null, zone: Zone): Date | null {
  if (field === fieldOf(first, zone)) return first;
  const at = new Date(zone === "utc" ? `${field}Z` : field);
  return Number.isNaN(at.getTime()) ? null : at;
}

function fieldOf(at: Date | null, zone: Zone): string {
  if (at === null) return "";
  const shiftMs = zone === "utc" ? 0 : at.getTimezoneOffset() * 60_000;
  return new Date(at.getTime() - shiftMs).toISOString().slice(0, "2000-01-01T00:00".length);
}
