import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { TenantPool } from "../database/tenant-pool.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { LogTail } from "./tail.ts";

const tenantId = tenant("acme");
const sink = { hasRoom: () => true, send: () => undefined, skip: () => undefined };

let database: TestDatabase;
let tenants: TenantPool;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

it("a watcher that could not begin, or has ended, leaves its place and its count to others", async () => {
  const metrics = makeMetrics();
  const tail = new LogTail({ tenants, databaseUrl: database.url, log: makeLog("silent"), metrics });
  const watch = () => tail.watch(tenantId, { endpointId: null, status: null }, sink);
  const count = async () => (await metrics.logWatchers.get()).values.map(({ value }) => value);
  try {
    await database.pool.query("ALTER TABLE postern.log_watches RENAME TO away");
    for (let failed = 0; failed < 10; failed++) await assert.rejects(watch(), /log_watches/);
    await database.pool.query("ALTER TABLE postern.away RENAME TO log_watches");
    assert.deepEqual(await count(), [0]);
    const ends = [];
    for (let place = 0; place < 10; place++) ends.push(await watch());
    await assert.rejects(watch(), (error) => error instanceof Refusal && error.code === "too_many_requests");
    assert.deepEqual(await count(), [10]);
    for (const end of ends) end();
    assert.deepEqual(await count(), [0]);
  } finally {
    await tail.close();
  }
});
