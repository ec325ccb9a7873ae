import { v7 } from "uuid";

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/** 1 to 64 of `[A-Za-z0-9_-]`, taken from the session; made only by {@link parseTenantId}. */
export type TenantId = Id<"tenant">;
/** UUIDv7 in lower case, as are the other ids. */
export type EndpointId = Id<"endpoint">;
export type EventId = Id<"event">;
/** Names a delivery, and before it the dispatch that it will come from. */
export type DeliveryId = Id<"delivery">;

const TENANT = /^[A-Za-z0-9_-]{1,64}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function parseTenantId(value: unknown): TenantId | null {
  return typeof value === "string" && TENANT.test(value) ? (value as TenantId) : null;
}

/** Null for anything but a lower-case canonical UUID: the caller treats that as an id nobody has. */
export function parseEndpointId(value: unknown): EndpointId | null {
  return isUuid(value) ? (value as EndpointId) : null;
}

export function parseDeliveryId(value: unknown): DeliveryId | null {
  return isUuid(value) ? (value as DeliveryId) : null;
}

export function parseEventId(value: unknown): EventId | null {
  return isUuid(value) ? (value as EventId) : null;
}

export function newEndpointId(): EndpointId {
  return v7() as EndpointId;
}

export function newEventId(): EventId {
  return v7() as EventId;
}

export function newDeliveryId(): DeliveryId {
  return v7() as DeliveryId;
}

/** Milliseconds since 1970 that a UUIDv7 carries in its first 48 bits (RFC 9562, 5.7). */
export function idTimeMs(id: EndpointId | EventId | DeliveryId): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The least UUID whose embedded time is `timeMs`, for ranges over ids; times outside 48 bits are clamped. */
export function lowestIdAt(timeMs: number): string {
  const clamped = Math.min(Math.max(Math.ceil(timeMs), 0), 2 ** 48 - 1);
  const hex = clamped.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function isUuid(value: unknown): boolean {
  return typeof value === "string" && UUID.test(value);
}
