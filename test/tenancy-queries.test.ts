/**
 * Every query of every role, by the functions that the program calls, aimed at
 * another tenant's rows; and once at its own, to show that it would have hit.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { globSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import * as audit from "../src/audit/audit-store.ts";
import { openRolePools, type RolePools } from "../src/database/role-pools.ts";
import type { Db } from "../src/database/pool.ts";
import * as deliveries from "../src/deliveries/delivery-store.ts";
import * as pages from "../src/deliveries/log-page-store.ts";
import { queryOf, rangeOf, type SearchFilter } from "../src/deliveries/search-filter.ts";
import * as search from "../src/deliveries/search-store.ts";
import * as claim from "../src/queue/postgres/claim-store.ts";
import * as presence from "../src/queue/postgres/presence-store.ts";
import * as release from "../src/queue/postgres/release-store.ts";
import * as complete from "../src/queue/postgres/complete-store.ts";
import * as hold from "../src/queue/postgres/follow-store.ts";
import * as depth from "../src/queue/postgres/depth-store.ts";
import * as heartbeats from "../src/database/heartbeat-store.ts";
import { readReplication } from "../src/database/replication/replication-store.ts";
import * as personSends from "../src/deliveries/person-send-store.ts";
import * as partitions from "../src/queue/postgres/partition-store.ts";
import * as retention from "../src/queue/postgres/retention-store.ts";
import * as unsettled from "../src/queue/postgres/unsettled-store.ts";
import * as upkeep from "../src/queue/postgres/upkeep-store.ts";
import * as endpoints from "../src/endpoints/endpoint-store.ts";
import * as reseal from "../src/endpoints/reseal-store.ts";
import * as mutations from "../src/storage/rows/mutation-store.ts";
import { moveState } from "../src/storage/rules/mutations.ts";
import * as reconcile from "../src/storage/upkeep/reconcile-store.ts";
import * as objects from "../src/storage/rows/stored-object-store.ts";
import * as demoQueries from "./support/demo-queries.ts";
import * as endpointQueries from "./support/endpoint-queries.ts";
import * as eventQueries from "./support/event-queries.ts";
import * as exportQueries from "./support/export-queries.ts";
import * as noticeQueries from "./support/notice-queries.ts";
import * as outboxQueries from "./support/outbox-queries.ts";
import * as portalQueries from "./support/portal-queries.ts";
import * as pullQueries from "./support/pull-queries.ts";
import * as tenantQueries from "./support/tenant-queries.ts";
import * as claimQueries from "./support/claim-queries.ts";
import * as statsQueries from "./support/stats-queries.ts";
import { storageAcrossTenants } from "./support/storage-queries.ts";
import { ofMove } from "./support/move-queries.ts";
import { artifact, completed, leased, logged, NOW, secret } from "./support/store-inputs.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { BODY, BUCKET, LEASE_OWNER, seedTwoTenants, snapshot, type Rows } from "./support/two-tenants.ts";

type Run = (db: Db, rows: Rows) => Promise<unknown>;

const range = rangeOf({});
const keysOf = ({ endpointId, deliveryId, leasedId }: Rows) => [
  { endpointId, id: deliveryId },
  { endpointId, id: leasedId },
];
const searched = async (db: Db, rows: Rows, filter: SearchFilter) =>
  (await search.searchSlice(db, rows.tenantId, queryOf(filter), { range, most: 20, limit: 20 })).found;
const inserted = async (db: Db, rows: Rows) =>
  (await objects.insertPendingObject(db, artifact(rows)))?.state === "pending";

const uploaded = (db: Db, { tenantId, pendingObjectId }: Rows) =>
  objects.recordUpload(
    db,
    tenantId,
    { id: pendingObjectId, revision: 1 },
    { versionId: "mine", etag: "mine" },
  );

const audited = ({ tenantId, endpointId }: Rows) => ({
  tenantId,
  actor: { type: "user" as const, sub: "mallory" },
  action: "endpoint.deleted" as const,
  endpointId,
  outcome: "done" as const,
  details: {},
  requestId: null,
  address: null,
});

const foundByKey = async (db: Db, rows: Rows) =>
  (await inserted(db, rows)) && (await objects.findObjectByKey(db, artifact(rows))) !== null;

const listedObjects = (db: Db, { tenantId }: Rows) =>
  objects.listTenantObjects(db, tenantId, { objectId: null, after: null, limit: 10 });

const asTenant: Record<string, Run> = {
  findObjectByKey: foundByKey,
  listTenantObjects: listedObjects,
  isTenantErasing: async (db, { tenantId }) => objects.isTenantErasing(db, tenantId),
  setHold: async (db, { tenantId, objectId }) =>
    (await objects.setHold(db, tenantId, { id: objectId, isHeld: true })) === "changed",
  insertAuditEntries: (db, rows) => audit.insertAuditEntries(db, [audited(rows)]),
  listAuditEntries: (db, { tenantId }) => audit.listAuditEntries(db, tenantId, { filter: {}, limit: 5 }),
  ...exportQueries.asTenant,
  ...eventQueries.asTenant,
  insertPendingObject: inserted,
  recordUpload: uploaded,
  findStoredObject: (db, { tenantId, objectId }) => objects.findStoredObject(db, tenantId, objectId),
  findForDownload: async (db, { tenantId, objectId, deliveryId }) =>
    (await objects.findForDownload(db, tenantId, { objectId, deliveryId })).found,
  listLibraryRows: (db, { tenantId }) => objects.listLibraryRows(db, tenantId, { after: null, limit: 5 }),
  grantByMutation: async (db, { objectId }) => {
    const grant = {
      id: randomUUID(),
      object_id: objectId,
      user_id: randomUUID(),
      issued_at: NOW,
      expires_at: NOW,
    };
    await mutations.applyMutations(db, [{ op: "insert", target: "grant", ...grant }], {
      now: NOW,
      bucket: null,
    });
  },
  ...endpointQueries.asTenant,
  ...noticeQueries.asTenant,
  lockUnsettled: (db, rows) => unsettled.lockUnsettled(db, rows, { whenLocked: "wait", heldMs: 50 }),
  setSettled: (db, rows) => unsettled.setSettled(db, rows),
  listDeliveryIds: (db, rows) => pages.listDeliveryIds(db, rows, undefined, { range, offset: 0n, limit: 20 }),
  countPending: async (db, { tenantId, endpointId }) =>
    (await pages.countPending(db, tenantId, endpointId)).count,
  searchSlice: (db, rows) => searched(db, rows, { times: {} }),
  "searchSlice, by endpoint": (db, rows) => searched(db, rows, { endpointIds: [rows.endpointId], times: {} }),
  "searchSlice, by event": (db, rows) => searched(db, rows, { eventId: rows.eventId, times: {} }),
  "searchSlice, by status": (db, rows) => searched(db, rows, { status: "failed", times: {} }),
  ...statsQueries.asTenant,
  ...pullQueries.asTenant,
  readDeliveries: (db, rows) =>
    deliveries.readDeliveries(db, rows.tenantId, { keys: keysOf(rows), maxBodyBytes: 1024 }),
  readDeliveryHeads: (db, rows) => deliveries.readDeliveryHeads(db, rows.tenantId, keysOf(rows)),
  findBodies: (db, rows) => deliveries.findBodies(db, rows.tenantId, keysOf(rows)),
  findText: async (db, rows) => {
    const given = { keys: keysOf(rows), text: BODY, maxBytes: 1024 };
    return (await deliveries.findText(db, rows.tenantId, given)).hits.includes(true);
  },
  findDelivery: (db, { tenantId, endpointId, deliveryId: id }) =>
    deliveries.findDelivery(db, { tenantId, endpointId, id }),
  insertPersonSend: (db, rows) => personSends.insertPersonSend(db, { ...logged(rows), requestBody: "{}" }),
  deletePersonSend: (db, { tenantId, endpointId, personSendId: id }) =>
    personSends.deletePersonSend(db, { tenantId, endpointId, id }),
  isEndpointErased: async (db, rows) => !(await personSends.isEndpointErased(db, rows)),
  insertDelivery: (db, rows) => deliveries.insertDelivery(db, logged(rows)),
  holdPendingDispatches: (db, rows) => hold.holdPendingDispatches(db, rows, null),
  resumeDispatches: (db, rows) => hold.resumeDispatches(db, rows, null),
  endDispatches: (db, rows) => hold.endDispatches(db, rows, null),
  supersedeDispatches: (db, rows) => hold.supersedeDispatches(db, rows),
  completeAttempts: (db, rows) => complete.completeAttempts(db, [completed(rows)], "wait", "tenant"),
};

const asWorker: Record<string, Run> = {
  ...eventQueries.asPublisher,
  insertWhoLivesHere: async (db, rows) => (await audit.insertWhoLivesHere(db, [audited(rows)])).length === 0,
  insertAuditEntries: (db, rows) => audit.insertAuditEntries(db, [audited(rows)]),
  findObjectByKey: foundByKey,
  listTenantObjects: listedObjects,
  ...exportQueries.asWorker,
  ...eventQueries.asWorker,
  ...outboxQueries.asWorker,
  insertPendingObject: inserted,
  recordUpload: uploaded,
  findStoredObject: (db, { tenantId, objectId }) => objects.findStoredObject(db, tenantId, objectId),
  ...endpointQueries.asWorker,
  ...noticeQueries.asWorker,
  setSettled: (db, rows) => unsettled.setSettled(db, rows),
  lockUnsettled: (db, rows) => unsettled.lockUnsettled(db, rows, { whenLocked: "skip", heldMs: 50 }),
  holdPendingDispatches: (db, rows) => hold.holdPendingDispatches(db, rows, null),
  deferDispatch: (db, rows) => release.deferDispatch(db, leased(rows)),
  releaseDispatches: (db, rows) => release.releaseDispatches(db, [leased(rows)], "claimable"),
  pullDispatches: async (db, { tenantId, endpointId }) =>
    [
      ...(
        await claim.pullDispatches(db, LEASE_OWNER, [
          { tenantId, endpointId, dispatches: 10, bodyBytes: 1e6 },
        ])
      ).values(),
    ].flatMap(({ claimed }) => claimed),
  holdDispatches: (db, rows) => hold.holdDispatches(db, [leased(rows)], "wait"),
  completeAttempts: (db, rows) => complete.completeAttempts(db, [completed(rows)], "wait"),
};

/** For all tenants at once: that the role may run them is all there is to show. */
const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  ...exportQueries.acrossTenants,
  ...eventQueries.acrossTenants,
  readDatabaseClock: (db) => objects.readDatabaseClock(db),
  listRowsByKey: (db) => objects.listRowsByKey(db, BUCKET, { after: null, limit: 10 }),
  listDueForExpiry: async (db) => {
    const [due] = await objects.listDueForExpiry(db, new Date().toISOString(), 10);
    assert.ok(due !== undefined);
    const expired = moveState(due, "expired");
    assert.equal((await mutations.applyMutations(db, [expired], { now: NOW, bucket: null })).changedRows, 1);
  },
  applyMutations: async (db) => {
    const [mark] = await reconcile.listMarks(db, BUCKET, { after: null, upTo: null });
    assert.ok(mark !== undefined);
    const gone = { op: "delete", target: "mark", key: mark.key, class: mark.class } as const;
    const again = { ...mark, op: "insert", target: "mark" } as const;
    const rearmed = { ...gone, op: "update", first_seen_at: NOW } as const;
    await mutations.applyMutations(db, [gone, again, rearmed], { now: NOW, bucket: BUCKET });
  },
  listMarks: (db) => reconcile.listMarks(db, BUCKET, { after: null, upTo: null }),
  readCursor: (db) => reconcile.readCursor(db, BUCKET),
  writeCursor: (db) =>
    reconcile.writeCursor(db, BUCKET, { runId: randomUUID(), afterKey: null, haltedReason: null }),
  ...storageAcrossTenants,
  ...statsQueries.acrossTenants,
  ...pullQueries.acrossTenants,
  ...noticeQueries.acrossTenants,
  ...portalQueries.acrossTenants,
  ...tenantQueries.acrossTenants,
  countSecretsByKey: (db) => reseal.countSecretsByKey(db),
  forgetDeletedEndpoints: (db) => endpoints.forgetDeletedEndpoints(db, 30),
  removeOldAudit: (db) => audit.removeOldAudit(db),
  ...outboxQueries.acrossTenants,
  beat: (db) => heartbeats.beat(db, { id: randomUUID(), name: "test" }),
  removeOldHeartbeats: (db) => heartbeats.removeOldHeartbeats(db),
  findLockHolders: (db) => heartbeats.findLockHolders(db),
  readReplication: (db) => readReplication(db),
  ...claimQueries.acrossTenants,
  holdWorkerLock: (db) => presence.holdWorkerLock(db, randomUUID()),
  confirmWorker: (db) => presence.confirmWorker(db, randomUUID(), "session"),
  findUnheldWorkers: (db) => presence.findUnheldWorkers(db),
  markWorkerDead: (db) => presence.markWorkerDead(db, randomUUID(), 1000),
  freeLeasesOfDead: (db) => presence.freeLeasesOfDead(db, randomUUID()),
  removeWorker: (db) => presence.removeWorker(db, randomUUID()),
  removeDeadWorker: (db) => presence.removeDeadWorker(db, randomUUID()),
  endInterruptedSends: (db) => personSends.endInterruptedSends(db),
  findMissingDays: (db) => partitions.findMissingDays(db, { from: -1, to: 0 }),
  makePartitionsOf: (db) => partitions.makePartitionsOf(db, 0),
  stagePartitions: (db) => partitions.stagePartitions(db, "events", { from: -1, to: 0 }),
  copyStagedRows: async (db) => {
    await partitions.stagePartitions(db, "events", { from: 40, to: 40 });
    await partitions.copyStagedRows(db, "events", { from: 0, to: 1 });
  },
  attachStaged: (db) => partitions.attachStaged(db, "events"),
  dropOldPartition: (db) => retention.dropOldPartition(db, 90),
  forgetHeaderSets: (db) => retention.forgetHeaderSets(db, 90),
  readOldestDays: (db) => retention.readOldestDays(db),
  findUnsettled: (db) => unsettled.findUnsettled(db),
  deleteSuperseded: (db) => upkeep.deleteSuperseded(db),
  deleteOldIdempotencyKeys: (db) => upkeep.deleteOldIdempotencyKeys(db),
  measureQueue: (db) => depth.measureQueue(db),
};

/** For the operator at the command line: of all tenants, with the owner's rights, which serves nobody. */
const asOwner: Record<string, (db: Db) => Promise<unknown>> = {
  listAuditOfAll: (db) => audit.listAuditOfAll(db, { tenantId: null, filter: {}, limit: 5 }),
  listSealedOtherwise: (db) => reseal.listSealedOtherwise(db, "00000000", { after: null, limit: 5 }),
  replaceSealed: async (db) => {
    const [old] = await reseal.listSealedOtherwise(database.pool, "00000000", { after: null, limit: 1 });
    assert.equal(old?.tenantId, "acme");
    return reseal.replaceSealed(db, [{ old, secret, previousSecret: null, sealedHeaders: null }]);
  },
  clearEndedGraces: (db) => reseal.clearEndedGraces(db),
  forgetSealedBy: (db) => reseal.forgetSealedBy(db, "00000000", 5),
  ...demoQueries.asOwner,
};

let database: TestDatabase;
let pools: RolePools;

before(async () => {
  database = await createTestDatabase();
  pools = openRolePools(
    { url: database.url, poolSize: 6, applicationName: "postern test", connectionTimeoutMs: 5000 },
    { servesApi: true, works: true, relays: false },
  );
});
after(async () => {
  await pools.close();
  await database.drop();
});

/** What the query answered, and what it changed of these rows; "refused" where row-level security stopped it. */
async function effectOn(rows: Rows, run: () => Promise<unknown>) {
  const earlier = await snapshot(database.pool, rows.tenantId);
  const answer = await run().catch((error: unknown) => {
    assert.match(String(error), /violates row-level security policy/);
    return "refused";
  });
  return { answer, hasChanged: (await snapshot(database.pool, rows.tenantId)) !== earlier };
}

function isNothing(answer: unknown): boolean {
  if (answer instanceof Set || answer instanceof Map) return answer.size === 0;
  if (Array.isArray(answer)) return answer.length === 0;
  return answer === "refused" || !answer;
}

describe("a query of the tenant role", () => {
  for (const [name, run] of Object.entries(asTenant)) {
    it(`${name} reads and changes nothing of a tenant that is not the connection's`, async () => {
      const { acme, globex } = await seedTwoTenants(database.pool);
      const foreign = await effectOn(globex, () => run(pools.tenants.of(acme.tenantId), globex));
      assert.ok(isNothing(foreign.answer), JSON.stringify(foreign.answer));
      assert.ok(!foreign.hasChanged);
      const own = await effectOn(globex, () => run(pools.tenants.of(globex.tenantId), globex));
      assert.ok(!isNothing(own.answer) || own.hasChanged, "it does nothing for its own tenant either");
    });
  }
});

/** They name no tenant, or not in every part: row-level security alone keeps them to theirs. */
const BY_POLICY = new Set(["grantByMutation", "countOutcomes"]);
/** What they add is there, or has another id, the second time. */
const ANSWERS_ONCE = new Set(["insertEndpoint", "insertOnce", "insertPendingObject", "findObjectByKey"]);

for (const [role, queries] of Object.entries({
  tenant: asTenant,
  publisher: eventQueries.asPublisher,
  worker: asWorker,
})) {
  describe(`a query of the ${role} role, with one tenant's name and another's ids`, () => {
    for (const [name, run] of Object.entries(queries)) {
      it(`${name} reads and changes nothing of the other`, async () => {
        const { acme, globex } = await seedTwoTenants(database.pool);
        const crossed = { ...globex, tenantId: acme.tenantId };
        // Row-level security hides nothing from the owner, so that the statement itself must.
        const isJudged = role === "tenant" && !BY_POLICY.has(name);
        const answers: string[] = [];
        for (const db of isJudged ? [dbOf(role, acme), database.pool] : [dbOf(role, acme)]) {
          const { answer, hasChanged } = await effectOn(globex, () => run(db, crossed));
          assert.ok(!hasChanged);
          const text = textOf(answer);
          for (const id of [globex.tenantId, globex.endpointId, globex.eventId, globex.deliveryId])
            assert.ok(!text.includes(id), text);
          answers.push(text);
        }
        if (isJudged && !ANSWERS_ONCE.has(name)) assert.equal(answers[1], answers[0]);
        const own = await effectOn(globex, () => run(dbOf(role, globex), globex));
        assert.ok(!isNothing(own.answer) || own.hasChanged, "it does nothing for its own tenant either");
      });
    }
  });
}

function textOf(answer: unknown): string {
  return JSON.stringify(answer instanceof Map ? [...answer] : answer) ?? "";
}

function dbOf(role: string, rows: Rows): Db {
  if (role === "tenant") return pools.tenants.of(rows.tenantId);
  return role === "publisher" ? pools.publisher : pools.worker;
}

describe("a query of the worker for all tenants", () => {
  for (const [name, run] of Object.entries(acrossTenants)) {
    it(`${name} needs no more than the worker role`, async () => {
      await seedTwoTenants(database.pool);
      await run(pools.worker);
    });
  }
});

const forServices = { ...portalQueries.forServices, ...tenantQueries.forServices };

describe("a query of the operator's backend for any tenant", () => {
  for (const [name, run] of Object.entries(forServices)) {
    it(`${name} needs no more than the publisher role, and a tenant has it not`, async () => {
      const { acme } = await seedTwoTenants(database.pool);
      await run(pools.publisher);
      await assert.rejects(run(pools.tenants.of(acme.tenantId)), /permission denied/);
    });
  }
});

describe("a query of the owner for all tenants", () => {
  for (const [name, run] of Object.entries(asOwner)) {
    it(`${name} runs for the owner, and as a tenant reaches no other`, async () => {
      const { acme, globex } = await seedTwoTenants(database.pool);
      await run(database.pool);
      const earlier = await snapshot(database.pool, acme.tenantId);
      const answer = JSON.stringify(await run(pools.tenants.of(globex.tenantId)));
      assert.equal(await snapshot(database.pool, acme.tenantId), earlier);
      assert.ok(!answer?.includes(acme.tenantId), answer);
    });
  }
});

describe("the lists above", () => {
  it("hold every function of every store", async () => {
    const root = join(import.meta.dirname, "..");
    const exported: string[] = [];
    for (const file of globSync("src/**/*-store.ts", { cwd: root })) {
      const store: Record<string, unknown> = await import(join(root, file));
      exported.push(...Object.keys(store).filter((name) => typeof store[name] === "function"));
    }
    const lists = [asTenant, asWorker, acrossTenants, forServices, asOwner, ofMove];
    const listed = new Set(lists.flatMap((list) => Object.keys(list)));
    // It makes arrays and asks nothing.
    listed.add("leaseArrays");
    assert.deepEqual(exported.filter((name) => !listed.has(name)).sort(), []);
    assert.ok(exported.length >= 30, `${exported.length} functions found`);
  });
});
