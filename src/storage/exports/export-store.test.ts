/** What is kept of exports, and read back; who may change it is in test/export-fences.test.ts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { insertRow } from "../../../test/support/stored-row.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
import { newDeliveryId, newEndpointId, newExportId } from "../../shared/id.ts";
import * as exports from "./export-store.ts";
import type { LeasedExport, LogExport, StagedPart } from "./log-export.ts";

const ACME = tenant("acme");
const LEASE_MS = 60_000;
const FROM = new Date("2026-03-01T00:00:00.000Z");
const TO = new Date("2026-03-02T00:00:00.000Z");

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => database.pool.query("TRUNCATE postern.storage_exports, postern.stored_objects"));

const NARROWED = { endpointId: null, eventType: "invoice.*", deliveryStatus: "failed" as const };

async function insert(name = "acme") {
  const request = {
    tenantId: tenant(name),
    id: newExportId(),
    requestedBy: "ada",
    from: FROM,
    to: TO,
    formats: ["csv", "parquet"] as const,
    ...NARROWED,
  };
  assert.ok(await exports.insertExport(database.pool, request));
  return request;
}

/** As its tenant sees it, without the times of the database's clock. */
function shown<Read extends LogExport>({ createdAt, updatedAt, ...rest }: Read) {
  assert.ok(updatedAt >= createdAt);
  return rest;
}
type Found = Awaited<ReturnType<typeof exports.findExport>>;

async function find(id: LeasedExport["id"], name = "acme"): Promise<NonNullable<Found>> {
  const found = await exports.findExport(database.pool, tenant(name), id);
  assert.ok(found !== null);
  return found;
}

async function claim(): Promise<LeasedExport> {
  // The database rounds to milliseconds, also up.
  await database.pool.query("UPDATE postern.storage_exports SET lease_until = lease_until - interval '1 ms'");
  const leased = await exports.claimExport(database.pool, randomUUID(), LEASE_MS);
  assert.ok(leased !== null);
  return leased;
}

/** In milliseconds from now, as the database sees it. */
async function leaseMs(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    "SELECT extract(epoch FROM lease_until - now())::float8 * 1000 AS ms FROM postern.storage_exports",
  );
  return rows[0]?.ms ?? Number.NaN;
}

function part(rows: number, sizes: readonly number[]): StagedPart {
  const files = sizes.map((size, index) => ({
    id: randomUUID(),
    path: `csv/${index}`,
    size: size * 2,
    sha256: "0".repeat(64),
    crc32: 7,
    method: 8 as const,
    compressed_size: size,
  }));
  return { rows, files };
}

const QUEUED = {
  ...NARROWED,
  tenantId: ACME,
  from: FROM,
  to: TO,
  formats: ["csv", "parquet"],
  status: "queued",
  attempt: 0,
  rowsTotal: null,
  rowsDone: 0,
  bytes: 0,
  objectId: null,
  error: null,
};

const list = async (page: Parameters<typeof exports.listExports>[2]) =>
  (await exports.listExports(database.pool, ACME, page)).map(({ id }) => id);

const addEndpoint = (id: string) =>
  database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      VALUES ('acme', $1, 'https://example.com/', '{*}', '\\x0102030405060708', now(), now())`,
    [id],
  );

describe("an export that was asked for", () => {
  it("is found as it was asked for, by its tenant alone", async () => {
    const { id } = await insert();
    assert.deepEqual(shown(await find(id)), { ...QUEUED, id, archive: null });
    assert.equal(await exports.findExport(database.pool, tenant("globex"), id), null);
    assert.equal(await exports.findExport(database.pool, ACME, newExportId()), null);
  });

  it("needs an endpoint that its tenant has", async () => {
    const request = { tenantId: ACME, id: newExportId(), requestedBy: "ada", from: FROM, to: TO };
    const endpointId = newEndpointId();
    const insertOne = (tenantId = ACME) =>
      exports.insertExport(database.pool, {
        ...request,
        ...NARROWED,
        formats: ["csv"],
        tenantId,
        endpointId,
      });
    await addEndpoint(newEndpointId());
    assert.equal(await insertOne(), false);
    await addEndpoint(endpointId);
    assert.equal(await insertOne(tenant("globex")), false);
    assert.equal(await insertOne(), true);
    assert.equal((await find(request.id)).endpointId, endpointId);
  });

  it("is listed with its tenant's others, newest first, behind the last of a page", async () => {
    const ids = [];
    for (let n = 0; n < 3; n++) ids.unshift((await insert()).id);
    await insert("globex");
    assert.deepEqual(await list({ before: null, limit: 10 }), ids);
    assert.deepEqual(await list({ before: null, limit: 2 }), ids.slice(0, 2));
    const [newest = newExportId()] = ids;
    assert.deepEqual(await list({ before: newest, limit: 1 }), ids.slice(1, 2));
  });

  it("counts as unfinished until it is over, and for its tenant", async () => {
    const count = () =>
      inTransaction(database.pool, (transaction) => exports.lockUnfinishedExports(transaction, ACME));
    assert.equal(await count(), 0);
    await insert();
    await insert();
    await insert("globex");
    assert.equal(await count(), 2);
    const { rows } = await database.pool.query("SELECT id FROM postern.storage_exports");
    const ids = rows.map(({ id }) => id);
    assert.deepEqual(await exports.listUnfinishedExports(database.pool, ids), new Set(ids));
    await database.pool.query(
      "UPDATE postern.storage_exports SET status = 'failed', error = 'no' WHERE id = $1",
      [ids[0]],
    );
    await database.pool.query(
      "UPDATE postern.storage_exports SET status = 'running', lease_owner = id, lease_until = now() WHERE id = $1",
      [ids[1]],
    );
    assert.equal(await count(), 1);
    assert.deepEqual(await exports.listUnfinishedExports(database.pool, ids), new Set(ids.slice(1)));
    assert.deepEqual(await exports.listUnfinishedExports(database.pool, []), new Set());
  });
});

describe("an export that is made", () => {
  it("is leased with what was asked for, and with how far earlier runs came", async () => {
    const { id } = await insert();
    const first = await claim();
    const running = { ...QUEUED, id, status: "running" };
    const { leaseOwner, ...rest } = shown(first);
    assert.deepEqual(rest, { ...running, fruitlessRuns: 1, after: null, parts: [] });
    assert.match(leaseOwner, /^[0-9a-f-]{36}$/);
    assert.ok((await leaseMs()) > 30_000 && (await leaseMs()) <= LEASE_MS);

    assert.ok(await exports.beginRun(database.pool, first, 12));
    const parts = [part(7, [100, 20]), part(5, [3])];
    const after = { endpointId: newEndpointId(), deliveryId: newDeliveryId() };
    const [one = part(0, []), two = part(0, [])] = parts;
    await exports.recordPart(database.pool, first, { part: one, after, leaseMs: 500_000 });
    assert.ok((await leaseMs()) > 400_000);
    await exports.recordPart(database.pool, first, { part: two, after: null, leaseMs: LEASE_MS });
    await exports.releaseExport(database.pool, first, { delayMs: 0, isFruitless: true });
    const { leaseOwner: _, ...second } = shown(await claim());
    const progress = { attempt: 1, rowsTotal: 12, rowsDone: 12, bytes: 123 };
    assert.deepEqual(second, { ...running, ...progress, fruitlessRuns: 2, after, parts });
  });

  it("has its turn by its tenant: behind no second one of another, and in the order of its own", async () => {
    const asked = [];
    for (const name of ["acme", "acme", "globex", "acme", "initech"]) asked.push(await insert(name));
    const [first, second, others, third, last] = asked.map(({ id }) => id);
    for (const [place, { id }] of asked.entries()) {
      await database.pool.query(
        "UPDATE postern.storage_exports SET created_at = created_at + $2 * interval '1 ms' WHERE id = $1",
        [id, place],
      );
    }
    const claimed: unknown[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const run = await claim();
      claimed.push(run.id);
      await exports.finishExport(database.pool, run, { error: "ended" });
    }
    assert.deepEqual(claimed, [first, others, last, second, third]);
  });

  it("is begun anew with nothing staged", async () => {
    await insert();
    const run = await claim();
    await exports.beginRun(database.pool, run, 9);
    const after = { endpointId: newEndpointId(), deliveryId: newDeliveryId() };
    await exports.recordPart(database.pool, run, { part: part(7, [1]), after, leaseMs: 0 });
    await exports.beginRun(database.pool, run, 8);
    const again = await claim();
    assert.deepEqual(
      [again.attempt, again.rowsTotal, again.rowsDone, again.bytes, again.after, again.parts],
      [2, 8, 0, 0, null, []],
    );
  });

  it("has changed when it is claimed, is begun, grows by a part, and ends", async () => {
    const { id } = await insert();
    let run: LeasedExport | undefined;
    const leased = () => run ?? assert.fail("not claimed");
    for (const step of [
      async () => void (run = await claim()),
      () => exports.beginRun(database.pool, leased(), 1),
      () =>
        exports.recordPart(database.pool, leased(), { part: part(1, [9]), after: null, leaseMs: LEASE_MS }),
      () => exports.finishExport(database.pool, leased(), { error: "no room" }),
    ]) {
      await database.pool.query(
        "UPDATE postern.storage_exports SET created_at = 'epoch', updated_at = 'epoch'",
      );
      await step();
      const { updatedAt } = await find(id);
      assert.notEqual(updatedAt.getTime(), 0, String(step));
    }
  });

  it("is given back once, also where the answer to that was lost and it is done again", async () => {
    await insert();
    const run = await claim();
    const back = { delayMs: 1000, isFruitless: false };
    assert.equal(await exports.releaseExport(database.pool, run, back), true);
    assert.equal(await exports.releaseExport(database.pool, run, back), false);
    const { rows } = await database.pool.query("SELECT fruitless_runs FROM postern.storage_exports");
    assert.deepEqual(rows, [{ fruitless_runs: 0 }]);
  });

  it("is kept from others as long as it was given back for", async () => {
    await insert();
    const run = await claim();
    await exports.renewExport(database.pool, run, 2_000_000);
    assert.ok((await leaseMs()) > 1_900_000);
    await exports.releaseExport(database.pool, run, { delayMs: 1_000_000, isFruitless: false });
    assert.ok((await leaseMs()) > 900_000 && (await leaseMs()) <= 1_000_000);
    assert.equal(await exports.claimExport(database.pool, randomUUID(), LEASE_MS), null);
  });

  it("ends with its object, or with the text that says why not", async () => {
    const { id } = await insert();
    const run = await claim();
    await exports.beginRun(database.pool, run, 1);
    await exports.recordPart(database.pool, run, { part: part(1, [9]), after: null, leaseMs: LEASE_MS });
    const objectId = randomUUID();
    await exports.finishExport(database.pool, run, { objectId, bytes: 5 });
    const ready = {
      ...QUEUED,
      id,
      status: "ready",
      attempt: 1,
      rowsTotal: 1,
      rowsDone: 1,
      bytes: 5,
      objectId,
    };
    assert.deepEqual(shown(await find(id)), { ...ready, archive: null });

    const { id: other } = await insert();
    const failing = await claim();
    await exports.recordPart(database.pool, failing, { part: part(1, [9]), after: null, leaseMs: LEASE_MS });
    await exports.finishExport(database.pool, failing, { error: "no room" });
    const failed = { ...QUEUED, id: other, status: "failed", rowsDone: 1, bytes: 9, error: "no room" };
    assert.deepEqual(shown(await find(other)), { ...failed, archive: null });
    const { rows } = await database.pool.query(
      "SELECT FROM postern.storage_exports WHERE parts <> '[]' OR lease_owner IS NOT NULL OR lease_until IS NOT NULL",
    );
    assert.equal(rows.length, 0);
    const attempts = (ids: string[]) => exports.readAttempts(database.pool, [...ids, randomUUID()]);
    assert.deepEqual([...(await attempts([id]))], [[id, 1]]);
    assert.deepEqual([...(await attempts([other]))], [[other, 0]]);
  });
});

describe("an archive that was found", () => {
  it("is an export that just became ready, and changes none that is known", async () => {
    const archive = {
      tenantId: ACME,
      exportId: newExportId(),
      from: FROM,
      to: TO,
      ...NARROWED,
      formats: ["ndjson"] as const,
      deliveries: 3,
      objectId: randomUUID(),
      attempt: 2,
      bytes: 77,
    };
    await exports.insertAdoptedExport(database.pool, archive);
    await exports.insertAdoptedExport(database.pool, { ...archive, bytes: 78 });
    const { exportId: id, deliveries, tenantId, from, to, attempt, bytes, objectId, formats } = archive;
    assert.deepEqual(shown(await find(id)), {
      ...NARROWED,
      tenantId,
      id,
      from,
      to,
      formats,
      status: "ready",
      attempt,
      rowsTotal: deliveries,
      rowsDone: deliveries,
      bytes,
      objectId,
      error: null,
      archive: null,
    });
  });

  it("keeps its export's row, which was about to be forgotten as one without an archive", async () => {
    const { pool } = database;
    const { id } = await insert();
    await pool.query("UPDATE postern.storage_exports SET status = 'failed', updated_at = 'epoch'");
    await inTransaction(pool, async (adopting) => {
      const { id: objectId } = await insertRow(adopting, "b", { kind: "export", delivery: id });
      const found = { objectId, attempt: 1, bytes: 5, deliveries: 0 };
      const exportOf = { tenantId: ACME, exportId: id, from: FROM, to: TO, ...NARROWED };
      await exports.insertAdoptedExport(adopting, { ...exportOf, formats: ["csv"], ...found });
      await pool.query("SELECT postern.forget_old_storage(30)");
    });
    assert.equal((await find(id)).id, id);
    await pool.query("DELETE FROM postern.stored_objects");
    await pool.query("SELECT postern.forget_old_storage(30)");
    const { rowCount } = await pool.query("SELECT FROM postern.storage_exports");
    assert.equal(rowCount, 0);
  });

  it("is told of with its state, its deadline and whether it is held", async () => {
    const { id } = await insert();
    const run = await claim();
    const objectId = randomUUID();
    await exports.finishExport(database.pool, run, { objectId, bytes: 5 });
    await insertRow(database.pool, "b", { kind: "export", delivery: id, state: "expired" });
    const other = { of: tenant("globex"), id: objectId, kind: "export" } as const;
    await insertRow(database.pool, "b", other);
    assert.equal((await find(id)).archive, null);
    await database.pool.query("DELETE FROM postern.stored_objects WHERE id = $1", [objectId]);
    await database.pool.query(
      `INSERT INTO postern.stored_objects (tenant_id, storage_tenant_id, id, delivery_id, attempt, kind, bucket, key, version_id,
          etag, size, sha256, content_type, state, deadline, hold, available_at, state_since)
        VALUES ('acme', $3, $1, $2, 1, 'export', 'b', 'k', 'v', 'e', 5, repeat('0', 64), 'application/zip', 'available',
          '2026-03-05T00:00:00Z', true, now(), now())`,
      [objectId, id, randomUUID()],
    );
    const held = { state: "available", deadline: "2026-03-05T00:00:00.000Z", hold: true };
    assert.deepEqual((await find(id)).archive, held);
    await database.pool.query("UPDATE postern.stored_objects SET hold = false WHERE id = $1", [objectId]);
    assert.deepEqual((await find(id)).archive, { ...held, hold: false });
    await database.pool.query(
      "UPDATE postern.stored_objects SET state = 'pending', deadline = NULL, available_at = NULL WHERE id = $1",
      [objectId],
    );
    assert.deepEqual((await find(id)).archive, { state: "pending", deadline: null, hold: false });
  });
});
