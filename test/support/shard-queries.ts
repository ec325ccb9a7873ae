/** What is asked of a shard and of the directory: see tenancy-queries.test.ts. */
import assert from "node:assert/strict";
import type { Db } from "../../src/database/pool.ts";
import * as handovers from "../../src/queue/postgres/handover-store.ts";
import * as directory from "../../src/shards/directory-store.ts";
import * as join from "../../src/shards/join-store.ts";
import { newEventId } from "../../src/shared/id.ts";
import { BODY, EVENT_TYPE, tenant } from "./two-tenants.ts";

const acme = tenant("acme");
const initech = tenant("initech");

const SOME = { events: 10, bodyBytes: 1024 * 1024 };

export const forServices: Record<string, (db: Db) => Promise<unknown>> = {
  readHomes: async (db) => {
    assert.deepEqual(
      [...(await directory.readHomes(db, [acme, initech]))],
      [[acme, { shard: "eu1", version: 1 }]],
    );
  },
  readMovedTo: async (db) => {
    assert.deepEqual(await directory.readMovedTo(db, "eu1", { after: "acmd", most: 1 }), []);
  },
  placeTenants: async (db) => {
    await directory.placeTenants(db, "eu1", [
      { tenantId: initech, shard: "eu2" },
      { tenantId: acme, shard: "eu2" },
    ]);
    const homes = await directory.readHomes(db, [acme, initech]);
    assert.deepEqual([homes.get(acme)?.shard, homes.get(initech)?.shard], ["eu1", "eu2"]);
  },
  isBeingMoved: async (db) => {
    assert.deepEqual(
      [await directory.isBeingMoved(db, acme), await directory.isBeingMoved(db, initech)],
      [true, false],
    );
  },
  readMoves: async (db) => {
    assert.deepEqual(
      (await directory.readMoves(db)).map(({ tenantId }) => tenantId),
      [acme, tenant("globex")],
    );
  },
  settleTenants: (db) => directory.settleTenants(db, "eu1", [initech]),
  countHomes: async (db) => {
    assert.equal((await join.countHomes(db)).get("eu1"), 2);
  },
  readMark: async (db) => {
    assert.equal(await join.readMark(db), null);
  },
  insertHandovers: (db) =>
    handovers.insertHandovers(db, [
      {
        id: newEventId(),
        tenantId: acme,
        type: EVENT_TYPE,
        patterns: [],
        version: 1,
        body: BODY,
        others: null,
        idempotencyKey: null,
      },
    ]),
};

export const acrossTenants: Record<string, (db: Db) => Promise<unknown>> = {
  findTenantsHere: async (db) => {
    assert.deepEqual([...(await handovers.findTenantsHere(db, [acme, initech]))], [acme]);
  },
  findDestinations: async (db) => {
    assert.deepEqual(await handovers.findDestinations(db), [null]);
  },
  claimHandovers: async (db) => {
    assert.equal((await handovers.claimHandovers(db, null, { ...SOME, leaseMs: 1000 })).length, 2);
    assert.equal((await handovers.claimHandovers(db, null, { ...SOME, leaseMs: 1000 })).length, 0);
  },
  "claimHandovers (bytes)": async (db) => {
    const limits = { ...SOME, bodyBytes: 1, leaseMs: 1000 };
    for (const count of [1, 1, 0]) {
      assert.equal((await handovers.claimHandovers(db, null, limits)).length, count);
    }
  },
  redirectHandovers: async (db) => {
    const [event] = await handovers.claimHandovers(db, null, { ...SOME, events: 1, leaseMs: 1000 });
    assert.ok(event !== undefined);
    await handovers.redirectHandovers(db, [{ id: event.id, shard: "eu2" }], 0);
    assert.deepEqual(new Set(await handovers.findDestinations(db)), new Set([null, "eu2"]));
  },
  deleteHandovers: async (db) => {
    const events = await handovers.claimHandovers(db, null, { ...SOME, leaseMs: 0 });
    await handovers.deleteHandovers(
      db,
      events.map(({ id }) => id),
    );
    assert.deepEqual(await handovers.findDestinations(db), []);
  },
  readMarksOfMoves: async (db) => {
    assert.deepEqual(await directory.readMarksOfMoves(db, "", 10), []);
  },
  readKnownVersions: async (db) => {
    assert.deepEqual(await directory.readKnownVersions(db, [acme]), new Map([[acme, 1]]));
  },
  readResidents: async (db) => {
    assert.deepEqual(
      (await directory.readResidents(db, "acmd", 1)).map(({ tenantId }) => tenantId),
      [acme],
    );
  },
  readHandovers: async (db) => {
    assert.ok(((await join.readHandovers(db)).waitingMs ?? -1) >= 0);
  },
  readDatabaseIdentity: (db) => join.readDatabaseIdentity(db),
  readSchemaVersion: async (db) => {
    assert.ok((await join.readSchemaVersion(db)) >= 38);
  },
  hasTenants: async (db) => {
    assert.equal(await join.hasTenants(db), true);
  },
  // For whoever migrates: no role that serves makes a database a shard.
  insertMark: (db) =>
    assert.rejects(join.insertMark(db, { name: "eu1", directory: null }), /permission denied/),
};
