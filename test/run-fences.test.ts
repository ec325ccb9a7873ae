/** Two workers at one replay, and at one erasure of a tenant: whoever lost its lease changes nothing. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Db } from "../src/database/pool.ts";
import { inTransaction } from "../src/database/transaction.ts";
import * as replays from "../src/replays/replay-store.ts";
import * as tenants from "../src/tenants/tenant-store.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";

const LEASE_MS = 60_000;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => sql("TRUNCATE postern.replays, postern.tenant_erasures"));

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

type Kind<Run> = {
  table: string;
  /** A running one of the tenant $1; it may be claimed since $2 ago. */
  insert: string;
  claim: (db: Db, leaseOwner: string, leaseMs: number) => Promise<Run | null>;
  lock: (db: Db, run: Run) => Promise<unknown>;
  changes: Record<string, (db: Db, run: Run) => Promise<unknown>>;
  end: (db: Db, run: Run) => Promise<unknown>;
  /** The first one with a part of the other's key: there is none such. */
  mix: (run: Run, other: Run) => Run[];
};

const REPLAY: Kind<replays.Run> = {
  table: "replays",
  insert: `INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, counted, is_capped,
      after_event_id, counted_to, lease_until)
    SELECT $1, gen_random_uuid(), gen_random_uuid(), now() - interval '1 h', now(), 'all', 0, false,
      gen_random_uuid(), gen_random_uuid(), now() - $2::interval`,
  claim: replays.claimReplay,
  lock: replays.lockRun,
  changes: {
    "given back": (db, run) => replays.releaseReplay(db, run, 0),
    finished: (db, run) => replays.finishReplay(db, run, null),
    failed: (db, run) => replays.finishReplay(db, run, "no"),
  },
  end: (db, { tenantId, id }) => replays.cancelReplay(db, tenantId, id),
  mix: (run, { tenantId, id }) => [
    { ...run, tenantId },
    { ...run, id },
  ],
};

const ERASURE: Kind<tenants.ErasureRun> = {
  table: "tenant_erasures",
  insert: `INSERT INTO postern.tenant_erasures (tenant_id, lease_until) SELECT $1, now() - $2::interval`,
  claim: tenants.claimErasure,
  lock: async (db, run) => (await tenants.lockErasure(db, run)) || null,
  changes: {
    "given back": (db, run) => tenants.releaseErasure(db, run, { delayMs: 0, objects: 1, trouble: "no" }),
  },
  end: (db, run) => tenants.finishErasure(db, run, { rows: 0, objects: 0 }),
  mix: () => [],
};

function describeFences<Run extends { tenantId: string }>(name: string, kind: Kind<Run>): void {
  const { table, insert, claim, lock, changes, end, mix } = kind;
  const rows = async () =>
    (await sql(`SELECT to_jsonb(r) AS row FROM postern.${table} r ORDER BY tenant_id`)).rows;
  const take = async (db: Db = database.pool, owner: string = randomUUID()): Promise<Run> => {
    const run = await claim(db, owner, LEASE_MS);
    assert.ok(run !== null);
    return run;
  };
  const age = (lease: string, db: Db = database.pool) =>
    db.query(`UPDATE postern.${table} SET lease_until = lease_until - $1::interval`, [lease]);

  describe(name, () => {
    for (const [what, change] of Object.entries(changes)) {
      it(`that passed to another worker is not ${what} by the first one, but by the second`, async () => {
        await sql(insert, ["acme", "1 s"]);
        const first = await take();
        await age("61 s");
        const second = await take();
        const before = await rows();
        await change(database.pool, first);
        assert.deepEqual(await rows(), before);
        await change(database.pool, second);
        assert.notDeepEqual(await rows(), before);
      });
    }

    it("is changed under its own tenant and id alone", async () => {
      for (const [what, change] of Object.entries({ ...changes, end })) {
        await sql(`DELETE FROM postern.${table}`);
        for (const name of ["acme", "globex"]) await sql(insert, [name, "1 s"]);
        const owner = randomUUID();
        const [run, other] = [await take(database.pool, owner), await take(database.pool, owner)];
        const before = await rows();
        for (const mixed of mix(run, other)) {
          await change(database.pool, mixed);
          assert.equal(await lock(database.pool, mixed), null);
        }
        assert.deepEqual(await rows(), before, what);
        assert.notEqual(await lock(database.pool, run), null);
        await change(database.pool, run);
        const isOthers = ({ row }: { row: { tenant_id: string } }) => row.tenant_id === other.tenantId;
        assert.deepEqual((await rows()).filter(isOthers), before.filter(isOthers), what);
      }
    });

    it("is locked by the worker that has it, as long as it runs", async () => {
      await sql(insert, ["acme", "1 s"]);
      const first = await take();
      assert.notEqual(await lock(database.pool, first), null);
      await age("61 s");
      const second = await take();
      assert.equal(await lock(database.pool, first), null);
      assert.notEqual(await lock(database.pool, second), null);
      const unlocked = () => sql(`SELECT FROM postern.${table} FOR UPDATE SKIP LOCKED`);
      await inTransaction(database.pool, async (db) => {
        await lock(db, second);
        assert.equal((await unlocked()).rowCount, 0);
      });
      await end(database.pool, second);
      assert.equal(await lock(database.pool, second), null);
      await age("61 s");
      assert.equal(await claim(database.pool, randomUUID(), LEASE_MS), null);
    });

    it("is passed over while another worker is about to claim it", async () => {
      for (const [name, since] of [
        ["short", "1 s"],
        ["long", "2 s"],
      ])
        await sql(insert, [name, since]);
      await inTransaction(database.pool, async (first) => {
        assert.equal((await take(first)).tenantId, "long");
        await inTransaction(database.pool, async (second) => {
          assert.equal((await take(second)).tenantId, "short");
        });
      });
    });

    it("is claimed when nobody has it, the one that waits longest first", async () => {
      await sql(insert, ["short", "1 s"]);
      await sql(insert, ["long", "2 s"]);
      // In one transaction it is the same moment for all.
      await inTransaction(database.pool, async (db) => {
        assert.deepEqual([(await take(db)).tenantId, (await take(db)).tenantId], ["long", "short"]);
        await age("59.999 s", db);
        assert.equal(await claim(db, randomUUID(), LEASE_MS), null);
        await age("2 ms", db);
        await take(db);
      });
    });
  });
}

describeFences("a replay", REPLAY);
describeFences("an erasure", ERASURE);
