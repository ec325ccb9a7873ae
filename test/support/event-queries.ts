/** The queries of a tenant's events and of what is sent again, as `tenancy-queries.test.ts` runs them. */
import type { Db } from "../../src/database/pool.ts";
import { findEndpointOf } from "../../src/deliveries/delivery-store.ts";
import * as events from "../../src/deliveries/event-log-store.ts";
import { rangeOf } from "../../src/deliveries/search-filter.ts";
import { lockEndpoint } from "../../src/endpoints/endpoint-store.ts";
import * as accept from "../../src/queue/postgres/accept-store.ts";
import * as once from "../../src/queue/postgres/once-store.ts";
import { groupAccepted, readCandidates } from "../../src/replays/candidate-store.ts";
import { groupFailures, sliceFailures } from "../../src/replays/failure-store.ts";
import type { ReplaySelection } from "../../src/replays/replay.ts";
import { findAccepting } from "../../src/replays/accepting-store.ts";
import * as replays from "../../src/replays/replay-store.ts";
import { ALL_SLOTS } from "../../src/queue/slots.ts";
import { newEndpointId, newEventId, newReplayId, parseEventId } from "../../src/shared/id.ts";
import { event } from "./store-inputs.ts";
import { EVENT_TYPE, LEASE_OWNER, type Rows } from "./two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const anyType = { exactly: null, prefix: null };
const slice = { range: rangeOf({}), most: 5, limit: 5 };

const FIRST = parseEventId("00000000-0000-7000-8000-000000000000") ?? newEventId();
const run = ({ tenantId, endpointId, replayId: id }: Rows) => ({
  tenantId,
  endpointId,
  id,
  leaseOwner: LEASE_OWNER,
});
const filter = ({ tenantId, endpointId }: Rows, selection: ReplaySelection) => ({
  tenantId,
  endpointId,
  selection,
  from: new Date(Date.now() - 3_600_000),
  to: new Date(Date.now() + 3_600_000),
  eventType: null,
  cause: null,
});

export const asTenant: Record<string, Run> = {
  insertReplayed: (db, { tenantId, endpointId, replayId }) =>
    once.insertReplayed(db, {
      tenantId,
      endpointId,
      replayId,
      events: [{ eventId: newEventId(), eventType: EVENT_TYPE, version: 1, attempt: 2 }],
    }),
  removeReplayed: (db, rows) => once.removeReplayed(db, rows),
  readCandidates: async (db, rows) =>
    (await readCandidates(db, filter(rows, "failed"), { after: FIRST, most: 5 })).candidates,
  groupAccepted: async (db, rows) =>
    (await groupAccepted(db, filter(rows, "all"), { after: FIRST, most: 5 })).groups,
  sliceFailures: async (db, rows) =>
    (await sliceFailures(db, filter(rows, "failed"), { after: FIRST, size: 5, most: 5 })).slices,
  groupFailures: (db, rows) =>
    groupFailures(db, filter(rows, "failed"), { after: FIRST, upTo: rows.eventId }),
  "readCandidates, of all": async (db, rows) =>
    (await readCandidates(db, filter(rows, "all"), { after: FIRST, most: 5 })).candidates,
  "readCandidates, of missed": async (db, rows) =>
    (await readCandidates(db, filter(rows, "missed"), { after: FIRST, most: 5 })).candidates,
  lockRunningReplays: (db, { tenantId }) => replays.lockRunningReplays(db, tenantId),
  insertReplay: async (db, rows) => {
    await replays.insertReplay(db, {
      ...filter(rows, "all"),
      endpointId: newEndpointId(),
      tenantId: rows.tenantId,
      id: newReplayId(),
      counted: 1,
      isCapped: false,
      before: FIRST,
    });
  },
  findReplay: (db, { tenantId, replayId }) => replays.findReplay(db, tenantId, replayId),
  listReplays: (db, { tenantId }) =>
    replays.listReplays(db, tenantId, { endpointId: null, before: null, limit: 5 }),
  lockRun: (db, rows) => replays.lockRun(db, run(rows)),
  countOutcomes: (db, rows) => replays.countOutcomes(db, run(rows)),
  moveCursor: (db, rows) =>
    replays.moveCursor(db, run(rows), { after: rows.eventId, isFed: true, sent: 1, skipped: 1 }),
  cancelReplay: (db, { tenantId, replayId }) => replays.cancelReplay(db, tenantId, replayId),
  subtractSent: (db, { tenantId, replayId }) => replays.subtractSent(db, tenantId, replayId, 1),
  findEndpointOf: (db, { tenantId, deliveryId }) => findEndpointOf(db, tenantId, deliveryId),
  "findEndpointOf, pending": (db, { tenantId, leasedId }) => findEndpointOf(db, tenantId, leasedId),
  listEventSlice: async (db, { tenantId }) =>
    (await events.listEventSlice(db, tenantId, anyType, slice)).found,
  findEvent: (db, { tenantId, eventId }) => events.findEvent(db, tenantId, eventId),
  lockEndpoint: (db, rows) => lockEndpoint(db, rows),
  findNewestAttempt: (db, rows) => events.findNewestAttempt(db, rows),
  insertOnce: (db, rows) => once.insertOnce(db, { ...rows, eventType: EVENT_TYPE, version: 2, attempt: 2 }),
  findAttempts: async (db, { tenantId, eventId }) =>
    (await events.findAttempts(db, { tenantId, eventId }, 100)).keys,
};

export const asWorker: Record<string, Run> = {
  releaseReplay: (db, rows) => replays.releaseReplay(db, run(rows), 1000),
  finishReplay: (db, rows) => replays.finishReplay(db, run(rows), null),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  findAccepting: (db) => findAccepting(db),
  claimReplay: (db) => replays.claimReplay(db, LEASE_OWNER, 1000),
  forgetReplays: (db) => replays.forgetReplays(db, 30),
};

export const asPublisher: Record<string, Run> = {
  findEventOfKey: (db, { tenantId, key }) => accept.findEventOfKey(db, tenantId, key),
  acceptEvents: async (db, rows) =>
    (
      await accept.acceptEvents(db, [event(rows, null), event(rows, "a new key")], {
        leaseId: LEASE_OWNER,
        slots: ALL_SLOTS,
        parked: [],
        firstDelayMs: 0,
      })
    ).leased.map(({ endpointId }) => endpointId),
  claimKeys: async (db, rows) => [...(await accept.claimKeys(db, [event(rows, "another new key")], null))],
  findKnownEvents: async (db, { tenantId, eventId }) => [
    ...(await accept.findKnownEvents(db, [{ id: eventId, tenantId }])),
  ],
  findEarlierEvents: (db, rows) => accept.findEarlierEvents(db, [event(rows, rows.key)]),
};
