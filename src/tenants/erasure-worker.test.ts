import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/service.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newEventId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeErasureWorker, type EraseElsewhere, type EraseObjects } from "./erasure-worker.ts";
import { findErasure, insertErasure } from "./tenant-store.ts";

const tenantId = tenant("acme");

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("DELETE FROM postern.tenant_erasures; DELETE FROM postern.handovers");
  await insertErasure(database.pool, tenantId);
});
after(() => database.drop());

/** What is told of the erasure once a worker has come so far. */
async function workUntil(
  isThere: (erasure: NonNullable<Awaited<ReturnType<typeof findErasure>>>) => boolean,
  {
    eraseObjects = async () => ({ erased: 0, trouble: null }),
    eraseElsewhere = null,
  }: {
    eraseObjects?: EraseObjects;
    eraseElsewhere?: EraseElsewhere | null;
  },
) {
  const { pool: db } = database;
  const log = makeLog("silent");
  const worker = makeErasureWorker({ db, eraseObjects, eraseElsewhere, log, metrics: makeMetrics() });
  worker.start();
  try {
    return await eventually(async () => {
      const erasure = await findErasure(db, tenantId);
      return erasure !== null && isThere(erasure) && erasure;
    });
  } finally {
    await worker.stop();
  }
}

const eraseSome: EraseObjects = async () => ({ erased: 3, trouble: "the store is away" });

describe("the erasure of a tenant", () => {
  it("counts the objects that are gone although others cannot be, and says why", async () => {
    const { status, objects, trouble } = await workUntil((erasure) => erasure.trouble !== null, {
      eraseObjects: eraseSome,
    });
    assert.deepEqual([status, objects, trouble], ["running", 3, "the store is away"]);
  });

  it("does not end while a worker hands over an event that came in between, and counts other databases' rows", async () => {
    let looks = 0;
    const eraseElsewhere: EraseElsewhere = async () => {
      looks++;
      if (looks === 1) {
        await database.pool.query(
          `INSERT INTO postern.handovers (id, tenant_id, type, version, body, lease_until)
            VALUES ($1, $2, 'a.b', 1, '{}', now() + interval '1 hour')`,
          [newEventId(), tenantId],
        );
      }
      return { rows: 5, trouble: null, isAway: false };
    };
    const held = await workUntil((erasure) => erasure.trouble !== null || erasure.status === "finished", {
      eraseElsewhere,
    });
    assert.deepEqual([held.status, held.trouble], ["running", "an event is being handed over"]);
    await database.pool.query(
      "DELETE FROM postern.handovers; UPDATE postern.tenant_erasures SET lease_until = now()",
    );
    const ended = await workUntil((erasure) => erasure.status === "finished", { eraseElsewhere });
    assert.deepEqual([ended.rows, ended.trouble], [5, null]);
  });
});
