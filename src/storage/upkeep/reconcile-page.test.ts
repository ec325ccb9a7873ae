import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { inPages, eachStored, sortedIds, type Stored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { parseObjectKey } from "../rules/object-key.ts";
import { insertPendingObject } from "../rows/stored-object-store.ts";
import { applyPage, judgePage, type PageOfPass } from "./reconcile-page.ts";
import { readCursor } from "./reconcile-store.ts";

let stored: Stored;
eachStored((opened) => (stored = opened));

function pageOf(more: Partial<PageOfPass> = {}): PageOfPass {
  const [runId, none] = [randomUUID(), new Set<string>()];
  return {
    runId,
    after: null,
    batchSize: 10,
    maxDestructive: 20,
    examinedOrphans: none,
    approved: none,
    ...more,
  };
}

const judge = (more: Partial<PageOfPass> = {}) => judgePage(stored.services, pageOf(more));

/** Long suspected to have lost its bytes. */
async function storeLost(wanted: Parameters<Stored["store"]>[0] = {}) {
  const lost = await stored.store(wanted);
  await stored.lose(lost);
  await stored.suspect(lost, "row_without_object");
  return lost;
}

async function marks() {
  const { rows } = await stored.db.query(
    "SELECT key, class FROM postern.storage_marks WHERE bucket = $1 ORDER BY key",
    [stored.bucket.name],
  );
  return rows;
}

describe("a page of rows and objects", () => {
  it("ends with the last key of which both are known", async () => {
    const kept = [];
    for (const deliveryId of sortedIds(3)) kept.push(await stored.store({ deliveryId }));
    const [first, second, third] = kept.map(({ key }) => key);
    assert.ok(second !== undefined && third !== undefined);
    for (const [batchSize, limit, keys, next] of [
      [2, 10, [first, second], second],
      [10, 1, [first], first],
      [3, 3, [first, second, third], null],
    ] as const) {
      const bucket: Bucket = { ...stored.bucket, list: (page) => stored.bucket.list({ ...page, limit }) };
      const { result } = await judgePage({ ...stored.services, bucket }, pageOf({ batchSize }));
      const { decisions, next_cursor, pass_complete } = result.output;
      assert.deepEqual(
        [decisions.map(({ key }) => key), next_cursor, pass_complete],
        [keys, next, next === null],
      );
    }
    const behind = await judge({ after: second });
    assert.deepEqual(
      behind.result.output.decisions.map(({ key }) => key),
      [third],
    );
  });

  it("has the marks of its own keys alone, so that no other suspicion is taken for settled", async () => {
    const kept = [];
    for (const deliveryId of sortedIds(3)) kept.push(await stored.store({ deliveryId }));
    for (const one of kept) await stored.suspect(one, "row_without_object");
    const [first, second, third] = kept;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    const bucket = inPages(stored.bucket, 1);
    const judged = await judgePage({ ...stored.services, bucket }, pageOf({ after: first.key }));
    assert.deepEqual(await applyPage(stored.services, judged, new Set()), []);
    assert.deepEqual(
      (await marks()).map(({ key }) => key),
      [first.key, third.key],
    );
  });
});

describe("what a page destroys", () => {
  it("is told to each artifact's own tenant, and noted under consecutive numbers", async () => {
    const lost = await storeLost({ attempt: 3 });
    const changed = await stored.store({ tenantId: tenant("globex") });
    await stored.overwrite(changed, "other bytes");
    await stored.suspect(changed, "identity_mismatch");
    const orphan = await stored.orphan();
    await stored.suspect(orphan, "object_without_row");
    const judged = await judge({ examinedOrphans: new Set([orphan.key]) });
    const { bucket } = stored;
    assert.deepEqual(await applyPage(stored.services, judged, new Set()), [
      { op: "delete", target: "object", bucket: bucket.name, key: orphan.key, version_id: orphan.versionId },
    ]);
    const told = await stored.db.query(
      "SELECT tenant_id, type, body::json -> 'data' AS data FROM postern.outbox",
    );
    const dataOf = ({ id, deliveryId }: typeof lost, attempt: number) => ({
      object_id: id,
      delivery_id: deliveryId,
      attempt,
      kind: "request_body",
    });
    assert.deepEqual(
      told.rows.toSorted((one, other) => (one.tenant_id < other.tenant_id ? -1 : 1)),
      [
        { tenant_id: "acme", type: "storage.object.missing", data: dataOf(lost, 3) },
        { tenant_id: "globex", type: "storage.object.quarantined", data: dataOf(changed, 1) },
      ],
    );
    const noted = await stored.db.query(
      "SELECT tenant_id, sequence::int, type, key, run_id FROM postern.storage_events WHERE bucket = $1 ORDER BY sequence",
      [bucket.name],
    );
    const { run_id, next_sequence } = judged.input.run;
    const expected = [
      { tenant_id: "acme", type: "object.missing", key: lost.key },
      { tenant_id: "globex", type: "object.quarantined", key: changed.key },
      { tenant_id: null, type: "object.orphan_purged", key: orphan.key },
    ].toSorted((one, other) => (one.key < other.key ? -1 : 1));
    assert.deepEqual(
      noted.rows,
      expected.map(({ tenant_id, type, key }, index) => ({
        tenant_id,
        type,
        key,
        sequence: next_sequence + index,
        run_id,
      })),
    );
    assert.deepEqual(await marks(), []);
  });

  it("is counted within its pass, but for what an operator approved", async () => {
    for (let n = 0; n < 6; n++) await storeLost();
    const judged = await judge();
    await assert.rejects(applyPage(stored.services, judged, new Set()), { name: "DestructionBoundError" });
    const approved = new Set(judged.result.output.decisions.slice(0, 1).map(({ key }) => `missing ${key}`));
    await applyPage(stored.services, judged, approved);
    const { rows } = await stored.db.query(
      "SELECT number, run_id FROM postern.storage_destroyed WHERE bucket = $1",
      [stored.bucket.name],
    );
    assert.deepEqual(rows, [{ number: 5, run_id: judged.input.run.run_id }]);
  });
});

describe("a page of which something has changed since it was read", () => {
  it("is not applied where that is a row, nor is anything of its other keys", async () => {
    const lost = [await storeLost(), await storeLost()];
    const judged = await judge();
    await stored.db.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [
      lost[0]?.id,
    ]);
    await assert.rejects(applyPage(stored.services, judged, new Set()), { name: "PageChangedError" });
    assert.deepEqual(await Promise.all(lost.map(stored.stateOf)), ["available", "available"]);
    assert.deepEqual([(await marks()).length, await readCursor(stored.db, stored.bucket.name)], [2, null]);
  });

  it("is not applied where an upload began under the key of an object that had no row", async () => {
    const orphan = await stored.orphan();
    await stored.suspect(orphan, "object_without_row");
    assert.deepEqual((await judge()).result.mutations, []);
    const judged = await judge({ examinedOrphans: new Set([orphan.key]) });
    assert.equal(judged.result.mutations.length, 2);
    const { parts } = parseObjectKey(orphan.key);
    assert.ok(parts !== null);
    const { delivery_id: deliveryId, attempt, kind } = parts;
    const of = { tenantId: tenant("acme"), id: randomUUID(), deliveryId, attempt, kind };
    const facts = { bucket: stored.bucket.name, size: 1, sha256: "a".repeat(64) };
    assert.ok(await insertPendingObject(stored.db, { ...of, ...facts }));
    await assert.rejects(applyPage(stored.services, judged, new Set()), { name: "PageChangedError" });
  });

  it("is not applied at all where it would destroy too much", async () => {
    await storeLost();
    const judged = await judge({ maxDestructive: 0 });
    assert.equal(judged.result.output.code, "HALTED");
    await assert.rejects(
      applyPage(stored.services, judged, new Set()),
      /a page of code HALTED cannot be applied/,
    );
  });
});

describe("the next page", () => {
  it("is of the same pass until the bucket has come to its end, and then of another", async () => {
    const ids = sortedIds(2);
    const first = await stored.store({ deliveryId: ids[0] });
    await stored.store({ deliveryId: ids[1] });
    const bucket = inPages(stored.bucket, 1);
    const cursor = () => readCursor(stored.db, stored.bucket.name);
    const services = { ...stored.services, bucket };
    const page = pageOf();
    await applyPage(services, await judgePage(services, page), page.approved);
    assert.deepEqual(await cursor(), { runId: page.runId, afterKey: first.key, haltedReason: null });
    await applyPage(services, await judgePage(services, { ...page, after: first.key }), page.approved);
    const ended = await cursor();
    assert.deepEqual([ended?.afterKey, ended?.haltedReason], [null, null]);
    assert.notEqual(ended?.runId, page.runId);
  });
});
