/** What a person asks for in an export, and the request that it makes. */
import type { Schemas } from "../../api/client.ts";
import type { Zone } from "../../display/display.ts";
import { faultOf, fieldsOf, timesOf, type FieldTimes, type Times } from "../../ui/own-times.ts";
import { RANGE_MS, RANGES, type Range } from "../../url/range.ts";
import type { EXPORT_STATUSES } from "./kinds.ts";

export const TIME_NAMES = [...RANGES, "own"] as const;
export const FORMATS = ["ndjson", "csv", "parquet"] as const;

export type Request = Schemas["CreateExportRequest"];
export type Wanted = FieldTimes & {
  /** What the fields of a time of one's own began with. */
  first: Times;
  time: (typeof TIME_NAMES)[number];
  endpoint: string;
  type: string;
  status: "" | (typeof EXPORT_STATUSES)[number];
  formats: readonly (typeof FORMATS)[number][];
};

/** As the log hands it on. */
export type Chosen = {
  range?: Range | undefined;
  from?: string | undefined;
  to?: string | undefined;
  endpoint?: string | undefined;
  type?: string | undefined;
  status?: (typeof EXPORT_STATUSES)[number] | undefined;
};

export function wantedOf(
  { range = "7d", from, to, endpoint, type, status }: Chosen,
  zone: Zone,
  now: Date,
): Wanted {
  const first =
    from === undefined
      ? { from: null, to: null }
      : { from: new Date(from), to: to === undefined ? now : new Date(to) };
  return {
    time: from === undefined ? range : "own",
    ...fieldsOf(first, zone),
    first,
    endpoint: endpoint ?? "",
    type: type ?? "",
    status: status ?? "",
    formats: ["ndjson", "csv"],
  };
}

/** A time of one's own begins with that which was chosen before. */
export function ownTime(
  { time, from, to, first }: Wanted,
  zone: Zone,
  now: Date,
): Pick<Wanted, "from" | "to" | "first"> {
  if (time === "own") return { from, to, first };
  const chosen = { from: new Date(now.getTime() - RANGE_MS[time]), to: now };
  return { ...fieldsOf(chosen, zone), first: chosen };
}

/** Null while something that must be given is not, or is wrong. */
export function requestOf(wanted: Wanted, zone: Zone, now: Date): Request | null {
  const { time, endpoint, type, status, formats } = wanted;
  const { from, to } =
    time === "own"
      ? timesOf(wanted, wanted.first, zone)
      : { from: new Date(now.getTime() - RANGE_MS[time]), to: now };
  if (faultOf({ from, to }, null) !== undefined) return null;
  if (formats.length === 0 || from === null || to === null) return null;
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    formats: [...formats],
    ...(endpoint !== "" && { endpoint_id: endpoint }),
    ...(type !== "" && { event_type: type }),
    ...(status !== "" && { delivery_status: status }),
  };
}

/** The same request once more. */
export function againOf({
  from,
  to,
  formats,
  endpoint_id,
  event_type,
  delivery_status,
}: Schemas["Export"]): Request {
  return {
    from,
    to,
    formats,
    ...(endpoint_id !== null && { endpoint_id }),
    ...(event_type !== null && { event_type }),
    ...(delivery_status !== null && { delivery_status }),
  };
}
