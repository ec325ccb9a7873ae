import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { storageTenantId } from "../rows/storage-ids.ts";
import { countErasable, eachObject } from "./erase.ts";

const ACME = tenant("acme");
const ALL = { tenantId: ACME, objectId: null };

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.stored_objects"));

/** Bodies of the first attempts of as many deliveries, each available. */
function store(count: number, name = "acme"): Promise<unknown> {
  return database.pool.query(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
      SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 1, 'request_body', 'bucket', $1 || place, 1, repeat('a', 64),
        'application/json', 'v', 'v', 'available', now(), now(), now() + interval '1 day'
      FROM generate_series(1, $3::int) AS place`,
    [tenant(name), storageTenantId(tenant(name)), count],
  );
}

describe("erasing on request", () => {
  it("takes each artifact of the tenant once, also beyond a page", async () => {
    await Promise.all([store(1001), store(1, "globex")]);
    const ids = (await Array.fromAsync(eachObject(database.pool, ALL))).map(({ id }) => id);
    assert.deepEqual([ids.length, new Set(ids).size], [1001, 1001]);
    assert.equal(await countErasable(database.pool, ALL), 1001);
    const [one = ""] = ids;
    assert.equal(await countErasable(database.pool, { tenantId: ACME, objectId: one }), 1);
  });

  it("leaves what is held and what is not whole yet", async () => {
    await store(4);
    await database.pool.query("UPDATE postern.stored_objects SET hold = true WHERE key = 'acme1'");
    await database.pool.query(
      "UPDATE postern.stored_objects SET state = 'pending', available_at = NULL WHERE key = 'acme2'",
    );
    assert.equal(await countErasable(database.pool, ALL), 2);
  });
});
