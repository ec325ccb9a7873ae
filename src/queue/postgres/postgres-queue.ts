import type { Db, Pool } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import type { EndpointId, EndpointKey } from "../../shared/id.ts";
import { makeTenantTurns } from "../../shared/tenant-turns.ts";
import { requireHere, residentsOf, type Residence } from "../../database/residence.ts";
import { inTransaction, onConnection } from "../../database/transaction.ts";
import {
  KeyReusedError,
  tenantsOf,
  type AcceptedEvent,
  type DispatchQueue,
  type NewEvent,
  type OutboxEvent,
} from "../queue.ts";
import { ALL_SLOTS, NO_SLOTS } from "../slots.ts";
import { acceptEvents, claimKeys, findEarlierEvents, findKnownEvents } from "./accept-store.ts";
import {
  claimDispatches,
  findBacklogs,
  findDue,
  parkDispatches,
  parkOldest,
  pullDispatches,
} from "./claim-store.ts";
import { claimInTurns, FIRST_TURN } from "./claim-turns-store.ts";
import { completeAttempts } from "./complete-store.ts";
import { measureQueue } from "./depth-store.ts";
import { followFirst } from "./follow.ts";
import { holdDispatches } from "./follow-store.ts";
import { findTenantsHere, insertHandovers } from "./handover-store.ts";
import { makeLeaseIds, type LeaseIds } from "./lease-ids.ts";
import { findOutboxTenants, takeFromOutbox } from "./relay-store.ts";
import { deferDispatch, releaseDispatches } from "./release-store.ts";

/** Tenants that share a take from the outbox. Each has the cost of a look-up in it, and at least one event. */
const OUTBOX_TOGETHER = 50;

/**
 * The queue in PostgreSQL's tables. The first attempt of an event is due
 * `firstDelayMs` after it is accepted. Each verb has the rights of its users:
 * the publisher's, the worker's, or those of the endpoint's tenant.
 *
 * With a residence, events are accepted for tenants that live here, and those of
 * others that the outbox has are laid aside to be handed over.
 */
export function makePostgresQueue(
  { publisher, worker, tenants }: { publisher: Pool; worker: Pool; tenants: Pick<TenantPool, "of"> },
  firstDelayMs: number,
  { leaseIds = makeLeaseIds(), residence = null }: { leaseIds?: LeaseIds; residence?: Residence | null } = {},
): DispatchQueue {
  const nextLeaseId = () => leaseIds.next();
  const outboxTurns = makeTenantTurns(() => findOutboxTenants(worker), OUTBOX_TOGETHER);
  const unleased = { leaseId: null, slots: NO_SLOTS, firstDelayMs };
  return {
    accept: (events, options) =>
      acceptGroup(publisher, residence, events, {
        ...(options.lease === null || firstDelayMs > 0
          ? unleased
          : { leaseId: nextLeaseId(), slots: options.lease }),
        parked: options.parked,
        firstDelayMs,
        lockWaitMs: options.lockWaitMs ?? null,
      }),
    acceptParts: async (parts, { handOver = [], ...options }) =>
      inTransaction(
        publisher,
        async (transaction) => {
          if (handOver.length > 0) await insertHandovers(transaction, handOver);
          return acceptParts(transaction, parts, { ...unleased, ...options });
        },
        beginFor(residence, parts.flat()),
      ),
    findEarlier: (events) => findEarlierEvents(publisher, events),
    findKnown: (events) => findKnownEvents(publisher, events),
    async relay({ types, limits, judge }) {
      const tenantIds = await outboxTurns.next();
      if (tenantIds.length === 0) return { relayed: 0, mayHaveMore: false };
      // One transaction takes and accepts, so each event passes exactly once.
      const { relayed, hasMore } = await inTransaction(worker, async (transaction) => {
        const taken = await takeFromOutbox(transaction, tenantIds, types, limits);
        const judged = taken.events.flatMap(judge);
        const events = residence === null ? judged : await withoutForeign(transaction, judged, taken.events);
        if (events.length > 0) await acceptEvents(transaction, events, { ...unleased, parked: [] });
        return { relayed: events.length, hasMore: taken.mayHaveMore };
      });
      return { relayed, mayHaveMore: outboxTurns.end(hasMore) };
    },
    claim: makeClaim(worker, nextLeaseId),
    park: (endpoints) => parkDispatches(worker, endpoints),
    parkOldest: (endpoints) => parkOldest(worker, endpoints),
    pull: (asks) => pullDispatches(worker, nextLeaseId(), asks),
    findDue: (slots) => findDue(worker, slots),
    findBacklogs: () => findBacklogs(worker),
    complete: (attempts, whenLocked) => completeAttempts(worker, attempts, whenLocked),
    release: (dispatches, to, whenLocked) => releaseDispatches(worker, dispatches, to, whenLocked),
    defer: (dispatch) => deferDispatch(worker, dispatch),
    hold: (dispatches, whenLocked) => holdDispatches(worker, dispatches, whenLocked),
    endpointChanged: (endpoint) =>
      followFirst((work) => tenants.of(endpoint.tenantId).transaction(work), endpoint),
    measure: () => measureQueue(worker),
  };
}

/** By age while each claim takes all that is due, and by tenants in turn after one that left some. */
function makeClaim(worker: Pool, nextLeaseId: () => string): DispatchQueue["claim"] {
  let turn: string | null = null;
  return async (limits, without, slots = ALL_SLOTS) => {
    if (turn === null) {
      const claimed = await claimDispatches(worker, nextLeaseId(), limits, { slots, without });
      if (!claimed.isAll) turn = FIRST_TURN;
      return claimed;
    }
    const found = await claimInTurns(worker, nextLeaseId(), limits, { slots, without, turn });
    turn = found.claimed.isAll ? null : found.turn;
    return found.claimed;
  };
}

/** The beginning of a transaction that accepts these events. */
function beginFor(residence: Residence | null, events: readonly NewEvent[]): string {
  return residence === null ? "BEGIN" : `BEGIN; ${requireHere(residence, tenantsOf(events))}`;
}

/** One statement, which is a transaction of its own. */
async function acceptGroup(
  publisher: Pool,
  residence: Residence | null,
  events: readonly NewEvent[],
  options: Parameters<typeof acceptEvents>[2],
): ReturnType<typeof acceptEvents> {
  const residents = residence === null ? null : residentsOf(residence, tenantsOf(events));
  // Waits for keys that are held end in errors, many a second.
  return onConnection(publisher, (client) => acceptEvents(client, events, { ...options, residents }));
}

/**
 * Lays aside events of other shards' tenants, and those whose key is to be claimed
 * with the event, and answers the rest. `taken` have the keys that were claimed here.
 */
async function withoutForeign(
  transaction: Db,
  events: readonly NewEvent[],
  taken: readonly OutboxEvent[],
): Promise<NewEvent[]> {
  const here = await findTenantsHere(transaction, tenantsOf(events));
  const isHere = ({ tenantId, idempotencyKey }: NewEvent) => here.has(tenantId) && idempotencyKey === null;
  const foreign = events.filter((event) => !isHere(event));
  if (foreign.length > 0) {
    const keys = new Map(taken.map(({ id, key }) => [id, key]));
    await insertHandovers(transaction, foreign, ({ id }) => keys.get(id) ?? null);
  }
  return events.filter(isHere);
}

/**
 * What is to be accepted of several parts, where the keys of all are claimed first: claimed
 * part by part, two arrays could wait for each other's, and each would begin anew.
 */
async function withKeysClaimed(
  transaction: Db,
  parts: readonly (readonly NewEvent[])[],
  { lockWaitMs = null }: Parameters<typeof acceptEvents>[2],
): Promise<readonly (readonly NewEvent[])[]> {
  const keyed = parts.flat().filter(({ idempotencyKey }) => idempotencyKey !== null);
  if (parts.length === 1 || keyed.length === 0) return parts;
  const claimed = await claimKeys(transaction, keyed, lockWaitMs);
  const isFree = ({ id, idempotencyKey }: NewEvent) => idempotencyKey === null || claimed.has(id);
  return parts.map((part) => part.filter(isFree).map(withoutKey)).filter((part) => part.length > 0);
}

function withoutKey(event: NewEvent): NewEvent {
  return { ...event, idempotencyKey: null };
}

/** @throws KeyReusedError, which rolls the transaction back. */
async function acceptParts(
  transaction: Db,
  parts: Parameters<DispatchQueue["acceptParts"]>[0],
  options: Parameters<typeof acceptEvents>[2],
): ReturnType<DispatchQueue["acceptParts"]> {
  const accepted: AcceptedEvent[] = [];
  const unleasedAt = new Set<EndpointId>();
  const parkedAt = new Map<EndpointId, EndpointKey>();
  for (const part of await withKeysClaimed(transaction, parts, options)) {
    const acceptance = await acceptEvents(transaction, part, options);
    accepted.push(...acceptance.accepted);
    for (const id of acceptance.unleased) unleasedAt.add(id);
    for (const endpoint of acceptance.parked) parkedAt.set(endpoint.endpointId, endpoint);
  }
  const [unleased, parked] = [[...unleasedAt], [...parkedAt.values()]];
  const isNew = new Set(accepted.map(({ id }) => id));
  const others = parts.flat().filter(({ id }) => !isNew.has(id));
  if (others.length === 0) return { accepted, unleased, parked, earlier: new Map() };
  const earlier = await findEarlierEvents(transaction, others);
  if ([...earlier.values()].some(({ sameContent }) => !sameContent)) throw new KeyReusedError();
  // Their keys ran out between the two looks: they are free now.
  const free = others.filter(({ id }) => !earlier.has(id));
  if (free.length === 0) return { accepted, unleased, parked, earlier };
  const rest = await acceptParts(transaction, [free], options);
  return {
    accepted: [...accepted, ...rest.accepted],
    unleased: [...new Set([...unleased, ...rest.unleased])],
    parked: [...new Map([...parked, ...rest.parked].map((key) => [key.endpointId, key])).values()],
    earlier: new Map([...earlier, ...rest.earlier]),
  };
}
