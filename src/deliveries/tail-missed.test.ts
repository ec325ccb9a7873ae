/** What a watcher of the log misses: how it is told and counted, and what is named before it. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { logged } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { watchedRows, watchLog } from "../../test/support/watched-log.ts";
import { newEndpointId, newEventId, type TenantId } from "../shared/id.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { insertDelivery } from "./delivery-store.ts";
import { LogTail } from "./tail.ts";

const tenantId = tenant("acme");
const ALL = { endpointId: null, status: null };

let database: TestDatabase;
let tenants: SteeredTenants;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 2));
});
after(async () => {
  await tenants.end();
  await database.drop();
});

async function add(to: TenantId): Promise<void> {
  const row = logged({ tenantId: to, endpointId: newEndpointId(), eventId: newEventId() });
  await insertDelivery(database.pool, { ...row, requestBody: "{}" });
}

describe("a watcher of the log", () => {
  let tail: LogTail;
  let metrics: Metrics;
  let kept: ReturnType<typeof makeKeptLog>;

  beforeEach((test) => {
    [metrics, kept] = [makeMetrics(), makeKeptLog()];
    tenants.reset();
    tail = new LogTail({ tenants, databaseUrl: database.url, log: kept.log, metrics });
    assert.ok("after" in test);
    test.after(() => tail.close());
  });

  it("is told that it missed nobody knows what while nothing was listened to, which counts as none", async () => {
    const { told } = await watchLog(tail, tenantId, ALL);
    await database.pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %postern_log%' AND datname = current_database()",
    );
    await eventually(async () => told.skipped.length === 1);
    assert.deepEqual([told.skipped, await watchedRows(metrics)], [[null], { sent: 0, skipped: 0 }]);
  });

  it("hears of what failed first, where the notification has no room for all", async () => {
    const { told } = await watchLog(tail, tenantId, { ...ALL, status: "failed" });
    await database.pool.query(
      `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, latency_ms)
        SELECT $1, $2, postern.lowest_id_at(now() + n * interval '1 ms'), gen_random_uuid(), 'a.b', 'event',
          CASE n WHEN 100 THEN 'failed' ELSE 'delivered' END, 1, '{}', 1
        FROM generate_series(1, 100) AS n`,
      [tenantId, newEndpointId()],
    );
    await eventually(async () => told.sent.length + told.skipped.length > 0);
    assert.equal(told.sent.length, 1);
  });

  it("is told how many came while its tenant moved to another database, without a word in the log", async () => {
    const { told } = await watchLog(tail, tenantId, ALL);
    tenants.before = ({ name }) =>
      name === "read-delivery-heads"
        ? Promise.reject(Object.assign(new Error("moved"), { code: "PS001" }))
        : undefined;
    await add(tenantId);
    await eventually(async () => told.skipped.length === 1);
    assert.deepEqual([told.sent, told.skipped, kept.lines], [[], [1], []]);
  });

  it("waits for no other tenant, whose reads take their turns", async () => {
    const reading = Promise.withResolvers<void>();
    const busy = tenant("busy");
    tenants.before = ({ name, tenantId: reader }) =>
      name === "read-delivery-heads" && reader === busy ? reading.promise : undefined;
    const [{ told: toldBusy }, { told }] = [
      await watchLog(tail, busy, ALL),
      await watchLog(tail, tenantId, ALL),
    ];
    await add(busy);
    await eventually(async () => tenants.names().includes("read-delivery-heads"));
    await add(tenantId);
    await eventually(async () => told.sent.length === 1);
    await add(busy);
    await add(tenantId);
    await eventually(async () => told.sent.length === 2);
    // What comes meanwhile is read behind it.
    assert.equal(tenants.statements.filter((one) => one.tenantId === busy && one.name !== "").length, 1);
    assert.deepEqual(toldBusy.sent, []);
    reading.resolve();
    await eventually(async () => toldBusy.sent.length === 2);
    assert.deepEqual([toldBusy.skipped, told.skipped, kept.lines], [[], [], []]);
  });
});
