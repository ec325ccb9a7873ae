import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { inTransaction } from "../../database/transaction.ts";
import { parseTenantId, type TenantId } from "../../shared/id.ts";
import { NOT_UPLOADED } from "../bytes/bucket.ts";
import { applyMutations } from "./mutation-store.ts";
import { deriveDeadline } from "../rules/derive-deadline.ts";
import { moveState, type Mutation } from "../rules/mutations.ts";
import { projectLibrary } from "../rules/project-library.ts";
import { storedObject, type StoredObject } from "../rules/stored-object.ts";
import { compareBytes } from "../rules/values.ts";
import {
  insertEvents,
  listMarks,
  readCursor,
  readNextSequence,
  writeCursor,
} from "../upkeep/reconcile-store.ts";
import { storageTenantId } from "./storage-ids.ts";
import {
  findForDownload,
  findStoredObject,
  insertPendingObject,
  listDueForExpiry,
  listLibraryRows,
  listRowsByKey,
  readDatabaseClock,
  recordUpload,
  setHold,
  type NewStoredObject,
} from "./stored-object-store.ts";

const ACME = tenant("acme");
const GLOBEX = tenant("globex");
const SHA = "a".repeat(64);
const NOW = "2026-03-01T12:00:00.000Z";
const LATER = "2026-03-02T12:00:00.000Z";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

describe("the row of an artifact", () => {
  it("begins as pending, under the key of its own tenant, and reads as the rules expect it", async () => {
    const object = await pending({ attempt: 2, kind: "response_body" });
    assert.deepEqual(storedObject.parse(object), object);
    assert.equal(object.state, "pending");
    assert.equal(object.version_id, NOT_UPLOADED);
    assert.equal(object.key, `v1/t/${storageTenantId(ACME)}/d/${object.delivery_id}/a/2/response_body.txt`);
    assert.deepEqual(await findStoredObject(database.pool, ACME, object.id), object);
  });

  it("is invisible to other tenants", async () => {
    const object = await pending();
    assert.equal(await findStoredObject(database.pool, GLOBEX, object.id), null);
    const upload = { versionId: "v", etag: "e" };
    assert.equal(await recordUpload(database.pool, GLOBEX, object, upload), null);
    const request = { objectId: object.id, deliveryId: object.delivery_id };
    assert.deepEqual(await findForDownload(database.pool, GLOBEX, request), { found: false });
  });

  it("is not made twice for one key", async () => {
    const fresh = newObject();
    assert.notEqual(await insertPendingObject(database.pool, fresh), null);
    assert.equal(await insertPendingObject(database.pool, { ...fresh, id: randomUUID() }), null);
  });

  it("takes the store's answer once: who comes second sees that it changed", async () => {
    const object = await pending();
    const uploaded = await recordUpload(database.pool, ACME, object, { versionId: "v1", etag: "e1" });
    assert.deepEqual(uploaded, { ...object, version_id: "v1", etag: "e1", revision: 2 });
    assert.equal(await recordUpload(database.pool, ACME, object, { versionId: "v2", etag: "e2" }), null);
  });
});

describe("applying what an operation returned", () => {
  it("changes a row in one step and once, however often it is applied", async () => {
    const object = await uploaded();
    const opening = openingOf(object);
    assert.deepEqual(await apply(opening), { changedRows: 1, skippedRows: 0, objectDeletes: [] });
    const opened = await read(object);
    assert.deepEqual(opened, {
      ...object,
      state: "available",
      state_since: NOW,
      available_at: NOW,
      revision: object.revision + 1,
    });
    assert.deepEqual(await apply(opening), { changedRows: 0, skippedRows: 1, objectDeletes: [] });
    assert.deepEqual(await read(object), opened);
  });

  it("skips a row that changed meanwhile", async () => {
    const object = await available();
    await apply([moveState(object, "missing")]);
    const { skippedRows } = await apply([moveState(object, "expired")]);
    assert.equal(skippedRows, 1);
    assert.equal((await read(object)).state, "missing");
  });

  it("leaves a row alone that is not what the decision saw, each difference by itself", async () => {
    const object = await available();
    const { id, revision } = object;
    const set = (field: "available_at" | "deadline", from: string | null): Mutation => ({
      op: "update",
      target: "row",
      id,
      field,
      from,
      to: LATER,
      revision,
    });
    const decisions: Record<string, Mutation> = {
      "an earlier revision": moveState({ ...object, revision: revision - 1 }, "missing"),
      "a later revision": moveState({ ...object, revision: revision + 1 }, "missing"),
      "another state": moveState({ ...object, state: "pending" }, "missing"),
      "not available yet": set("available_at", null),
      "available since another time": set("available_at", LATER),
      "another deadline": set("deadline", NOW),
    };
    for (const [difference, mutation] of Object.entries(decisions)) {
      assert.equal((await apply([mutation])).skippedRows, 1, difference);
      assert.deepEqual(await read(object), object, difference);
    }
    assert.equal((await apply([set("available_at", NOW), set("deadline", null)])).changedRows, 1);
  });

  it("sets a deadline without touching the state", async () => {
    const object = await available();
    const { mutations } = deriveDeadline({
      object_id: object.id,
      revision: object.revision,
      available_at: object.available_at,
      plan_days: 1,
      tenant_days: null,
      hold_until: null,
      previous_deadline: null,
    });
    await apply(mutations);
    const changed = await read(object);
    assert.deepEqual(changed, { ...object, deadline: LATER, revision: object.revision + 1 });
  });

  it("hands object deletions back instead of doing them", async () => {
    const deletion = { op: "delete", target: "object", bucket: "b", key: "k", version_id: "v" } as const;
    assert.deepEqual((await apply([deletion])).objectDeletes, [deletion]);
  });

  it("keeps one grant for one id, under the object's tenant", async () => {
    const object = await available();
    const grant = {
      op: "insert",
      target: "grant",
      id: randomUUID(),
      object_id: object.id,
      user_id: randomUUID(),
      issued_at: NOW,
      expires_at: LATER,
    } as const;
    await apply([grant]);
    await apply([grant]);
    const { rows } = await database.pool.query(
      "SELECT tenant_id, object_id, user_id FROM postern.storage_grants WHERE id = $1",
      [grant.id],
    );
    assert.deepEqual(rows, [{ tenant_id: ACME, object_id: object.id, user_id: grant.user_id }]);
  });

  it("replaces a mark by one of another class, re-arms it and drops it", async () => {
    const object = await uploaded();
    const { key, bucket } = object;
    const run_id = randomUUID();
    const range = { after: key.slice(0, -1), upTo: key };
    const insert = { op: "insert", target: "mark", key, first_seen_at: NOW, run_id } as const;
    await apply([{ ...insert, class: "adoptable" }], bucket);
    await apply(
      [
        { op: "delete", target: "mark", key, class: "adoptable" },
        { ...insert, class: "row_without_object" },
      ],
      bucket,
    );
    assert.deepEqual(await listMarks(database.pool, bucket, range), [
      { key, class: "row_without_object", first_seen_at: NOW, run_id },
    ]);
    const rearm = { op: "update", target: "mark", key, class: "row_without_object" } as const;
    // What was decided of a mark that is gone.
    await apply([{ ...rearm, class: "adoptable", first_seen_at: LATER }], bucket);
    await apply([{ op: "delete", target: "mark", key, class: "adoptable" }], bucket);
    assert.equal((await listMarks(database.pool, bucket, range))[0]?.first_seen_at, NOW);
    await apply([{ ...rearm, first_seen_at: LATER }], bucket);
    assert.equal((await listMarks(database.pool, bucket, range))[0]?.first_seen_at, LATER);
    await apply([{ op: "delete", target: "mark", key, class: "row_without_object" }], bucket);
    assert.deepEqual(await listMarks(database.pool, bucket, range), []);
  });
});

it("a hold is set and ended once, each under a revision of its own", async () => {
  const { id, revision } = await uploaded();
  const changed: unknown[] = [];
  for (const isHeld of [true, true, false, false]) {
    const answer = await setHold(database.pool, ACME, { id, isHeld });
    const found = await findStoredObject(database.pool, ACME, id);
    changed.push([answer, found?.hold, Number(found?.revision) - revision]);
  }
  const [set, ended] = [
    [true, 1],
    [false, 2],
  ];
  assert.deepEqual(changed, [
    ["changed", ...set],
    ["unchanged", ...set],
    ["changed", ...ended],
    ["unchanged", ...ended],
  ]);
});

describe("the pages that operations read", () => {
  it("give of a delivery the highest attempt that its tenant may see, and each artifact once", async () => {
    const reader = tenant("reader");
    const deliveryId = randomUUID();
    const first = await available({ tenantId: reader, deliveryId, attempt: 1 });
    const second = await available({ tenantId: reader, deliveryId, attempt: 2 });
    await pending({ tenantId: reader, deliveryId, attempt: 3 });
    const beside = await available({ tenantId: reader });
    const newest = await available({ tenantId: reader }, LATER);
    await available({ tenantId: tenant("Reader") });

    const seen: string[] = [];
    let cursor: { available_at: string; id: string } | null = null;
    do {
      const rows = await listLibraryRows(database.pool, reader, { after: cursor, limit: 1 });
      const { output } = projectLibrary({
        tenant_id: storageTenantId(reader),
        now: NOW,
        rows,
        after: cursor,
        limit: 1,
      });
      assert.equal(output.code, "OK");
      seen.push(...output.items.map(({ id }) => id));
      cursor = output.next;
    } while (cursor !== null);
    const tied = [second.id, beside.id].toSorted(compareBytes);
    assert.deepEqual(seen, [newest.id, ...tied]);
    assert.ok(!seen.includes(first.id));
  });

  it("name of an export the export's own tenant as the one to whom it is delivered", async () => {
    const object = await pending({ kind: "export" });
    const request = { objectId: object.id, deliveryId: object.delivery_id };
    assert.deepEqual(await findForDownload(database.pool, ACME, request), { found: false });
    await database.pool.query(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at)
        VALUES ($1, $2, 'ada', $3, $4)`,
      [GLOBEX, object.delivery_id, NOW, LATER],
    );
    const answer = await findForDownload(database.pool, ACME, request);
    assert.deepEqual(answer, {
      found: true,
      object,
      delivery: { id: object.delivery_id, tenant_id: storageTenantId(GLOBEX) },
    });
  });

  it("list rows in the order of key bytes, from behind a key", async () => {
    const bucket = "ordered";
    const made = [
      await pending({ bucket }),
      await pending({ bucket, tenantId: GLOBEX }),
      await pending({ bucket }),
    ];
    const keys = made.map(({ key }) => key).sort();
    const page = await listRowsByKey(database.pool, bucket, { after: null, limit: 2 });
    assert.deepEqual(
      page.map(({ key }) => key),
      keys.slice(0, 2),
    );
    const rest = await listRowsByKey(database.pool, bucket, { after: keys[1] ?? "", limit: 2 });
    assert.deepEqual(
      rest.map(({ key }) => key),
      keys.slice(2),
    );
  });

  it("list artifacts at their deadline, neither before nor while held", async () => {
    const due = await available();
    const held = await available();
    await database.pool.query(
      "UPDATE postern.stored_objects SET deadline = $2, hold = (id = $3) WHERE id = ANY ($1)",
      [[due.id, held.id], "2027-01-01T00:00:00.000Z", held.id],
    );
    const dueAt = async (now: string) => {
      const rows = await listDueForExpiry(database.pool, now, 10);
      return rows.map(({ id }) => id).filter((id) => id === due.id || id === held.id);
    };
    assert.deepEqual(await dueAt("2026-12-31T23:59:59.999Z"), []);
    assert.deepEqual(await dueAt("2027-01-01T00:00:00.000Z"), [due.id]);
  });
});

describe("what reconciling remembers", () => {
  it("is where it was, in which run, and whether it was halted", async () => {
    const [runId, bucket] = [randomUUID(), "remembered"];
    assert.equal(await readCursor(database.pool, bucket), null);
    await writeCursor(database.pool, bucket, { runId, afterKey: "k", haltedReason: "too much" });
    assert.deepEqual(await readCursor(database.pool, bucket), {
      runId,
      afterKey: "k",
      haltedReason: "too much",
    });
    await writeCursor(database.pool, bucket, { runId, afterKey: null, haltedReason: null });
    assert.deepEqual(await readCursor(database.pool, bucket), { runId, afterKey: null, haltedReason: null });
  });

  it("numbers events, and refuses a number that was told before", async () => {
    const { bucket, key } = await pending();
    const sequence = await readNextSequence(database.pool);
    const events = [
      { sequence, type: "object.missing", key },
      { sequence: sequence + 1, type: "object.orphan_purged", key: "of nobody" },
    ] as const;
    const context = { bucket, runId: randomUUID(), now: NOW };
    await insertEvents(database.pool, events, context);
    assert.equal(await readNextSequence(database.pool), sequence + 2);
    const { rows } = await database.pool.query(
      "SELECT tenant_id FROM postern.storage_events WHERE run_id = $1 ORDER BY sequence",
      [context.runId],
    );
    assert.deepEqual(rows, [{ tenant_id: ACME }, { tenant_id: null }]);
    await assert.rejects(insertEvents(database.pool, events, context), /storage_events_pkey/);
  });

  it("goes by the database's clock, in whole milliseconds", async () => {
    assert.match(await readDatabaseClock(database.pool), /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

function tenant(text: string): TenantId {
  const id = parseTenantId(text);
  assert.ok(id !== null);
  return id;
}

function newObject(given: Partial<NewStoredObject> = {}): NewStoredObject {
  return {
    tenantId: ACME,
    id: randomUUID(),
    deliveryId: randomUUID(),
    attempt: 1,
    kind: "request_body",
    bucket: "artifacts",
    size: 5,
    sha256: SHA,
    ...given,
  };
}

async function pending(given: Partial<NewStoredObject> = {}): Promise<StoredObject> {
  const object = await insertPendingObject(database.pool, newObject(given));
  assert.ok(object !== null);
  return object;
}

async function uploaded(given: Partial<NewStoredObject> = {}): Promise<StoredObject> {
  const upload = { versionId: "v1", etag: "e1" };
  const object = await pending(given);
  const row = await recordUpload(database.pool, given.tenantId ?? ACME, object, upload);
  assert.ok(row !== null);
  return row;
}

async function available(given: Partial<NewStoredObject> = {}, at = NOW): Promise<StoredObject> {
  const object = await uploaded(given);
  await apply(openingOf(object, at));
  return read(object, given.tenantId);
}

function openingOf(object: StoredObject, at = NOW): Mutation[] {
  const { id, revision } = object;
  return [
    moveState(object, "available"),
    { op: "update", target: "row", id, field: "available_at", from: null, to: at, revision },
  ];
}

function apply(mutations: readonly Mutation[], bucket: string | null = null) {
  return inTransaction(database.pool, (client) => applyMutations(client, mutations, { now: NOW, bucket }));
}

async function read(object: StoredObject, tenantId = ACME): Promise<StoredObject> {
  const row = await findStoredObject(database.pool, tenantId, object.id);
  assert.ok(row !== null);
  return row;
}
