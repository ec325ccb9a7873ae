/** Which rows are found and may be changed, by what has become of them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
import { applyMutations } from "./mutation-store.ts";
import { storageTenantId } from "./storage-ids.ts";
import {
  listDueForExpiry,
  listRowsByDigest,
  listTenantObjects,
  readLinkState,
  relinkObject,
  setHold,
} from "./stored-object-store.ts";

const ACME = tenant("acme");
const STATES = ["pending", "available", "missing", "quarantined", "expired", "purged"] as const;
const DIGEST = "a".repeat(64);
const NOW = "2026-03-10T12:00:00.000Z";

let database: TestDatabase;
let bucket: string;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(() => {
  bucket = `bucket-${randomUUID()}`;
});

type Row = { id: string; key: string; revision: number };

async function insert({
  state = "available",
  ...given
}: {
  state?: (typeof STATES)[number];
  size?: number;
  sha256?: string;
  in?: string;
  deadline?: string;
  id?: string;
} = {}): Promise<Row> {
  const { rows } = await database.pool.query<Row>(
    `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
        size, sha256, content_type, version_id, etag, state, state_since, available_at, deadline)
      VALUES ($1, $2, $3, $2, 1, 'request_body', $4, $2::uuid::text, $5, $6, 'application/json', 'v', 'e', $7, now(),
        CASE WHEN $7 <> 'pending' THEN now() END, $8)
      RETURNING id, key, revision::int`,
    [
      ACME,
      given.id ?? randomUUID(),
      storageTenantId(ACME),
      given.in ?? bucket,
      given.size ?? 5,
      given.sha256 ?? DIGEST,
      state,
      given.deadline ?? null,
    ],
  );
  const [row] = rows;
  assert.ok(row !== undefined);
  return row;
}

/** One of each state. */
async function insertAll(given: Parameters<typeof insert>[0] = {}): Promise<Row[]> {
  const rows: Row[] = [];
  for (const state of STATES) rows.push(await insert({ ...given, state }));
  return rows;
}

/** The states of those among them. */
function statesOf(found: readonly { id: string }[], all: readonly Row[]): string[] {
  return STATES.filter((_, index) => found.some(({ id }) => id === all[index]?.id));
}

async function changed(row: Row): Promise<{ version: string; hold: boolean; revision: number }> {
  const { rows } = await database.pool.query(
    `SELECT version_id AS version, hold, revision::int FROM postern.stored_objects WHERE id = $1`,
    [row.id],
  );
  return rows[0];
}

describe("what is due to expire", () => {
  it("is what is available or missing, that which was due longest first", async () => {
    const all = await insertAll({ deadline: "2026-03-01T00:00:00.000Z" });
    assert.deepEqual(statesOf(await listDueForExpiry(database.pool, NOW, 100), all), [
      "available",
      "missing",
    ]);
    const [second, first] = [
      await insert({ deadline: "2026-02-02T00:00:00.000Z" }),
      await insert({ deadline: "2026-02-01T00:00:00.000Z" }),
    ];
    const due = await listDueForExpiry(database.pool, NOW, 2);
    assert.deepEqual(
      due.map(({ id }) => id),
      [first.id, second.id],
    );
  });
});

async function findLost(limit = 100): Promise<{ id: string }[]> {
  return listRowsByDigest(database.pool, bucket, { sha256: DIGEST, size: 5, limit });
}

describe("rows that may have lost bytes", () => {
  it("are those in use that want exactly them, in the same bucket", async () => {
    const all = await insertAll();
    await insert({ size: 6 });
    await insert({ sha256: "b".repeat(64) });
    await insert({ in: `${bucket}-2` });
    const found = await findLost();
    assert.equal(found.length, 3);
    assert.deepEqual(statesOf(found, all), ["pending", "available", "missing"]);
  });

  it("come first that are missing, then those that are suspected to be, and then by their ids", async () => {
    const ids = Array.from({ length: 6 }, () => randomUUID()).toSorted();
    const [first, second, otherwise, elsewhere, suspected, missing] = ids;
    for (const id of ids) await insert({ id, state: id === missing ? "missing" : "available" });
    for (const [key, found, of] of [
      [suspected, "row_without_object", bucket],
      [otherwise, "identity_mismatch", bucket],
      [elsewhere, "row_without_object", `${bucket}-2`],
    ]) {
      await database.pool.query(
        "INSERT INTO postern.storage_marks (bucket, key, class, first_seen_at, run_id) VALUES ($1, $2, $3, now(), gen_random_uuid())",
        [of, key, found],
      );
    }
    assert.deepEqual(
      (await findLost(5)).map(({ id }) => id),
      [missing, suspected, first, second, otherwise],
    );
  });

  it("are given them back in those states alone, as they were seen", async () => {
    const upload = { versionId: "w", etag: "f" };
    const rows = await insertAll();
    const given = [];
    for (const row of rows) {
      assert.equal(await relinkObject(database.pool, { ...row, revision: row.revision + 1 }, upload), false);
      given.push(await relinkObject(database.pool, row, upload));
    }
    assert.deepEqual(given, [true, true, true, false, false, false]);
    const is = await Promise.all(rows.map(changed));
    assert.deepEqual(
      is.map(({ version, revision }) => `${version}${revision}`),
      ["w2", "w2", "w2", "v1", "v1", "v1"],
    );
  });
});

describe("a link to a file", () => {
  it("is closed once its artifact has expired or is purged, and not by another bucket's", async () => {
    const closed = [];
    for (const { key } of await insertAll()) {
      closed.push((await readLinkState(database.pool, { bucket, key })).isClosed);
    }
    assert.deepEqual(closed, [false, false, false, false, true, true]);
    const { key } = await insert({ state: "purged", in: `${bucket}-2` });
    assert.equal((await readLinkState(database.pool, { bucket, key })).isClosed, false);
  });
});

describe("a hold", () => {
  it("is of whatever is not purged, of the tenant's own", async () => {
    const rows = await insertAll();
    for (const [index, { id }] of rows.entries()) {
      assert.equal(await setHold(database.pool, tenant("globex"), { id, isHeld: true }), "absent");
      const isPurged = STATES[index] === "purged";
      const answer = await setHold(database.pool, ACME, { id, isHeld: true });
      assert.equal(answer, isPurged ? "absent" : "changed");
    }
    const is = await Promise.all(rows.map(changed));
    assert.deepEqual(
      is.map(({ hold, revision }) => `${hold} ${revision}`),
      [...Array(5).fill("true 2"), "false 1"],
    );
  });
});

describe("a tenant's artifacts", () => {
  it("are all that are not purged, by their ids from behind one", async () => {
    await database.pool.query("DELETE FROM postern.stored_objects");
    const rows = (await insertAll()).slice(0, 5);
    const ids = rows.map(({ id }) => id).toSorted();
    const list = async (after: string | null, limit: number) => {
      const found = await listTenantObjects(database.pool, ACME, { objectId: null, after, limit });
      return found.map(({ id }) => id);
    };
    assert.deepEqual([await list(null, 2), await list(ids[1] ?? "", 9)], [ids.slice(0, 2), ids.slice(2)]);
  });
});

describe("a suspicion", () => {
  it("is of the tenant whose row has the key, and of nobody without one", async () => {
    const [row, other] = [await insert(), await insert({ in: `${bucket}-2` })];
    const seen = { op: "insert", target: "mark", class: "adoptable", first_seen_at: NOW } as const;
    const runId = randomUUID();
    const marks = [
      { ...seen, key: row.key, run_id: runId },
      { ...seen, key: other.key, run_id: runId },
    ];
    await inTransaction(database.pool, (client) => applyMutations(client, marks, { now: NOW, bucket }));
    const { rows } = await database.pool.query(
      "SELECT key, tenant_id FROM postern.storage_marks WHERE bucket = $1 ORDER BY tenant_id NULLS LAST",
      [bucket],
    );
    assert.deepEqual(rows, [
      { key: row.key, tenant_id: "acme" },
      { key: other.key, tenant_id: null },
    ]);
  });
});
