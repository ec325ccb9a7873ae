/** The queries of what comparing knows of buckets, for the test that calls every query. */
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/database/pool.ts";
import * as objects from "../../src/storage/rows/stored-object-store.ts";
import * as owners from "../../src/storage/upkeep/owner-store.ts";
import * as reconcile from "../../src/storage/upkeep/reconcile-store.ts";
import { NOW } from "./store-inputs.ts";
import { BUCKET } from "./two-tenants.ts";

export const storageAcrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  readBucket: (db) => owners.readBucket(db, BUCKET),
  addBucket: (db) => owners.addBucket(db, BUCKET),
  raiseGeneration: (db) => owners.raiseGeneration(db, BUCKET, 1),
  setGeneration: (db) => owners.setGeneration(db, BUCKET, 3),
  recordOwner: (db) => owners.recordOwner(db, BUCKET, { isMarked: true, trouble: "another's" }),
  hasRowsWithBytes: (db) => owners.hasRowsWithBytes(db, BUCKET),
  sampleAvailable: (db) => owners.sampleAvailable(db, BUCKET, 5),
  findRowIdentities: (db) => owners.findRowIdentities(db, BUCKET, ["a key"]),
  listKnownTenants: (db) => owners.listKnownTenants(db),
  readDestroyed: (db) => owners.readDestroyed(db, BUCKET, randomUUID()),
  recordDestroyed: (db) => owners.recordDestroyed(db, BUCKET, { runId: randomUUID(), number: 1 }),
  readLinkState: (db) => objects.readLinkState(db, { bucket: BUCKET, key: "a key" }),
  findRowState: (db) => objects.findRowState(db, BUCKET, "a key"),
  listRowsByDigest: (db) => objects.listRowsByDigest(db, BUCKET, { sha256: "0", size: 1, limit: 5 }),
  relinkObject: (db) =>
    objects.relinkObject(db, { id: randomUUID(), revision: 1 }, { versionId: "mine", etag: "mine" }),
  insertOrphanMark: (db) => reconcile.insertOrphanMark(db, BUCKET, "a key"),
  listConfirmableOrphans: (db) => reconcile.listConfirmableOrphans(db, BUCKET, NOW),
  readStorageState: (db) => reconcile.readStorageState(db, BUCKET),
  findOwners: (db) => reconcile.findOwners(db, BUCKET, ["a key"]),
  readNextSequence: (db) => reconcile.readNextSequence(db),
  forgetOldStorage: (db) => reconcile.forgetOldStorage(db, 30),
  insertEvents: async (db) =>
    reconcile.insertEvents(
      db,
      [{ sequence: await reconcile.readNextSequence(db), type: "object.missing", key: "a key" }],
      { bucket: BUCKET, runId: randomUUID(), now: NOW },
    ),
  readStorageTroubles: (db) => reconcile.readStorageTroubles(db, BUCKET),
};
