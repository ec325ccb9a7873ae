import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { away, eachStored, slip, type Stored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { newDeliveryId, newEndpointId, type TenantId } from "../../shared/id.ts";
import { insertBodies } from "../artifacts/kept-body-store.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { eraseRemains } from "./erase-remains.ts";
import { listTrash, moveToTrash } from "./trash.ts";

const AT = "2026-03-01T12:00:00.000Z";
const GLOBEX = tenant("globex");

let stored: Stored;
let acme: TenantId;
eachStored((opened) => {
  stored = opened;
  acme = tenant(`acme-${randomUUID()}`);
});

const erase = (bucket: Partial<Bucket> = {}) =>
  eraseRemains({ db: stored.db, bucket: { ...stored.bucket, ...bucket } }, acme);

/** A request's body and an answer's. */
async function keepBodies(tenantId: TenantId): Promise<void> {
  const of = { tenantId, endpointId: newEndpointId(), id: newDeliveryId(), attempt: 1 };
  const bodies = { requestBody: true, responseBody: Buffer.from("an answer"), days: null };
  await insertBodies(stored.db, of, bodies);
}

async function audited() {
  const { rows } = await stored.db.query(
    "SELECT actor_type, action, details FROM postern.audit_log WHERE tenant_id = $1",
    [acme],
  );
  return rows;
}

describe("what an erasure finds beside a tenant's rows", () => {
  it("goes for good, but for what rows hold or want, and is in the audit log", async () => {
    const gone = [
      await stored.store({ tenantId: acme, state: "expired" }),
      await stored.store({ tenantId: acme, state: "purged" }),
      await stored.orphan({ tenantId: acme }),
    ];
    const left = [
      await stored.store({ tenantId: acme, state: "expired", isHeld: true }),
      await stored.store({ tenantId: acme, state: "pending" }),
      await stored.store({ tenantId: acme, state: "available" }),
      await stored.store({ tenantId: acme, state: "missing" }),
      await stored.store({ tenantId: acme, state: "quarantined" }),
      await stored.store({ tenantId: GLOBEX, state: "expired" }),
      await stored.orphan({ tenantId: GLOBEX }),
    ];
    const held = await stored.store({ tenantId: acme, isHeld: true });
    const inTrash = [held, await stored.orphan({ tenantId: GLOBEX })];
    for (const object of [...inTrash, await stored.orphan({ tenantId: acme })]) {
      await moveToTrash(stored.bucket, object, AT);
    }
    await keepBodies(acme);
    await keepBodies(GLOBEX);

    assert.deepEqual(await erase(), { bodies: 2, versions: 3, trash: 1, reason: null });
    assert.ok(gone.every(({ place }) => !existsSync(place)));
    assert.ok(left.every(({ place }) => existsSync(place)));
    assert.deepEqual(
      (await Array.fromAsync(listTrash(stored.bucket))).map(({ key }) => key).toSorted(),
      inTrash.map(({ key }) => key).toSorted(),
    );
    const { rows } = await stored.db.query("SELECT tenant_id FROM postern.bodies_to_keep");
    assert.deepEqual(
      rows.map(({ tenant_id }) => tenant_id),
      ["globex", "globex"],
    );
    const details = { bodies: 2, versions: 3, trash: 1 };
    const entry = { actor_type: "operator", action: "artifact.erased", details };
    assert.deepEqual(await audited(), [entry]);

    assert.deepEqual(await erase(), { bodies: 0, versions: 0, trash: 0, reason: null });
    assert.equal((await audited()).length, 1);
  });

  it("stays in a bucket that may be another's, but for bodies that wait", async () => {
    const orphan = await stored.orphan({ tenantId: acme });
    await keepBodies(acme);
    await stored.takeOver();
    const { reason, ...counts } = await erase();
    assert.deepEqual(counts, { bodies: 2, versions: 0, trash: 0 });
    assert.match(reason ?? "", /owner mark of another installation/);
    assert.ok(existsSync(orphan.place));
    assert.deepEqual(await audited(), [
      { actor_type: "operator", action: "artifact.erased", details: { bodies: 2, versions: 0, trash: 0 } },
    ]);
  });

  it("goes but for what the store refuses to delete", async () => {
    const orphans = [await stored.orphan({ tenantId: acme }), await stored.orphan({ tenantId: acme })];
    for (let n = 0; n < 2; n++) await moveToTrash(stored.bucket, await stored.orphan({ tenantId: acme }), AT);
    const [first] = orphans.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    const [inTrash] = await Array.fromAsync(listTrash(stored.bucket, first?.key.slice(0, 42)));
    const refused = new Set([first?.key, inTrash?.trashKey]);
    const deleteVersion: Bucket["deleteVersion"] = (version) =>
      refused.has(version.key) ? away() : stored.bucket.deleteVersion(version);
    const end = { bodies: 0, versions: 1, trash: 1, reason: "the store is away" };
    assert.deepEqual(await erase({ deleteVersion }), end);
    assert.deepEqual(await erase(), { bodies: 0, versions: 1, trash: 1, reason: null });
  });

  it("is counted up to where the store went away, and no other error passes for that", async () => {
    await stored.orphan({ tenantId: acme });
    await moveToTrash(stored.bucket, await stored.orphan({ tenantId: acme }), AT);
    const list: Bucket["list"] = (page) =>
      page.prefix?.includes("trash") === true ? away() : stored.bucket.list(page);
    assert.deepEqual(await erase({ list }), {
      bodies: 0,
      versions: 1,
      trash: 0,
      reason: "the store is away",
    });
    assert.deepEqual(await erase(), { bodies: 0, versions: 0, trash: 1, reason: null });
    const counted = (await audited()).map(({ details }) => details);
    assert.deepEqual(
      counted.toSorted((one, other) => one.trash - other.trash),
      [
        { bodies: 0, versions: 1, trash: 0 },
        { bodies: 0, versions: 0, trash: 1 },
      ],
    );
    await assert.rejects(erase({ list: slip }), TypeError);
  });
});
