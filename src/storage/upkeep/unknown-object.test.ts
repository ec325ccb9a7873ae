import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { describe, it } from "node:test";
import { eachStored, sortedIds, type Stored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId } from "../../shared/id.ts";
import { insertPendingObject } from "../rows/stored-object-store.ts";
import { judgePage } from "./reconcile-page.ts";
import { findUnknownObject } from "./unknown-object.ts";

let stored: Stored;
eachStored((opened) => (stored = opened));

function judge() {
  const page = { runId: randomUUID(), after: null, batchSize: 10, maxDestructive: 20 };
  return judgePage(stored.services, { ...page, examinedOrphans: new Set(), approved: new Set() });
}

/** In a bucket whose last whole pass began at that time. */
async function find(sinceMs = 0) {
  return findUnknownObject(stored.services, await judge(), new Date(sinceMs).toISOString());
}

const storeUnknown = (wanted: Parameters<Stored["orphan"]>[0] = {}) =>
  stored.orphan({ deliveryId: newDeliveryId(), ...wanted });

describe("an object that only a newer database can know", () => {
  it("was stored when the last whole pass began, or later", async () => {
    const { key, place } = await storeUnknown();
    const atMs = Math.floor((await stat(place)).mtimeMs);
    assert.equal(await find(atMs - 1), key);
    assert.equal(await find(atMs), key);
    assert.equal(await find(atMs + 1), null);
  });

  it("is of a delivery whose id Postern made, under a key that it makes", async () => {
    await stored.orphan();
    const id = newDeliveryId();
    await stored.orphan({ deliveryId: `${id.slice(0, 14)}4${id.slice(15)}` });
    assert.equal(await find(), null);
  });

  it("was not found before by this database, which then knows no more of it than a suspicion", async () => {
    const object = await storeUnknown();
    await stored.suspect(object, "object_without_row", 0);
    assert.equal(await find(), null);
    // Of another suspicion it once had a row, which this database does not have.
    const { key } = await storeUnknown();
    await stored.suspect({ key }, "identity_mismatch", 0);
    assert.equal(await find(), key);
  });

  it("has no row, and has got none since its page was read", async () => {
    await stored.store();
    const deliveryId = newDeliveryId();
    const { key } = await storeUnknown({ deliveryId });
    const judged = await judge();
    assert.equal(await findUnknownObject(stored.services, judged, new Date(0).toISOString()), key);
    const of = { tenantId: tenant("acme"), id: randomUUID(), deliveryId, attempt: 1 };
    const facts = { bucket: stored.bucket.name, size: 1, sha256: "a".repeat(64) };
    await insertPendingObject(stored.db, { ...of, ...facts, kind: "request_body" });
    assert.equal(await findUnknownObject(stored.services, judged, new Date(0).toISOString()), null);
  });

  it("is no archive of an attempt that its export has made, but is one of a later attempt", async () => {
    const deliveryId = newDeliveryId();
    await stored.db.query(
      `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status, attempt)
        VALUES ('acme', $1, 'ada', now() - interval '1 day', now(), 'running', 2)`,
      [deliveryId],
    );
    for (const attempt of [1, 2]) await storeUnknown({ deliveryId, kind: "export", attempt });
    assert.equal(await find(), null);
    const later = await storeUnknown({ deliveryId, kind: "export", attempt: 3 });
    assert.equal(await find(), later.key);
    await stored.lose(later);
    const { key } = await storeUnknown({ kind: "export" });
    assert.equal(await find(), key);
  });

  it("is none that a row has lost, but the next one is", async () => {
    const lost = await stored.store({ bytes: "of an attempt" });
    const [first, second] = sortedIds(2);
    await storeUnknown({ deliveryId: first, bytes: "of an attempt" });
    const copy = () => find();
    // Its row still has the same bytes, so the other object is of no row.
    assert.ok((await copy()) !== null);
    await stored.lose(lost);
    assert.equal(await find(), null);
    await stored.overwrite(lost, "other bytes");
    assert.equal(await find(), null);
    const { key } = await storeUnknown({ deliveryId: second, bytes: "of another" });
    assert.equal(await find(), key);
  });
});
