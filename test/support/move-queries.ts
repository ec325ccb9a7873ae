/** What is asked of shards by a move, with the rights of an administrator: see tenancy-queries.test.ts. */
import type { Db } from "../../src/database/pool.ts";
import type { TenantId } from "../../src/shared/id.ts";
import * as slots from "../../src/shards/copy-slot-store.ts";
import * as copying from "../../src/shards/copy-store.ts";
import * as holding from "../../src/shards/hold-store.ts";
import * as moves from "../../src/shards/move-store.ts";

const LSN = "0/0";
const LONG_AGO = new Date(0);
const copyOf = (tenantId: TenantId) => ({ name: "postern_move_0", tenantId });
const moveOf = (tenantId: TenantId) => ({
  tenantId,
  source: "eu1",
  target: "eu2",
  startedAt: LONG_AGO,
  switched: false,
});

/** Of the server, and of no tenant. */
const OF_SERVER = new Set([
  "dropSlots",
  "dropTableSlots",
  "hasSlot",
  "isFetched",
  "isSubscribed",
  "limitAsking",
  "lockErasures",
  "lockSubscribing",
  "readEnd",
  "readDays",
  "readKeptSince",
  "readLastMinute",
  "readOpenTransactions",
  "readServerFacts",
  "readSubscriptions",
  "readTableSlots",
  "readWorkers",
  "stopApplying",
  "tryLockMove",
  "hasReached",
]);

export const isOfServer = (name: string): boolean => OF_SERVER.has(name);

export const ofMove: Record<string, (db: Db, tenantId: TenantId) => Promise<unknown>> = {
  findMove: (db, id) => moves.findMove(db, id),
  insertMove: (db, id) => moves.insertMove(db, moveOf(id)),
  deleteMove: (db, id) => moves.deleteMove(db, id),
  commitSwitch: (db, id) => moves.commitSwitch(db, moveOf(id), "[]"),
  readReplaysOfMove: (db, id) => moves.readReplaysOfMove(db, id),
  tryLockMove: (db, id) => moves.tryLockMove(db, id),
  fence: (db, id) => moves.fence(db, id, 2),
  forgetFence: (db, id) => moves.forgetFence(db, id),
  unfence: (db, id) => moves.unfence(db, id),
  takeReplays: (db, id) => moves.takeReplays(db, id),
  lockSwitched: (db, id) => moves.lockSwitched(db, id),
  lacksEvents: (db, id) => moves.lacksEvents(db, id),
  setMoving: (db, id) => moves.setMoving(db, id, true),
  readMarks: (db, id) => moves.readMarks(db, id),
  insertReplays: (db) => moves.insertReplays(db, "[]"),
  insertExports: (db) => moves.insertExports(db, "[]"),
  releaseEndpoints: (db, id) => holding.releaseEndpoints(db, id),
  releaseLate: (db, id) => holding.releaseLate(db, id),
  hasMovingEndpoints: async (db, id) => (await holding.hasMovingEndpoints(db, id)) || null,
  holdTenant: (db, id) => holding.holdTenant(db, id),
  isAtWork: async (db, id) => (await holding.isAtWork(db, id)) || null,
  hasCounts: async (db, id) => (await holding.hasCounts(db, id)) || null,
  lockSubscribing: (db) => moves.lockSubscribing(db),
  readWorkers: (db) => copying.readWorkers(db),
  lockErasures: (db) => moves.lockErasures(db),
  wasErasedSince: async (db, id) => (await moves.wasErasedSince(db, id, LONG_AGO)) || null,
  readReplays: async (db, id) => JSON.parse(await moves.readReplays(db, id)),
  readExports: async (db, id) => JSON.parse(await moves.readExports(db, id)),
  wakeClients: (db, id) => moves.wakeClients(db, id),
  findStored: (db, id) => moves.findStored(db, id),
  findTablesWithRows: (db, id) => moves.findTablesWithRows(db, id, ["events"]),
  measureRows: async (db, id) => ((await moves.measureRows(db, id, ["events"])).rows > 0 ? id : null),
  hasTenantRows: async (db, id) => (await moves.hasTenantRows(db, id)) || null,
  deleteTenantRows: (db, id) => moves.deleteTenantRows(db, id, () => undefined),
  countRows: (db, id) => moves.countRows(db, id, { events: LONG_AGO, deliveries: LONG_AGO }),
  readKeysOnTheWay: (db, id) => moves.readKeysOnTheWay(db, id),
  forgetKeys: (db, id) => moves.forgetKeys(db, id, []),
  readCopyName: (db, id) => copying.readCopyName(db, id, "eu2"),
  publish: (db, id) => copying.publish(db, copyOf(id)),
  hasSlot: (db, id) => copying.hasSlot(db, copyOf(id)),
  isSubscribed: (db, id) => copying.isSubscribed(db, copyOf(id)),
  subscribe: (db, id) => copying.subscribe(db, copyOf(id), "postgres://127.0.0.1:1/none"),
  limitAsking: (db) => copying.limitAsking(db, "transaction"),
  publishPending: (db, id) => copying.publishPending(db, copyOf(id)),
  fetchPending: (db, id) => copying.fetchPending(db, copyOf(id)),
  readCopyState: (db, id) => copying.readCopyState(db, copyOf(id)),
  readEnd: (db) => copying.readEnd(db),
  hasReached: (db, id) => copying.hasReached(db, copyOf(id), LSN),
  stopApplying: (db, id) => copying.stopApplying(db, copyOf(id)),
  unsubscribe: (db, id) => copying.unsubscribe(db, copyOf(id)),
  unpublish: (db, id) => copying.unpublish(db, copyOf(id)),
  dropSlots: (db, id) => slots.dropSlots(db, copyOf(id), null),
  readSubscriptions: (db) => slots.readSubscriptions(db),
  readTableSlots: (db) => slots.readTableSlots(db, "1"),
  dropTableSlots: (db) => slots.dropTableSlots(db, []),
  isFetched: (db, id) => copying.isFetched(db, copyOf(id)),
  readLeftCopies: (db) => copying.readLeftCopies(db),
  readDays: (db) => copying.readDays(db),
  readKeptSince: (db) => copying.readKeptSince(db),
  readLastMinute: (db) => copying.readLastMinute(db),
  ensureDay: (db) => copying.ensureDay(db, "2026-01-01"),
  readOpenTransactions: (db) => copying.readOpenTransactions(db),
  readServerFacts: (db) => copying.readServerFacts(db),
};
