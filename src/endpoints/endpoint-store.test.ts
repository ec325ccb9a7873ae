import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/service.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { inTransaction } from "../database/transaction.ts";
import { beginFailing, insertEndpoint, lockTenantEndpoints, updateEndpoint } from "./endpoint-store.ts";

const [tenantId, other] = [tenant("acme"), tenant("globex")];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() => database.pool.query("DELETE FROM postern.endpoints"));
after(() => database.drop());

describe("a new endpoint", () => {
  it("is counted by the next one of its tenant, which waits for it; another tenant's does not", async () => {
    const { pool } = database;
    const first = await pool.connect();
    try {
      await first.query("BEGIN");
      assert.equal(await lockTenantEndpoints(first, tenantId), 0);
      await insertEndpoint(first, newEndpoint({ tenantId }));
      const second = inTransaction(pool, (transaction) => lockTenantEndpoints(transaction, tenantId));
      const pid = await pidOf(first);
      await eventually(async () => (await waitersFor(pool, pid)) === 1);
      assert.equal(await inTransaction(pool, (transaction) => lockTenantEndpoints(transaction, other)), 0);
      await first.query("COMMIT");
      assert.equal(await second, 1);
    } finally {
      first.release();
    }
  });
});

describe("since when an endpoint fails", () => {
  it("is its first failure, until it is enabled: no later failure or change moves it", async () => {
    const { pool } = database;
    const { id } = await insertEndpoint(pool, newEndpoint({ tenantId }));
    const minutes = async (): Promise<unknown> => {
      const { rows } = await pool.query(
        "SELECT round(extract(epoch FROM now() - failing_since) / 60)::int AS ago FROM postern.endpoints",
      );
      return rows[0]?.ago;
    };
    await beginFailing(pool, { tenantId, endpointId: id });
    assert.equal(await minutes(), 0);
    await pool.query("UPDATE postern.endpoints SET failing_since = now() - interval '9 min'");
    await beginFailing(pool, { tenantId, endpointId: id });
    for (const change of [{ enabled: false }, { description: "x" }]) {
      await updateEndpoint(pool, tenantId, id, change);
      assert.equal(await minutes(), 9);
    }
    await updateEndpoint(pool, tenantId, id, { enabled: true });
    assert.equal(await minutes(), null);
  });
});
