import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Pool } from "../database/pool.ts";
import { newEventId } from "../shared/id.ts";
import { storageTenantId } from "../storage/rows/storage-ids.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import {
  makeErasureWorker,
  type EraseElsewhere,
  type EraseObjects,
  type ErasureServices,
} from "./erasure-worker.ts";
import { findErasure, insertErasure } from "./tenant-store.ts";

const tenantId = tenant("acme");
/** Levels of the log. */
const [INFO, WARN] = [30, 40];

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query(
    `DELETE FROM postern.tenant_erasures; DELETE FROM postern.handovers; DELETE FROM postern.stored_objects;
      DELETE FROM postern.idempotency_keys`,
  );
  await insertErasure(database.pool, tenantId);
});
after(() => database.drop());

/** What is told of the erasure once a worker has come so far. */
async function workUntil(
  isThere: (erasure: NonNullable<Awaited<ReturnType<typeof findErasure>>>) => boolean,
  parts: Partial<ErasureServices> = {},
) {
  const { pool: db } = database;
  const worker = makeErasureWorker({
    db,
    eraseObjects: async () => ({ erased: 0, trouble: null }),
    eraseElsewhere: null,
    log: makeLog("silent"),
    metrics: makeMetrics(),
    ...parts,
  });
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

/** How many of the tenant's rows are left. */
async function keysLeft(): Promise<number> {
  const { rows } = await database.pool.query("SELECT count(*)::int AS left FROM postern.idempotency_keys");
  return rows[0]?.left;
}

async function addKeys(count: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.idempotency_keys
      SELECT $1, postern.uuid_v7()::text, postern.uuid_v7(), '' FROM generate_series(1, $2)`,
    [tenantId, count],
  );
}

/** Artifacts that were begun so many seconds ago. */
async function store(buckets: readonly string[], state: "available" | "pending", ageS = 0): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
      SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 1, 'request_body', bucket, 'key ' || place, 1, repeat('a', 64),
        'application/json', CASE WHEN $4 THEN 'v' END, CASE WHEN $4 THEN 'v' END, CASE WHEN $4 THEN 'available' ELSE 'pending' END,
        now() - $5 * interval '1 s', CASE WHEN $4 THEN now() END, now() + interval '1 day'
      FROM unnest($3::text[]) WITH ORDINALITY AS given (bucket, place)`,
    [tenantId, storageTenantId(tenantId), buckets, state === "available", ageS],
  );
}

/** For how long others leave it alone, roughly. */
async function isPutOff(): Promise<"half a second" | "some seconds"> {
  const { rows } = await database.pool.query(
    "SELECT lease_owner, lease_until > now() + interval '3 s' AS is_long FROM postern.tenant_erasures",
  );
  assert.equal(rows[0]?.lease_owner, null);
  return rows[0]?.is_long === true ? "some seconds" : "half a second";
}

const isTold = ({ trouble }: { trouble: string | null }) => trouble !== null;
const hasEnded = ({ status }: { status: string }) => status === "finished";

const notYet: EraseObjects = () => assert.fail("not yet");
const eraseSome: EraseObjects = async () => ({ erased: 3, trouble: "the store is away" });

describe("the erasure of a tenant", () => {
  it("leaves no note of a body whose attempt was logged while it looked for the last rows", async () => {
    const { pool } = database;
    const [recording, between] = [await pool.connect(), await pool.connect()];
    // Behind the notes and before the log, so that the last look for rows waits in between.
    const addSession = `INSERT INTO postern.portal_sessions (tenant_id, id, sub, role, read_only, code_hash, minutes, until)
      VALUES ('acme', gen_random_uuid(), 'jo', 'owner', true, '', 1, now())`;
    try {
      await recording.query(
        `BEGIN; INSERT INTO postern.bodies_to_keep (tenant_id, endpoint_id, delivery_id, attempt, kind)
          VALUES ('acme', postern.uuid_v7(), postern.uuid_v7(), 1, 'request_body')`,
      );
      await recording.query(
        `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt, request_headers, latency_ms)
          SELECT 'acme', endpoint_id, delivery_id, postern.uuid_v7(), 'a', 'event', 'failed', 1, '{}', 1 FROM postern.bodies_to_keep`,
      );
      let isLast = false;
      const ended = workUntil(hasEnded, {
        async eraseObjects() {
          if (!isLast) {
            await pool.query(addSession);
            await between.query("BEGIN; SELECT FROM postern.portal_sessions FOR UPDATE");
          }
          isLast = true;
          return { erased: 0, trouble: null };
        },
      });
      const pid = await pidOf(between);
      await eventually(async () => isLast && (await waitersFor(pool, pid)) === 1);
      await recording.query("COMMIT");
      await between.query("ROLLBACK");
      await ended;
    } finally {
      for (const session of [recording, between]) session.release(true);
    }
    const { rows } = await pool.query("SELECT name FROM postern.count_tenant_rows('acme', 10)");
    assert.deepEqual(rows, []);
  });

  it("counts the objects that are gone although others cannot be, and says why", async () => {
    const { status, objects, trouble } = await workUntil((erasure) => erasure.trouble !== null, {
      eraseObjects: eraseSome,
    });
    assert.deepEqual([status, objects, trouble], ["running", 3, "the store is away"]);
    assert.equal(await isPutOff(), "some seconds");
  });

  it("takes objects of each bucket, 500 at a time, until none is left, and then says of no trouble", async () => {
    await store(["eu", "us", "eu"], "available");
    const asked: Parameters<EraseObjects>[] = [];
    const left = [500, 2, 0];
    const eraseObjects: EraseObjects = async (...what) => {
      asked.push(what);
      return { erased: left.shift() ?? 0, trouble: null };
    };
    const metrics = makeMetrics();
    const { log, lines } = makeKeptLog();
    const { objects, trouble, finishedAt } = await workUntil(hasEnded, { eraseObjects, metrics, log });
    assert.deepEqual(lines, [{ level: INFO, tenantId }]);
    assert.deepEqual([objects, trouble, finishedAt instanceof Date], [502, null, true]);
    assert.deepEqual(
      asked.map(([id, most, buckets]) => [id, most, buckets.toSorted()]),
      left.concat(1, 2, 3).map(() => [tenantId, 500, ["eu", "us"]]),
    );
    const { rowCount } = await database.pool.query("SELECT FROM postern.stored_objects");
    assert.equal(rowCount, 0);
    assert.deepEqual((await metrics.upkeepFailures.get()).values, []);
  });

  it("takes all rows, however many come in while it is at the objects", async () => {
    await addKeys(5001);
    let looks = 0;
    const eraseObjects: EraseObjects = async () => {
      looks++;
      if (looks === 1) {
        assert.equal(await keysLeft(), 0);
        await addKeys(5001);
      }
      return { erased: 0, trouble: null };
    };
    const { rows } = await workUntil(hasEnded, { eraseObjects });
    assert.deepEqual([rows, await keysLeft(), looks], [10_002, 0, 2]);
  });

  it("waits for an upload that is under way, and not for one that is dead", async () => {
    await store(["eu"], "pending", 110);
    const { status, trouble } = await workUntil(isTold);
    assert.deepEqual([status, trouble], ["running", "an upload of an artifact is under way"]);
    assert.equal(await isPutOff(), "half a second");
    await database.pool.query(
      `UPDATE postern.stored_objects SET state_since = now() - interval '130 s';
        UPDATE postern.tenant_erasures SET lease_until = now() - interval '1 s'`,
    );
    assert.equal((await workUntil(hasEnded)).trouble, null);
  });

  it("waits for other databases, longer for one that is away, and asks no store meanwhile", async () => {
    for (const [isAway, wait] of [
      [false, "half a second"],
      [true, "some seconds"],
    ] as const) {
      await database.pool.query(
        "UPDATE postern.tenant_erasures SET trouble = NULL, lease_until = now() - interval '1 s'",
      );
      const eraseElsewhere: EraseElsewhere = async () => ({
        rows: 4,
        objects: 1,
        trouble: "shard eu2 waits",
        isAway,
      });
      const { status, trouble, rows } = await workUntil(isTold, { eraseElsewhere, eraseObjects: notYet });
      assert.deepEqual([status, trouble, rows, await isPutOff()], ["running", "shard eu2 waits", 0, wait]);
    }
  });

  it("is left to the worker that has it by now", async () => {
    const other = randomUUID();
    const isTaken = Promise.withResolvers<void>();
    const eraseObjects: EraseObjects = async () => {
      await database.pool.query(
        "UPDATE postern.tenant_erasures SET lease_owner = $1, lease_until = now() + interval '1 h', trouble = 'of the other'",
        [other],
      );
      await addKeys(1);
      isTaken.resolve();
      return { erased: 0, trouble: null };
    };
    const found = await workUntil((erasure) => erasure.trouble === "of the other", { eraseObjects });
    await isTaken.promise;
    const { rows } = await database.pool.query("SELECT status, lease_owner FROM postern.tenant_erasures");
    assert.deepEqual(
      [found.status, rows, await keysLeft()],
      ["running", [{ status: "running", lease_owner: other }], 1],
    );
  });

  it("takes nothing that came after another worker had ended it", async () => {
    const { pool } = database;
    let begun = 0;
    // Each transaction of this worker begins behind the end of another's.
    const connect = async () => {
      begun++;
      await pool.query(
        "UPDATE postern.tenant_erasures SET status = 'finished', lease_owner = NULL, finished_at = now()",
      );
      if (begun === 1) await addKeys(1);
      return pool.connect();
    };
    const db: Pool = Object.create(pool, {
      connect: { value: connect },
      query: { value: pool.query.bind(pool) },
    });
    await workUntil(() => begun > 0, { db });
    assert.deepEqual([await keysLeft(), (await findErasure(pool, tenantId))?.status], [1, "finished"]);
  });

  it("is counted and told where it fails, and goes on once its lease has ended", async () => {
    const fault = new Error("no");
    const { log, lines } = makeKeptLog();
    const metrics = makeMetrics();
    const worker = makeErasureWorker({
      db: database.pool,
      eraseObjects: () => Promise.reject(fault),
      eraseElsewhere: null,
      log,
      metrics,
    });
    worker.start();
    const failures = async () => (await metrics.upkeepFailures.get()).values;
    await eventually(async () => (await failures()).length > 0);
    await worker.stop();
    assert.deepEqual(lines, [{ level: WARN, err: "no", times: 1, work: "erase_tenants" }]);
    assert.deepEqual(
      (await failures()).map(({ labels, value }) => [labels, value]),
      [[{ work: "erase_tenants" }, 1]],
    );
    const { rows } = await database.pool.query(
      `UPDATE postern.tenant_erasures SET lease_until = now() - interval '1 s'
        RETURNING (SELECT lease_until FROM postern.tenant_erasures) BETWEEN now() + interval '15 s' AND now() + interval '31 s' AS is_leased`,
    );
    assert.deepEqual(rows, [{ is_leased: true }]);
    await workUntil(hasEnded);
  });

  it("does not end while a worker hands over an event that came in between, and counts other databases' rows and objects", async () => {
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
      return { rows: 5, objects: 2, trouble: null, isAway: false };
    };
    const held = await workUntil((erasure) => erasure.trouble !== null || erasure.status === "finished", {
      eraseElsewhere,
    });
    assert.deepEqual([held.status, held.trouble], ["running", "an event is being handed over"]);
    await database.pool.query(
      "DELETE FROM postern.handovers; UPDATE postern.tenant_erasures SET lease_until = now()",
    );
    const ended = await workUntil((erasure) => erasure.status === "finished", { eraseElsewhere });
    assert.deepEqual([ended.rows, ended.objects, ended.trouble], [5, 2, null]);
  });
});
