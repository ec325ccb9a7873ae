/** Which rows are found and may be changed, by what has become of them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { DIGEST, insertRow, NOW, type StoredRow } from "../../../test/support/stored-row.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { inTransaction } from "../../database/transaction.ts";
import type { Mutation } from "../rules/mutations.ts";
import { applyMutations } from "./mutation-store.ts";
import {
  listDueForExpiry,
  listRowsByDigest,
  listTenantObjects,
  readLinkState,
  relinkObject,
  setHold,
} from "./stored-object-store.ts";

const ACME = tenant("acme");
const GLOBEX = tenant("globex");
const STATES = ["pending", "available", "missing", "quarantined", "expired", "purged"] as const;

let database: TestDatabase;
let bucket: string;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());
beforeEach(async () => {
  bucket = `bucket-${randomUUID()}`;
  for (const table of ["stored_objects", "storage_marks"]) await sql(`DELETE FROM postern.${table}`);
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

type Given = Parameters<typeof insertRow>[2] & { in?: string };
const insert = ({ in: of = bucket, ...given }: Given = {}) => insertRow(database.pool, of, given);

/** One of each state. */
async function insertAll(given: Given = {}): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for (const state of STATES) rows.push(await insert({ ...given, state }));
  return rows;
}

/** The states of those among them. */
function statesOf(found: readonly { id: string }[], all: readonly StoredRow[]): string[] {
  return STATES.filter((_, index) => found.some(({ id }) => id === all[index]?.id));
}

async function changed(
  row: StoredRow,
): Promise<{ version: string; etag: string; hold: boolean; revision: number }> {
  const { rows } = await database.pool.query(
    `SELECT version_id AS version, etag, hold, revision::int FROM postern.stored_objects WHERE id = $1`,
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
      is.map(({ version, etag, revision }) => `${version}${etag}${revision}`),
      ["wf2", "wf2", "wf2", "ve1", "ve1", "ve1"],
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

async function list(after: string | null, limit: number, objectId: string | null = null) {
  const found = await listTenantObjects(database.pool, ACME, { objectId, after, limit });
  return found.map(({ id }) => id);
}

describe("a tenant's artifacts", () => {
  it("are all that are not purged, by their ids from behind one, or the one that is asked for", async () => {
    const rows = (await insertAll()).slice(0, 5);
    const other = await insert({ of: GLOBEX });
    const ids = rows.map(({ id }) => id).toSorted();
    assert.deepEqual([await list(null, 2), await list(ids[1] ?? "", 9)], [ids.slice(0, 2), ids.slice(2)]);
    for (const id of ids) assert.deepEqual(await list(null, 9, id), [id]);
    assert.deepEqual(await list(null, 9, other.id), []);
  });
});

async function marks() {
  const { rows } = await sql(
    "SELECT bucket, key, first_seen_at FROM postern.storage_marks ORDER BY bucket, key",
  );
  return rows.map(({ bucket: of, key, first_seen_at: at }) => [of, key, at.toISOString()]);
}

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

  it("is kept, changed and dropped by its key in its bucket alone", async () => {
    const LATER = "2026-03-11T12:00:00.000Z";
    const run_id = randomUUID();
    const mark = { target: "mark", key: "one", class: "adoptable" } as const;
    const apply = (mutations: Mutation[], into = bucket) =>
      inTransaction(database.pool, (client) => applyMutations(client, mutations, { now: NOW, bucket: into }));
    const suspect = (key: string, into = bucket, first_seen_at = NOW) =>
      apply([{ ...mark, op: "insert", key, first_seen_at, run_id }], into);
    await suspect("one");
    await suspect("two");
    await suspect("one", `${bucket}-2`);
    const others = [
      [bucket, "two", NOW],
      [`${bucket}-2`, "one", NOW],
    ];
    // It is known already.
    await suspect("one", bucket, LATER);
    assert.deepEqual(await marks(), [[bucket, "one", NOW], ...others]);
    await apply([{ ...mark, op: "update", first_seen_at: LATER }]);
    assert.deepEqual(await marks(), [[bucket, "one", LATER], ...others]);
    await apply([{ ...mark, op: "delete" }]);
    assert.deepEqual(await marks(), others);
  });
});

describe("a link that was given out", () => {
  it("is of the tenant whose object it opens", async () => {
    const objects = [await insert({ of: GLOBEX }), await insert(), await insert({ of: GLOBEX })];
    const grants = objects.map(({ id: object_id }) => ({
      op: "insert" as const,
      target: "grant" as const,
      id: randomUUID(),
      object_id,
      user_id: randomUUID(),
      issued_at: NOW,
      expires_at: NOW,
    }));
    await inTransaction(database.pool, (client) =>
      applyMutations(client, grants, { now: NOW, bucket: null }),
    );
    const ids = grants.map(({ id }) => id);
    const { rows } = await sql(
      "SELECT tenant_id FROM postern.storage_grants WHERE id = ANY ($1) ORDER BY array_position($1, id)",
      [ids],
    );
    assert.deepEqual(
      rows.map((row) => row.tenant_id),
      ["globex", "acme", "globex"],
    );
  });
});

it("a row with a deadline changes its state alone", async () => {
  const { id, revision } = await insert({ deadline: NOW });
  const mutation = {
    op: "update",
    target: "row",
    id,
    field: "state",
    from: "available",
    to: "expired",
  } as const;
  const applied = await inTransaction(database.pool, (client) =>
    applyMutations(client, [{ ...mutation, revision }], { now: NOW, bucket: null }),
  );
  assert.equal(applied.changedRows, 1);
});
