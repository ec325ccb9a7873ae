import { randomFillSync, randomUUID } from "node:crypto";
import { v7 } from "uuid";

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

/** 1 to 64 of `[A-Za-z0-9_-]`, taken from the session; made only by {@link parseTenantId}. */
export type TenantId = Id<"tenant">;
/** UUIDv7 in lower case, as are the other ids. */
export type EndpointId = Id<"endpoint">;
export type EventId = Id<"event">;
/** Where an endpoint is found. */
export type EndpointKey = { tenantId: TenantId; endpointId: EndpointId };
/** Names a delivery, and before it the dispatch that it will come from. */
export type DeliveryId = Id<"delivery">;
export type AuditId = Id<"audit">;
export type ExportId = Id<"export">;
export type ReplayId = Id<"replay">;
/** Of a session that Postern itself gave out, and of its code before it. */
export type PortalSessionId = Id<"portal session">;

const TENANT = /^[A-Za-z0-9_-]{1,64}$/;
/** The canonical text of an id, in lower case. */
export const UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
const UUID = new RegExp(UUID_PATTERN);

export function parseTenantId(value: unknown): TenantId | null {
  return isId<"tenant">(value, TENANT) ? value : null;
}

// Chance is fetched for many ids at once: asking the system for each cost more than all else about an id.
const pool = new Uint8Array(16 * 512);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

function randomBytes16(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  return pool.subarray(used - 16, used);
}

/** Ids of this process sort in the order in which they were made, within a millisecond too (RFC 9562, 6.2). */
function uuidV7(): string {
  const random = randomBytes16();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // Begins low, so that counting up has room before the next millisecond.
    sequence = new DataView(random.buffer, random.byteOffset, 4).getUint32(0) >>> 2;
  } else {
    sequence++;
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Null for anything but a lower-case canonical UUID: the caller treats that as an unknown id. */
export function parseEndpointId(value: unknown): EndpointId | null {
  return isId<"endpoint">(value, UUID) ? value : null;
}

export function parseDeliveryId(value: unknown): DeliveryId | null {
  return isId<"delivery">(value, UUID) ? value : null;
}

export function parseEventId(value: unknown): EventId | null {
  return isId<"event">(value, UUID) ? value : null;
}

export function parseAuditId(value: unknown): AuditId | null {
  return isId<"audit">(value, UUID) ? value : null;
}

export function parseExportId(value: unknown): ExportId | null {
  return isId<"export">(value, UUID) ? value : null;
}

export function parseReplayId(value: unknown): ReplayId | null {
  return isId<"replay">(value, UUID) ? value : null;
}

export function parsePortalSessionId(value: unknown): PortalSessionId | null {
  return isId<"portal session">(value, UUID) ? value : null;
}

export function newEndpointId(): EndpointId {
  return made<"endpoint">(uuidV7());
}

export function newEventId(): EventId {
  return made<"event">(uuidV7());
}

/** The same id for the same arguments. `seq`, of 31 bits, orders ids of one millisecond; `seed` has 16 bytes. */
export function eventIdFrom(timeMs: number, seq: number, seed: Uint8Array): EventId {
  return made<"event">(v7({ msecs: timeMs, seq, random: seed }));
}

export function newDeliveryId(): DeliveryId {
  return made<"delivery">(uuidV7());
}

export function newAuditId(): AuditId {
  return made<"audit">(uuidV7());
}

export function newExportId(): ExportId {
  return made<"export">(uuidV7());
}

export function newReplayId(): ReplayId {
  return made<"replay">(uuidV7());
}

export function newPortalSessionId(): PortalSessionId {
  return made<"portal session">(uuidV7());
}

/** Milliseconds since 1970 that a UUIDv7 carries in its first 48 bits (RFC 9562, 5.7). */
export function idTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The least UUID whose embedded time is `timeMs`, for ranges over ids; times outside 48 bits are clamped. */
export function lowestIdAt(timeMs: number): string {
  const clamped = Math.min(Math.max(Math.ceil(timeMs), 0), 2 ** 48 - 1);
  const hex = clamped.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The greatest UUID. */
export const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Some UUIDv7 of that time. */
export function idAt(timeMs: number): string {
  return `${lowestIdAt(timeMs).slice(0, 14)}7${randomUUID().slice(15)}`;
}

/** The least UUID above an id, for ranges that begin behind it; the greatest has none, and is its own. */
export function lowestIdAfter(id: DeliveryId): string {
  const next = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  if (next.length > 32) return id;
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function isId<Name extends string>(value: unknown, pattern: RegExp): value is Id<Name> {
  return typeof value === "string" && pattern.test(value);
}

function made<Name extends string>(uuid: string): Id<Name> {
  if (!isId<Name>(uuid, UUID)) throw new Error("the generator made no UUID");
  return uuid;
}
