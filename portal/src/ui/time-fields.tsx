import { useDisplay, type Zone } from "../display/display.ts";
import { useTexts } from "../texts/texts.ts";
import { Field, INPUT } from "./field.tsx";
import { texts } from "./texts.ts";

/** What is wrong with both times together. */
export type TimesFault = { end: keyof FieldTimes; kind: "noTime" | "wrongOrder" | "inFuture" };

/** As the browser's fields give them: to the minute, without a zone. Empty while none is given. */
export type FieldTimes = { from: string; to: string };

type TimeFieldsProps = {
  times: FieldTimes;
  onChange: (times: FieldTimes) => void;
  fault?: TimesFault | undefined;
};

/** Four digits of a year, so that typing goes on with the time. */
const LAST = "9999-12-31T23:59";

/** Both ends of a time of one's own, in the zone in which times are shown. */
export function TimeFields({ times, onChange, fault }: TimeFieldsProps) {
  const t = useTexts(texts);
  const { zone } = useDisplay();
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {(["from", "to"] as const).map((end) => (
        <Field
          key={end}
          label={t[end]}
          about={zone === "utc" ? "UTC" : undefined}
          error={end === fault?.end ? t[fault.kind] : undefined}
        >
          {(wiring) => (
            <input
              {...wiring}
              type="datetime-local"
              max={LAST}
              value={times[end]}
              onChange={({ target }) => onChange({ ...times, [end]: target.value })}
              className={INPUT}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

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
