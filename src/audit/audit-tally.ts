/**
 * What happens too often, or too fast, for an entry of its own each time:
 * failed authentications, limits reached, refused calls, and attempts at
 * addresses that are not public. Counted in memory and added to the audit log once a minute, so
 * that callers can't fill it and don't wait for it. A process that dies loses
 * the counts of its last minute.
 */
import { LRUCache } from "lru-cache";
import type { Pool } from "../database/pool.ts";
import type { EndpointKey, TenantId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import { NO_REQUEST, POSTERN, UNKNOWN, type Caller, type NewAuditEntry } from "./audit-entry.ts";
import { insertWhoLivesHere } from "./audit-store.ts";
import { maskUrl } from "./mask-url.ts";

const FLUSH_MS = 60_000;
/** Addresses, or IPv6 networks, that get an entry of their own for a minute; those beyond share one. */
const MAX_ADDRESSES = 100;
/** Entries of refused calls that a tenant gets in a minute; callers beyond share one for each route. */
const MAX_REFUSED_CALLS = 50;
const MAX_UNSAVED = 2000;
/** An endpoint whose name resolves to a private address is tried repeatedly: one entry an hour records it. */
const BLOCKED_EVERY_MS = 3_600_000;
const MAX_BLOCKED_ENDPOINTS = 10_000;

type Counted = { entry: NewAuditEntry; count: number; firstAt: Date; lastAt: Date };

/** Of calls of the API. `address`: one that its owner cannot change at will, so for IPv6 the network. */
export type CallTally = {
  failedAuthentication(by: { address: string; requestId: string }): void;
  /** `tenantId` null: the limit is on the address. */
  limitReached(by: { limit: string; tenantId: TenantId | null; address: string; requestId: string }): void;
  /** A 403, or a 404 of an id, in a tenant's session. `route` is a method and a pattern, never the ids in its place. */
  accessRefused(by: { caller: Caller; route: string; status: number }): void;
  /** Adds what was counted last. */
  close(): Promise<void>;
};

export type AuditTally = CallTally & {
  blockedTarget(target: EndpointKey & { url: string }): void;
};

type PassOn = (tenantId: TenantId, entries: readonly NewAuditEntry[]) => Promise<void>;

/** Of one database of several: entries of a tenant that has moved since they were counted go to its home. */
export type ShardAuditTally = AuditTally & {
  /** Only with several databases. */
  onMoved(passOn: PassOn): void;
  /** Adds what another database's tally passes on. */
  write(entries: readonly NewAuditEntry[]): Promise<void>;
};

export function makeAuditTally(services: { db: Pool; log: Log }): ShardAuditTally {
  return new MemoryTally(services);
}

class MemoryTally implements ShardAuditTally {
  readonly #services: { db: Pool; log: Log };
  readonly #counted = new Map<string, Counted>();
  readonly #blocked = new LRUCache<string, true>({ max: MAX_BLOCKED_ENDPOINTS, ttl: BLOCKED_EVERY_MS });
  #addresses = 0;
  readonly #refusedCalls = new Map<TenantId, number>();
  #unsaved: NewAuditEntry[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #passOn: PassOn | null = null;

  constructor(services: { db: Pool; log: Log }) {
    this.#services = services;
  }

  failedAuthentication({ address, requestId }: Parameters<AuditTally["failedAuthentication"]>[0]): void {
    const action = "authentication.failed";
    const named = this.#countedAddress(action, address);
    this.#count(`${action} ${named}`, refused({ action, address: named, requestId }));
  }

  limitReached({ limit, tenantId, address, requestId }: Parameters<AuditTally["limitReached"]>[0]): void {
    const action = "limit.reached";
    const named = tenantId === null ? this.#countedAddress(`${action} ${limit}`, address) : address;
    const key = `${action} ${limit} ${tenantId ?? named}`;
    this.#count(key, { ...refused({ action, address: named, requestId }), tenantId, details: { limit } });
  }

  accessRefused({ caller, route, status }: Parameters<AuditTally["accessRefused"]>[0]): void {
    const keyOf = (sub: string | null) => JSON.stringify([caller.tenantId, status, route, sub]);
    const { sub } = caller.actor;
    const calls = this.#refusedCalls.get(caller.tenantId) ?? 0;
    const isNamed = this.#counted.has(keyOf(sub)) || calls < MAX_REFUSED_CALLS;
    const key = keyOf(isNamed ? sub : null);
    if (!this.#counted.has(key)) this.#refusedCalls.set(caller.tenantId, calls + 1);
    const by = isNamed ? caller : { ...caller, actor: { ...caller.actor, sub: null }, address: null };
    const entry = { action: "access.refused", endpointId: null, outcome: "refused" } as const;
    this.#count(key, { ...entry, ...by, details: { route, status } });
  }

  blockedTarget({ tenantId, endpointId, url }: Parameters<AuditTally["blockedTarget"]>[0]): void {
    const key = `${tenantId}/${endpointId}`;
    if (this.#blocked.has(key)) return;
    this.#blocked.set(key, true);
    const entry = refused({ action: "url.refused", ...NO_REQUEST });
    const details = { operation: "attempt", url: maskUrl(url) };
    this.#unsaved.push({ ...entry, tenantId, endpointId, actor: POSTERN, details });
    this.#flushSoon();
  }

  onMoved(passOn: PassOn): void {
    this.#passOn = passOn;
  }

  async write(entries: readonly NewAuditEntry[]): Promise<void> {
    const moved = await insertWhoLivesHere(this.#services.db, entries);
    if (moved.length > 0) throw new Error("the tenant has moved again");
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#flushing = this.#flushing.then(() => this.#flush());
    }, FLUSH_MS).unref();
  }

  #count(key: string, entry: NewAuditEntry): void {
    this.#flushSoon();
    const now = new Date();
    const known = this.#counted.get(key);
    if (known === undefined) this.#counted.set(key, { entry, count: 1, firstAt: now, lastAt: now });
    else Object.assign(known, { count: known.count + 1, lastAt: now });
  }

  /** Null for the entry that addresses share once there are too many. */
  #countedAddress(action: string, address: string): string | null {
    if (this.#counted.has(`${action} ${address}`)) return address;
    if (this.#addresses >= MAX_ADDRESSES) return null;
    this.#addresses++;
    return address;
  }

  async #flush(): Promise<void> {
    const { db, log } = this.#services;
    const entries = [...this.#unsaved, ...[...this.#counted.values()].map(withCount)];
    this.#counted.clear();
    this.#addresses = 0;
    this.#refusedCalls.clear();
    this.#unsaved = [];
    if (entries.length === 0) return;
    try {
      await this.#follow(await insertWhoLivesHere(db, entries));
    } catch (error) {
      // With what came meanwhile: a blocked target is not told again for an hour.
      const waiting = [...entries, ...this.#unsaved];
      this.#unsaved = someOfEach(waiting, MAX_UNSAVED);
      const lost = waiting.length - this.#unsaved.length;
      this.#flushSoon();
      log.warn({ err: error, entries: entries.length, lost }, "audit entries could not be written yet");
    }
  }

  async #follow(moved: readonly NewAuditEntry[]): Promise<void> {
    const { log } = this.#services;
    for (const [tenantId, entries] of Map.groupBy(moved, (entry) => entry.tenantId)) {
      if (tenantId === null || this.#passOn === null) continue;
      try {
        await this.#passOn(tenantId, entries);
      } catch (error) {
        log.warn({ err: error, tenantId, lost: entries.length }, "audit entries of a moved tenant are lost");
      }
    }
  }
}

/** In their order. Each tenant's first before any one's second: one has many blocked endpoints, and loses its own alone. */
function someOfEach(entries: readonly NewAuditEntry[], most: number): NewAuditEntry[] {
  const lines = Map.groupBy(entries, ({ tenantId }) => tenantId);
  const placed = [...lines.values()].flatMap((own) => own.map((entry, place) => ({ entry, place })));
  const first = placed.toSorted((one, other) => one.place - other.place).slice(0, most);
  const kept = new Set(first.map(({ entry }) => entry));
  return entries.filter((entry) => kept.has(entry));
}

function refused(given: Pick<NewAuditEntry, "action" | "address" | "requestId">): NewAuditEntry {
  return { ...given, tenantId: null, actor: UNKNOWN, endpointId: null, outcome: "refused", details: {} };
}

function withCount({ entry, count, firstAt, lastAt }: Counted): NewAuditEntry {
  const times = { first_at: firstAt.toISOString(), last_at: lastAt.toISOString() };
  return { ...entry, details: { ...entry.details, count, ...times } };
}
