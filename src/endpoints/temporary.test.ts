import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { makeLog } from "../telemetry/log.ts";
import { insertEndpoint } from "./endpoint-store.ts";
import { findAbandoned } from "./temporary-store.ts";
import { keepTemporary, removeAbandoned } from "./temporary.ts";
import type { EndpointKey } from "../shared/id.ts";

const tenantId = tenant("acme");
const MINUTE_MS = 60_000;

let database: TestDatabase;
let tenants: TenantPool;
let followed: unknown[];
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
});
beforeEach(async () => {
  followed = [];
  await database.pool.query("DELETE FROM postern.endpoints; DELETE FROM postern.audit_log");
});
after(async () => {
  await tenants.end();
  await database.drop();
});

/** A temporary endpoint whose hour ends in so many minutes. */
async function create(minutes: number, of = tenantId): Promise<EndpointKey> {
  const endpoint = { ...newEndpoint({ tenantId: of }), mode: "pull" as const, temporary: true };
  await insertEndpoint(database.pool, endpoint);
  await database.pool.query(
    "UPDATE postern.endpoints SET temporary_until = now() + $2 * interval '1 min' WHERE id = $1",
    [endpoint.id, minutes],
  );
  return { tenantId: of, endpointId: endpoint.id };
}

/** Of the only endpoint. */
async function minutesLeft(): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ left: number }>(
    "SELECT round(extract(epoch FROM temporary_until - now()) / 60)::int AS left FROM postern.endpoints",
  );
  return rows[0]?.left;
}

const remove = () =>
  removeAbandoned({
    db: database.pool,
    tenants,
    queue: {
      async endpointChanged(endpoint) {
        followed.push(endpoint);
      },
    },
    log: makeLog("silent"),
  });

async function isDeleted({ endpointId }: EndpointKey): Promise<unknown> {
  const { rows } = await database.pool.query(
    "SELECT deleted_at IS NOT NULL AS deleted FROM postern.endpoints WHERE id = $1",
    [endpointId],
  );
  return rows[0]?.deleted;
}

async function audited(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `SELECT tenant_id, actor_type, actor_sub, action, endpoint_id, outcome, details, request_id, address
      FROM postern.audit_log`,
  );
  return rows;
}

describe("a call for a temporary endpoint", () => {
  it("gives it another hour, once a minute", async (test) => {
    const endpoint = await create(5);
    const now = Date.now();
    test.mock.timers.enable({ apis: ["Date"], now });
    const callWith = (leftMs: number) =>
      keepTemporary(database.pool, { ...endpoint, temporaryUntil: new Date(now + leftMs) });
    await callWith(59 * MINUTE_MS + 1);
    assert.equal(await minutesLeft(), 5);
    await callWith(59 * MINUTE_MS);
    assert.equal(await minutesLeft(), 60);
  });

  it("changes nothing of one that stays", async () => {
    const endpoint = await create(5);
    await database.pool.query("UPDATE postern.endpoints SET temporary_until = NULL");
    await keepTemporary(database.pool, { ...endpoint, temporaryUntil: null });
    await keepTemporary(database.pool, { ...endpoint, temporaryUntil: new Date() });
    const { rows } = await database.pool.query("SELECT temporary_until FROM postern.endpoints");
    assert.deepEqual(rows, [{ temporary_until: null }]);
  });
});

describe("an abandoned endpoint", () => {
  it("is deleted with an entry in the audit log, and its dispatches follow", async () => {
    const [abandoned, called] = [await create(-1), await create(1)];
    await remove();
    assert.deepEqual([await isDeleted(abandoned), await isDeleted(called)], [true, false]);
    assert.deepEqual(followed, [abandoned]);
    const entry = {
      tenant_id: "acme",
      actor_type: "postern",
      actor_sub: null,
      action: "endpoint.deleted",
      endpoint_id: abandoned.endpointId,
      outcome: "done",
      details: { reason: "abandoned" },
      request_id: null,
      address: null,
    };
    assert.deepEqual(await audited(), [entry]);
    await remove();
    assert.equal((await audited()).length, 1);
    // Found again and again, a hundred deleted ones would hide those that are still to go.
    assert.deepEqual(await findAbandoned(database.pool), []);
  });

  it("stays while its client calls, and keeps none of another tenant waiting", async () => {
    const [called, abandoned] = [await create(-2), await create(-1)];
    const client = await database.pool.connect();
    try {
      await client.query("BEGIN");
      await keepTemporary(client, { ...called, temporaryUntil: new Date() });
      await remove();
      await client.query("COMMIT");
    } finally {
      client.release();
    }
    assert.deepEqual([await isDeleted(called), await isDeleted(abandoned)], [false, true]);
    assert.deepEqual([followed, (await audited()).length], [[abandoned], 1]);
  });

  it("does not wait for all of another tenant's, however long those are abandoned", async () => {
    await create(-9);
    // Of one tenant, and more than are found at once.
    await database.pool.query(
      `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, mode, temporary_until, created_at, updated_at)
        SELECT tenant_id, postern.uuid_v7(), url, events, secret, mode, temporary_until, created_at, updated_at
        FROM postern.endpoints, generate_series(1, 150)`,
    );
    const other = await create(-1, tenant("globex"));
    await remove();
    assert.equal(await isDeleted(other), true);
  });
});
