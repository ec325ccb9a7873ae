/** What a watcher of the log is sent of what was added to it. Pure. */
import * as z from "zod";
import {
  parseDeliveryId,
  parseEndpointId,
  parseTenantId,
  type DeliveryId,
  type EndpointId,
  type TenantId,
} from "../shared/id.ts";
import { parseJson } from "../shared/parse-json.ts";
import { LOGGED_STATUSES, type LoggedStatus } from "./delivery.ts";

/** A row that was added to a tenant's log. */
export type Added = { endpointId: EndpointId; id: DeliveryId; status: LoggedStatus };

export type TailFilter = { endpointId: EndpointId | null; status: LoggedStatus | null };

export type Announcement = {
  tenantId: TenantId;
  added: Added[];
  /** Rows that were added too, and had no place in the notification. */
  omitted: number;
};

const announced = z.object({ tenant: z.string(), omitted: z.int(), added: z.array(z.string()) });

/** Reads a notification of the log's trigger; null for anything else. */
export function readAnnouncement(payload: string): Announcement | null {
  const read = announced.safeParse(parseJson(payload));
  const tenantId = parseTenantId(read.data?.tenant);
  if (!read.success || tenantId === null) return null;
  const added = read.data.added.map(readAdded);
  return { tenantId, added: added.filter((row) => row !== null), omitted: read.data.omitted };
}

function readAdded(text: string): Added | null {
  const [endpoint, delivery, logged] = text.split(" ");
  const endpointId = parseEndpointId(endpoint);
  const id = parseDeliveryId(delivery);
  const status = LOGGED_STATUSES.find((known) => known === logged);
  return endpointId === null || id === null || status === undefined ? null : { endpointId, id, status };
}

/** What watchers of a tenant's log are to be told next; of what is omitted the number alone. */
export type Waiting = { waiting: Added[]; omitted: number };

/** Adds what was announced while no more than `most` rows wait, and counts the rest as omitted. */
export function keepWaiting(to: Waiting, { added, omitted }: Announcement, most: number): void {
  const kept = added.slice(0, most - to.waiting.length);
  to.waiting.push(...kept);
  to.omitted += omitted + added.length - kept.length;
}

/** The first rows that fit, `most` at most, and how many more there were. */
export function pick(
  added: readonly Added[],
  { endpointId, status }: TailFilter,
  most: number,
): { picked: Added[]; skipped: number } {
  const fitting = added.filter(
    (row) =>
      (endpointId === null || row.endpointId === endpointId) && (status === null || row.status === status),
  );
  const picked = fitting.slice(0, most);
  return { picked, skipped: fitting.length - picked.length };
}

/** Null: an unknown number. */
export function addSkipped(known: number | null, more: number | null): number | null {
  return known === null || more === null ? null : known + more;
}
