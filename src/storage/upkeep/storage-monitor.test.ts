import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import { addBucket, recordOwner } from "./owner-store.ts";
import { writeCursor } from "./reconcile-store.ts";
import { findStorageTroubles, makeStorageMonitor } from "./storage-monitor.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

it("what waits for an operator is told of one bucket, and its gauges follow it both ways", async () => {
  const { pool } = database;
  const metrics = makeMetrics();
  const monitor = makeStorageMonitor({ db: pool, bucketName: "artifacts", metrics });
  const gauges = async () =>
    ["storage_reconcile_halted", "storage_owner_trouble"].map(
      async (name) => (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value,
    );
  const looked = async () => [await monitor.look(), ...(await Promise.all(await gauges()))];
  assert.deepEqual(await looked(), [[], 0, 0]);

  const cursor = { runId: randomUUID(), afterKey: null, haltedReason: "it is too much" };
  for (const bucket of ["artifacts", "other"]) await addBucket(pool, bucket);
  await writeCursor(pool, "other", cursor);
  await recordOwner(pool, "other", { isMarked: false, trouble: "another's" });
  assert.deepEqual(await looked(), [[], 0, 0]);

  await writeCursor(pool, "artifacts", cursor);
  const halted =
    "comparing stored artifacts has stopped: it is too much; look at `postern storage reconcile --dry-run`; if it is right, run `postern storage reconcile --acknowledge` with the digest that it prints";
  assert.deepEqual(await looked(), [[halted], 1, 0]);
  await recordOwner(pool, "artifacts", { isMarked: false, trouble: "it is another's" });
  assert.deepEqual(await looked(), [["it is another's", halted], 1, 1]);
  const { haltedAt, ...troubles } = await findStorageTroubles(pool, "artifacts");
  assert.deepEqual(troubles, { haltedReason: "it is too much", ownerTrouble: "it is another's" });
  assert.ok(haltedAt instanceof Date);

  await writeCursor(pool, "artifacts", { ...cursor, haltedReason: null });
  assert.deepEqual(await looked(), [["it is another's"], 0, 1]);
  await recordOwner(pool, "artifacts", { isMarked: true, trouble: null });
  assert.deepEqual(await looked(), [[], 0, 0]);
});
