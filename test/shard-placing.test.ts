/** Which tenants stay in a database that becomes the first shard. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { placeTenants, readHomes } from "../src/shards/directory-store.ts";
import { newEventId } from "../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { BODY, EVENT_TYPE, tenant } from "./support/two-tenants.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

async function placedWith(name: string, sql: string): Promise<string | undefined> {
  const tenantId = tenant(name);
  await database.pool.query(sql, [newEventId(), tenantId, EVENT_TYPE, BODY]);
  await placeTenants(database.pool, "eu1", [{ tenantId, shard: "eu2" }]);
  return (await readHomes(database.pool, [tenantId])).get(tenantId)?.shard;
}

describe("a tenant without a home", () => {
  it("stays where it has an event, for which it had no endpoint", async () => {
    const sql =
      "INSERT INTO postern.events (id, tenant_id, type, body, dispatch_count) VALUES ($1, $2, $3, $4, 0)";
    assert.equal(await placedWith("kept", sql), "eu1");
  });

  it("goes elsewhere when its events only pass through", async () => {
    const outbox = "INSERT INTO postern.outbox (id, tenant_id, type, body) VALUES ($1, $2, $3, $4)";
    assert.equal(await placedWith("published", outbox), "eu2");
    const handover =
      "INSERT INTO postern.handovers (id, tenant_id, type, version, body) VALUES ($1, $2, $3, 1, $4)";
    assert.equal(await placedWith("handed-over", handover), "eu2");
  });
});
