/** Work across tenants leaves the rows of a tenant that is being moved alone: both shards have them. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { openRolePools, type RolePools } from "../src/database/role-pools.ts";
import { endInterruptedSends } from "../src/deliveries/person-send-store.ts";
import { forgetOldStats } from "../src/deliveries/stats-store.ts";
import { forgetDeletedEndpoints } from "../src/endpoints/endpoint-store.ts";
import { takeExhausting, takeFailing } from "../src/endpoints/notice-store.ts";
import { listSealedOtherwise, replaceSealed } from "../src/endpoints/reseal-store.ts";
import { findAbandoned } from "../src/endpoints/temporary-store.ts";
import { endUnfetched, findEndedLeases } from "../src/queue/postgres/fetch-store.ts";
import { forgetHeaderSets } from "../src/queue/postgres/retention-store.ts";
import { findUnsettled } from "../src/queue/postgres/unsettled-store.ts";
import type { TenantId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { seedTwoTenants, snapshot, type Rows } from "./support/two-tenants.ts";

let database: TestDatabase;
let pools: RolePools;
let moving: Rows;
let staying: Rows;

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
beforeEach(async () => {
  const { acme, globex } = await seedTwoTenants(database.pool);
  moving = acme;
  staying = globex;
  await sql("UPDATE postern.shard_tenants SET moving = true, fenced = true WHERE tenant_id = $1", [
    moving.tenantId,
  ]);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);
const tenantsOf = (found: readonly { tenantId: TenantId }[]) => [
  ...new Set(found.map((one) => one.tenantId)),
];

/** What makes both tenants' rows due, and who then finds or changes them. */
type Due<T> = { name: string; due: string; work: () => Promise<T> };

const found: Due<readonly { tenantId: TenantId }[]>[] = [
  {
    name: "whose dispatches are to follow it",
    due: "UPDATE postern.endpoints SET unsettled = true",
    work: () => findUnsettled(pools.worker),
  },
  {
    name: "whose client's lease has ended",
    due: "UPDATE postern.dispatches SET lease_owner = gen_random_uuid() WHERE held",
    work: async () => (await findEndedLeases(pools.worker)).leases,
  },
  {
    name: "whose client is gone",
    due: "UPDATE postern.endpoints SET mode = 'pull', temporary_until = now() - interval '1 minute'",
    work: () => findAbandoned(pools.worker),
  },
  {
    name: "that fails",
    due: "UPDATE postern.endpoints SET failing_since = now() - interval '2 hours'",
    work: () => takeFailing(pools.worker, { afterMs: [1, 2], without: [], limit: 10 }),
  },
  {
    name: "with events that were given up",
    due: "UPDATE postern.endpoints SET exhausted_told_at = NULL",
    work: () => takeExhausting(pools.worker, { pauseMs: 1, limit: 10 }),
  },
];

const changed: Due<unknown>[] = [
  {
    name: "ends a test or retry that was interrupted",
    due: "UPDATE postern.person_sends SET id = postern.lowest_id_at(now() - interval '1 minute')",
    work: () => endInterruptedSends(pools.worker),
  },
  {
    name: "ends what nobody fetched",
    due: `WITH pull AS (UPDATE postern.endpoints SET mode = 'pull')
      UPDATE postern.dispatches SET claimable_at = now() - interval '4 days' WHERE held`,
    work: () => endUnfetched(pools.worker, 3),
  },
  {
    name: "forgets the newest attempt of long ago",
    due: `INSERT INTO postern.newest_attempts (tenant_id, endpoint_id, has_failed, id)
      SELECT tenant_id, id, true, postern.lowest_id_at(now() - interval '9 days') FROM postern.endpoints`,
    work: () => forgetOldStats(pools.worker, 3),
  },
  {
    name: "forgets a deleted endpoint",
    due: `WITH log AS (DELETE FROM postern.deliveries), pending AS (DELETE FROM postern.dispatches),
        sends AS (DELETE FROM postern.person_sends)
      UPDATE postern.endpoints SET deleted_at = now() - interval '9 days', unsettled = false`,
    work: () => forgetDeletedEndpoints(pools.worker, 3),
  },
  {
    name: "forgets a set of headers",
    due: "UPDATE postern.header_sets SET used_on = current_date - 9",
    work: () => forgetHeaderSets(pools.worker, 3),
  },
  {
    name: "seals secrets with another key",
    due: "UPDATE postern.endpoints SET deleted_at = NULL",
    work: async () => {
      const old = await listSealedOtherwise(database.pool, "ffffffff", { after: null, limit: 10 });
      assert.equal(old.length, 2);
      const secret = Buffer.from("new");
      const again = old.map((one) => ({ old: one, secret, previousSecret: null, sealedHeaders: null }));
      // The other is left for the next run.
      assert.equal(await replaceSealed(database.pool, again), 1);
    },
  },
];

async function dropDay(): Promise<string | undefined> {
  const { rows } = await pools.worker.query<{ partition: string }>(
    "SELECT partition FROM postern.drop_past_partitions(90)",
  );
  return rows[0]?.partition;
}

describe("a tenant that is being moved", () => {
  for (const { name, due, work } of found) {
    it(`has no endpoint ${name}`, async () => {
      await sql(due);
      const before = await snapshot(database.pool, moving.tenantId);
      assert.deepEqual(tenantsOf(await work()), [staying.tenantId]);
      assert.equal(await snapshot(database.pool, moving.tenantId), before);
      // Before the fence its shard goes on as ever.
      await sql("UPDATE postern.shard_tenants SET fenced = false");
      await sql(due);
      assert.ok(tenantsOf(await work()).includes(moving.tenantId));
    });
  }

  for (const { name, due, work } of changed) {
    it(`keeps its rows where a worker ${name}`, async () => {
      await sql(due);
      const before = await snapshot(database.pool, moving.tenantId);
      const other = await snapshot(database.pool, staying.tenantId);
      await work();
      assert.equal(await snapshot(database.pool, moving.tenantId), before);
      assert.ok((await snapshot(database.pool, staying.tenantId)) !== other, "the other's are due");
    });
  }

  it("keeps the events of long ago, since its dispatches come last", async () => {
    await sql("SELECT postern.ensure_partitions(current_date - 100, current_date - 100)");
    assert.match(String(await dropDay()), /^deliveries_/);
    assert.equal(await dropDay(), undefined);
    await sql("UPDATE postern.shard_tenants SET moving = false, fenced = false");
    assert.match(String(await dropDay()), /^events_/);
  });
});
