/**
 * What a client of a pull endpoint does: it leases due events and acknowledges
 * them, some or all of a lease at a time.
 *
 * Why no acknowledged event is fetched again: the acknowledgement deletes the
 * dispatch and logs its delivery in one transaction, and only by the lease that
 * still has it. Why none is lost: until then the row is there, and when the lease
 * has ended a worker logs the attempt as `timeout` and the next one follows.
 */
import { randomUUID } from "node:crypto";
import type { Db } from "../database/pool.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { ackOffers, fetchedHeaders, leaseOffers, noteOfferHeaders } from "../deliveries/person-offers.ts";
import type { EndpointTarget } from "../endpoints/endpoint.ts";
import type { EndpointHealth } from "../endpoints/endpoint-health.ts";
import { lockTarget, readSendTarget, type SendTarget } from "../endpoints/send-target.ts";
import { keepTemporary } from "../endpoints/temporary.ts";
import { CLIENT_LEASE_MS, type EndedLease, type FetchedDispatch } from "../queue/fetching.ts";
import type { FetchWaits } from "../queue/fetch-waits.ts";
import type { CompletedLease } from "../queue/queue.ts";
import type { DeliveryId, EndpointId, EndpointKey, EventId, ReplayId, TenantId } from "../shared/id.ts";
import { Places } from "../shared/places.ts";
import { Refusal } from "../shared/refusal.ts";
import type { SecretBox } from "../shared/secret-box.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { warnSeldom } from "../telemetry/warn-seldom.ts";
import { completeFetched, type FetchedOutcome } from "./fetched.ts";

/** Of the bodies of one lease, together; a single one may be larger. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** As large as a request may be, or what SQL publishes. */
const LARGEST_EVENT_BYTES = 1024 * 1024;
const MAX_WAITING = { total: 500, ofKey: 20 };
const RETRY_AFTER_S = 5;
const LOCKED_PAUSE_MS = 100;

export type FetchedEvent = {
  id: DeliveryId;
  /** Null for a test. */
  eventId: EventId | null;
  eventType: string;
  version: number;
  trigger: "event" | "auto_retry" | "retry" | "test";
  attempt: number;
  replayId: ReplayId | null;
  headers: Record<string, string>;
  /** The exact text that the headers sign. */
  body: string;
};

/** Without events there is no lease. */
export type Lease = { leaseId: string; until: Date; events: FetchedEvent[] };

export type Ack = { id: DeliveryId; /** Null: delivered. */ refusal: string | null };

/** How many were acknowledged and refused, and which the lease had no more. */
export type Acknowledged = { delivered: number; failed: number; late: DeliveryId[] };

/** What the queue does for clients, within their tenant's transactions. */
export type FetchQueue = {
  lease: (
    db: Db,
    endpoint: EndpointKey,
    leaseId: string,
    limits: { dispatches: number; bodyBytes: number },
  ) => Promise<FetchedDispatch[]>;
  nextInMs: (db: Db, endpoint: EndpointKey) => Promise<number | null>;
  findLeased: (
    db: Db,
    endpoint: EndpointKey,
    leaseId: string,
    ids: readonly DeliveryId[],
  ) => Promise<EndedLease[]>;
  complete: (db: Db, attempts: readonly CompletedLease[]) => Promise<Set<DeliveryId>>;
  /** Clients that wait hear on commit that something of these endpoints may be due. */
  notify: (db: Db, endpoints: readonly EndpointId[]) => Promise<void>;
};

export type FetchServices = {
  tenants: TenantPool;
  secretBox: SecretBox;
  queue: FetchQueue;
  waits: FetchWaits;
  artifacts: Pick<ArtifactKeeper, "choose">;
  health: EndpointHealth;
  retryDelayMs: (attempt: number) => number | null;
  log: Log;
  metrics: Pick<Metrics, "pullLeased" | "pullAcks" | "pullWaiting" | "attemptsTotal">;
};

type Wanted = { limit: number; waitMs: number; signal: AbortSignal };

export class Fetches {
  readonly #services: FetchServices;
  readonly #tellUnrecorded: ReturnType<typeof warnSeldom>;
  readonly #waiting = new Places<TenantId>(MAX_WAITING);
  readonly #closing = new AbortController();

  constructor(services: FetchServices) {
    this.#services = services;
    this.#tellUnrecorded = warnSeldom(services.log, "the endpoint's health could not be recorded");
  }

  /** Due events, at once or as soon as there are some; null when the wait ends without any. */
  async lease(tenantId: TenantId, id: EndpointId | null, wanted: Wanted): Promise<Lease | null> {
    if (id === null) throw new Refusal("not_found");
    const endpoint = { tenantId, endpointId: id };
    if (wanted.waitMs === 0) return this.#leaseNow(endpoint, wanted);
    return this.#whileWaiting(tenantId, (left) =>
      this.#leaseSoon(endpoint, { ...wanted, signal: AbortSignal.any([wanted.signal, left]) }),
    );
  }

  async acknowledge(
    tenantId: TenantId,
    id: EndpointId | null,
    { leaseId, acks }: { leaseId: string; acks: readonly Ack[] },
  ): Promise<Acknowledged> {
    if (id === null) throw new Refusal("not_found");
    const { tenants } = this.#services;
    const endpoint = { tenantId, endpointId: id };
    const done = await tenants.of(tenantId).transaction(async (transaction) => {
      const target = await lockTarget(transaction, endpoint);
      if (target === null) throw new Refusal("not_found");
      await keepTemporary(transaction, target);
      const ended = await this.#end(transaction, target, leaseId, acks);
      if (ended.size === 0) throw new Refusal("lease_ended");
      return { target, ended };
    });
    const held = acks.filter((ack) => done.ended.has(ack.id));
    const late = acks.filter((ack) => !done.ended.has(ack.id)).map((ack) => ack.id);
    const delivered = held.filter(({ refusal }) => refusal === null).length;
    const outcome = { delivered, failed: held.length - delivered, late };
    await this.#afterwards(done.target, outcome);
    return outcome;
  }

  /** Waiting clients get an empty answer. */
  close(): void {
    this.#closing.abort();
  }

  /** One that leaves its place to another tenant's gets an empty answer, as at the end of its wait. */
  async #whileWaiting<T>(tenantId: TenantId, work: (left: AbortSignal) => Promise<T>): Promise<T> {
    const { pullWaiting } = this.#services.metrics;
    const leaving = new AbortController();
    const giveBack = this.#waiting.take(tenantId, () => leaving.abort());
    if (giveBack === null) throw new Refusal("too_many_requests", { retryAfterS: RETRY_AFTER_S });
    pullWaiting.inc();
    try {
      return await work(leaving.signal);
    } finally {
      pullWaiting.dec();
      giveBack();
    }
  }

  /** Watches before it looks, so that nothing comes unnoticed between the look and the wait. */
  async #leaseSoon(endpoint: EndpointKey, { waitMs, ...wanted }: Wanted): Promise<Lease | null> {
    const { tenants, queue, waits } = this.#services;
    const signal = AbortSignal.any([wanted.signal, this.#closing.signal]);
    const endsAtMs = performance.now() + waitMs;
    const watch = waits.watch(endpoint.endpointId);
    try {
      for (;;) {
        const found = await this.#leaseNow(endpoint, { ...wanted, signal });
        const leftMs = endsAtMs - performance.now();
        if (found !== null || leftMs <= 0 || signal.aborted) return found;
        const nextMs = await queue.nextInMs(tenants.of(endpoint.tenantId), endpoint);
        // A due one that this look did not bring is locked.
        const pauseMs = nextMs === 0 ? LOCKED_PAUSE_MS : (nextMs ?? leftMs);
        await watch.next(Math.min(leftMs, pauseMs), signal);
      }
    } finally {
      watch.end();
    }
  }

  /** A client that is gone must be leased nothing, also where it went while this waited for a connection. */
  async #leaseNow(
    endpoint: EndpointKey,
    { limit, signal }: Pick<Wanted, "limit" | "signal">,
  ): Promise<Lease | null> {
    if (signal.aborted) return null;
    const { tenants, secretBox, metrics } = this.#services;
    const db = tenants.of(endpoint.tenantId);
    const target = await readSendTarget(db, secretBox, endpoint);
    if (target === null) throw new Refusal("not_found");
    if (target.mode !== "pull") throw new Refusal("endpoint_not_pull");
    if (!target.enabled) throw new Refusal("endpoint_disabled");
    await keepTemporary(db, target);
    const leaseId = randomUUID();
    const leased = await db.transaction(async (transaction) =>
      signal.aborted ? [] : this.#leaseTo(transaction, target, leaseId, limit),
    );
    const [first] = leased;
    if (first === undefined) return null;
    metrics.pullLeased.inc(leased.length);
    return {
      leaseId,
      until: new Date(first.leasedAt.getTime() + CLIENT_LEASE_MS),
      events: leased.map(({ event }) => event),
    };
  }

  /** Persons' sends first, because a person waits for them. */
  async #leaseTo(
    transaction: Db,
    target: SendTarget,
    leaseId: string,
    limit: number,
  ): Promise<{ event: FetchedEvent; leasedAt: Date }[]> {
    const { queue } = this.#services;
    const leased: { event: FetchedEvent; leasedAt: Date }[] = [];
    const offers = { sends: limit, bodyBytes: MAX_BODY_BYTES };
    for (const send of await leaseOffers(transaction, target, leaseId, offers)) {
      const { webhookId: _webhookId, deliveryLabel: _label, leasedAt, ...rest } = send;
      const { headers, logged } = fetchedHeaders(target, send);
      await noteOfferHeaders(transaction, { ...target, id: send.id }, logged);
      leased.push({ event: { ...rest, replayId: null, headers }, leasedAt });
    }
    const dispatches = limit - leased.length;
    const bodyBytes = leased.reduce(
      (left, { event }) => left - Buffer.byteLength(event.body),
      MAX_BODY_BYTES,
    );
    // The queue leases at least one, however large.
    if (dispatches === 0 || bodyBytes < LARGEST_EVENT_BYTES) return leased;
    const limits = { dispatches, bodyBytes };
    const gone: FetchedDispatch[] = [];
    for (const dispatch of await queue.lease(transaction, target, leaseId, limits)) {
      const { body, leasedAt, ...rest } = dispatch;
      if (body === null) {
        gone.push(dispatch);
        continue;
      }
      const { eventType, id, eventId } = dispatch;
      const signed = { eventType, deliveryLabel: id, webhookId: eventId, leasedAt, body };
      leased.push({ event: { ...rest, body, headers: fetchedHeaders(target, signed).headers }, leasedAt });
    }
    if (gone.length > 0) await this.#endGone(transaction, target, leaseId, gone);
    return leased;
  }

  async #endGone(
    transaction: Db,
    { tenantId, endpointId }: EndpointKey,
    leaseId: string,
    gone: readonly FetchedDispatch[],
  ): Promise<void> {
    const { queue, log } = this.#services;
    log.error(
      { tenantId, endpointId, events: gone.length },
      "events to fetch are gone; their deliveries end",
    );
    const leases = gone.map((dispatch) => ({ ...dispatch, tenantId, endpointId, leaseId, once: true }));
    await queue.complete(
      transaction,
      this.#completed(leases, () => ({ kind: "gone" }), null),
    );
  }

  async #end(
    transaction: Db,
    target: EndpointTarget,
    leaseId: string,
    acks: readonly Ack[],
  ): Promise<Set<DeliveryId>> {
    const { queue } = this.#services;
    const ended = await ackOffers(transaction, target, leaseId, acks);
    const refusals = new Map(acks.map(({ id, refusal }) => [id, refusal]));
    const ids = acks.map(({ id }) => id).filter((id) => !ended.has(id));
    const leases = ids.length === 0 ? [] : await queue.findLeased(transaction, target, leaseId, ids);
    if (leases.length === 0) return ended;
    const outcomeOf = ({ id }: EndedLease): FetchedOutcome => {
      const reason = refusals.get(id) ?? null;
      return reason === null ? { kind: "delivered" } : { kind: "refused", reason };
    };
    const completed = this.#completed(leases, outcomeOf, target.keeps);
    const recorded = await queue.complete(transaction, completed);
    if (completed.some(({ nextDelayMs }) => nextDelayMs !== null))
      await queue.notify(transaction, [target.endpointId]);
    return ended.union(recorded);
  }

  #completed(
    leases: readonly EndedLease[],
    outcomeOf: (lease: EndedLease) => FetchedOutcome,
    keeps: EndpointTarget["keeps"],
  ): CompletedLease[] {
    const { artifacts, retryDelayMs } = this.#services;
    const now = new Date();
    return leases.map((lease) => {
      const toKeep = artifacts.choose(keeps, {
        tenantId: lease.tenantId,
        attempt: lease.attempt,
        longResponseBody: null,
      });
      return completeFetched(lease, outcomeOf(lease), { now, retryDelayMs, toKeep });
    });
  }

  /** One delivered shows that the endpoint works; where all are refused, it fails. */
  async #afterwards(target: EndpointTarget, { delivered, failed, late }: Acknowledged): Promise<void> {
    const { health, metrics } = this.#services;
    metrics.pullAcks.inc({ outcome: "delivered" }, delivered);
    metrics.pullAcks.inc({ outcome: "refused" }, failed);
    metrics.pullAcks.inc({ outcome: "late" }, late.length);
    metrics.attemptsTotal.inc({ outcome: "delivered", reason: "none" }, delivered);
    metrics.attemptsTotal.inc({ outcome: "failed", reason: "refused" }, failed);
    const status = delivered > 0 ? "delivered" : "failed";
    await health.observe(target, { status, isGone: false }).catch((error: unknown) => {
      this.#tellUnrecorded(error, { endpointId: target.endpointId });
    });
  }
}
