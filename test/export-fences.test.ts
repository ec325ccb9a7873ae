/** Two workers at one export: whoever lost its lease changes nothing. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { newExportId, parseTenantId } from "../src/shared/id.ts";
import * as exports from "../src/storage/exports/export-store.ts";
import { DEFAULT_EXPORT_FORMATS, type LeasedExport } from "../src/storage/exports/log-export.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

const LEASE_MS = 60_000;
const PART = { rows: 7, files: [] };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.storage_exports"));

async function request(tenant = "acme") {
  const tenantId = parseTenantId(tenant);
  assert.ok(tenantId !== null);
  const id = newExportId();
  const range = { from: new Date(0), to: new Date(1), formats: DEFAULT_EXPORT_FORMATS };
  const filter = { endpointId: null, eventType: null, deliveryStatus: null };
  const of = { tenantId, id, requestedBy: "ada" };
  assert.ok(await exports.insertExport(database.pool, { ...of, ...range, ...filter }));
  return { tenantId, id };
}

async function claim(db: Db = database.pool): Promise<LeasedExport> {
  const claimed = await exports.claimExport(db, randomUUID(), LEASE_MS);
  assert.ok(claimed !== null);
  return claimed;
}

const rows = async () =>
  (await database.pool.query("SELECT to_jsonb(e) AS row FROM postern.storage_exports e ORDER BY id")).rows;
const age = (lease: string, db: Db = database.pool) =>
  db.query(`UPDATE postern.storage_exports SET lease_until = lease_until - $1::interval`, [lease]);

const changes: Record<string, (run: LeasedExport) => Promise<boolean>> = {
  renewed: (run) => exports.renewExport(database.pool, run, LEASE_MS),
  "begun anew": (run) => exports.beginRun(database.pool, run, 5),
  "moved on by a part": (run) =>
    exports.recordPart(database.pool, run, { part: PART, after: null, leaseMs: LEASE_MS }),
  "given back": (run) => exports.releaseExport(database.pool, run, { delayMs: 0, isFruitless: false }),
  finished: (run) => exports.finishExport(database.pool, run, { objectId: randomUUID(), bytes: 1 }),
  failed: (run) => exports.finishExport(database.pool, run, { error: "no" }),
};

describe("an export that passed to another worker", () => {
  for (const [name, change] of Object.entries(changes)) {
    it(`is not ${name} by the first one, but by the second`, async () => {
      await request();
      const first = await claim();
      await age("61 s");
      const second = await claim();
      const before = await rows();
      assert.equal(await change(first), false);
      assert.deepEqual(await rows(), before);
      assert.equal(await change(second), true);
      assert.notDeepEqual(await rows(), before);
    });
  }

  it("is changed under its own tenant and id alone", async () => {
    await request();
    const run = await claim();
    const { tenantId, id } = await request("globex");
    const before = await rows();
    for (const change of Object.values(changes)) {
      assert.equal(await change({ ...run, tenantId }), false);
      assert.equal(await change({ ...run, id }), false);
    }
    assert.deepEqual(await rows(), before);
  });
});

describe("claiming an export", () => {
  it("takes the one that waits longest, none that is leased, and again one whose lease has ended", async () => {
    const one = await request();
    const other = await request("globex");
    await database.pool.query(
      "UPDATE postern.storage_exports SET created_at = created_at - interval '1 h' WHERE id = $1",
      [other.id],
    );
    // In one transaction it is the same moment for all.
    await inTransaction(database.pool, async (db) => {
      assert.equal((await claim(db)).id, other.id);
      assert.equal((await claim(db)).id, one.id);
      assert.equal(await exports.claimExport(db, randomUUID(), LEASE_MS), null);
      await age("59.999 s", db);
      assert.equal(await exports.claimExport(db, randomUUID(), LEASE_MS), null);
      await age("1 ms", db);
      await db.query("UPDATE postern.storage_exports SET updated_at = now() - interval '1 h'");
      const again = await claim(db);
      const { rows: moments } = await db.query("SELECT now()::timestamptz(3) AS at");
      assert.deepEqual([again.id, again.fruitlessRuns, again.updatedAt], [other.id, 2, moments[0]?.at]);
    });
  });

  it("passes over one that another worker is about to claim", async () => {
    const [one, other] = [await request(), await request()];
    await inTransaction(database.pool, async (first) => {
      assert.equal((await claim(first)).id, one.id);
      await inTransaction(database.pool, async (second) => {
        assert.equal((await claim(second)).id, other.id);
      });
    });
  });

  it("takes none that is over, whatever its lease says", async () => {
    for (const change of ["finished", "failed"]) {
      await request();
      await changes[change]?.(await claim());
    }
    assert.equal(await exports.claimExport(database.pool, randomUUID(), LEASE_MS), null);
  });

  it("counts runs without progress: a part begins the count anew, an interruption takes its run back", async () => {
    await request();
    const counts = [];
    for (const change of ["", "moved on by a part", "", "given back", ""]) {
      const run = await claim();
      counts.push(run.fruitlessRuns);
      await changes[change]?.(run);
      await age("61 s");
    }
    assert.deepEqual(counts, [1, 2, 2, 3, 3]);
  });
});
