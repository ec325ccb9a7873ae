/** The rows of the queue in memory, and how they are counted. */
import type { NewEvent } from "../../src/queue/queue.ts";
import type { QueueDepth } from "../../src/queue/queue-troubles.ts";
import {
  newDeliveryId,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type TenantId,
} from "../../src/shared/id.ts";

/** As many as the statements in `claim-store.ts` park of all endpoints, and of one. */
export const PARKED_AT_ONCE = 5000;
export const OLDEST_AT_ONCE = 500;

export type MemoryRow = {
  id: DeliveryId;
  tenantId: TenantId;
  endpointId: EndpointId;
  eventId: EventId;
  eventType: string;
  body: string;
  traceparent: string | undefined;
  attempt: number;
  order: number;
  dueMs: number;
  claimableMs: number;
  leaseId: string | null;
  parked: boolean;
  held: boolean;
  /** Leases, releases, parking and holding since it was inserted. */
  updates: number;
};

/** As many as fit, but one however large. */
export function withinBytes<Item extends { body: string }>(
  rows: readonly Item[],
  bodyBytes: number,
): { taken: Item[]; left: Item[] } {
  let bytes = 0;
  let count = 0;
  for (const row of rows) {
    bytes += row.body.length;
    if (count > 0 && bytes > bodyBytes) break;
    count++;
  }
  return { taken: rows.slice(0, count), left: rows.slice(count) };
}

export function depthOf(rows: readonly MemoryRow[], nowMs: number): QueueDepth {
  const waiting = rows.filter(({ held, parked }) => !held && !parked);
  const due = waiting.filter(({ claimableMs }) => claimableMs <= nowMs);
  const later = waiting.filter(({ claimableMs }) => claimableMs > nowMs);
  const ageS = (times: number[]): number => (nowMs - Math.min(nowMs, ...times)) / 1000;
  return {
    due: due.length,
    leased: later.filter(({ leaseId }) => leaseId !== null).length,
    parked: rows.filter(({ held, parked }) => parked && !held).length,
    scheduled: later.filter(({ leaseId }) => leaseId === null).length,
    held: rows.filter(({ held }) => held).length,
    unfetched: 0,
    oldestDueAgeS: ageS(due.map(({ dueMs }) => dueMs)),
    longestWaitS: ageS(due.map(({ claimableMs }) => claimableMs)),
    deadLeases: 0,
    outboxWaiting: 0,
    outboxOldestAgeS: 0,
    handoversWaiting: 0,
    handoversOldestAgeS: 0,
  };
}

export function byAge(one: MemoryRow, other: MemoryRow): number {
  return one.claimableMs - other.claimableMs || one.order - other.order;
}

export function newRow(
  event: Pick<NewEvent, "id" | "tenantId" | "type" | "body" | "traceparent">,
  endpointId: EndpointId,
  { attempt, dueMs, order }: Pick<MemoryRow, "attempt" | "dueMs" | "order">,
): MemoryRow {
  return {
    id: newDeliveryId(),
    tenantId: event.tenantId,
    endpointId,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    traceparent: event.traceparent,
    attempt,
    order,
    dueMs,
    claimableMs: dueMs,
    leaseId: null,
    parked: false,
    held: false,
    updates: 0,
  };
}
