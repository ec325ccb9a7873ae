/** What a tenant's user, or the operator, does with stored artifacts: with rows in a database and bytes in a folder. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import { Readable } from "node:stream";
import {
  openDirectoryBucket,
  uploadArtifact,
  type DirectoryBucket,
} from "../../../test/support/directory-bucket.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { openTenantPool, type OpenedTenantPool } from "../../../test/support/tenant-pool.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import { Refusal } from "../../shared/refusal.ts";
import { StoreUnavailableError, type Bucket } from "../bytes/bucket.ts";
import { takeOver } from "../upkeep/ownership.ts";
import { findStoredObject } from "../rows/stored-object-store.ts";
import type { StoredObject } from "../rules/stored-object.ts";
import { makeArtifactChanges } from "./artifact-changes.ts";
import { byOperator, byUser } from "./change-artifacts.ts";
import { DEFAULT_LINK_SECONDS, makeDownloads } from "./downloads.ts";
import { eraseArtifacts, eraseOne } from "./erase.ts";
import { holdArtifact } from "./holds.ts";
import { makeStorageSettings } from "./settings.ts";

const ACME = tenant("acme");
const BYTES = Buffer.from("of an attempt");
const USER = {
  tenantId: ACME,
  actor: { type: "user", sub: "jo" },
  requestId: null,
  address: "192.0.2.7",
} as const;
const READER = { ...USER, subject: "jo", permissions: ["settings:read"] };

let database: TestDatabase;
let tenants: OpenedTenantPool;
let folder: DirectoryBucket;
let bucket: Bucket;
let address: "https" | "http" = "https";

before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 2);
  folder = await openDirectoryBucket({ scheme: () => address });
  ({ bucket } = folder);
});
after(async () => {
  await tenants.end();
  await database.drop();
  await folder.close();
});
beforeEach(() =>
  database.pool.query("TRUNCATE postern.stored_objects, postern.storage_grants, postern.audit_log"),
);

/** An artifact whose bytes are there; `state` and what else its row says. */
async function store(state: StoredObject["state"], more: { hold?: boolean; days?: number } = {}) {
  const { id } = await uploadArtifact(database.pool, bucket, { tenantId: ACME, bytes: BYTES });
  if (state !== "pending") {
    await database.pool.query(
      `UPDATE postern.stored_objects SET state = $2, available_at = now(), hold = $3,
          deadline = now() + $4 * interval '1 day' WHERE id = $1`,
      [id, state, more.hold ?? false, more.days ?? 1],
    );
  }
  const object = await findStoredObject(database.pool, ACME, id);
  assert.ok(object !== null);
  return object;
}

async function audited(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    "SELECT actor_type, actor_sub, action, details FROM postern.audit_log ORDER BY id",
  );
  return rows.map(({ actor_type, actor_sub, action, details }) => [actor_type, actor_sub, action, details]);
}

function isThere({ key }: StoredObject): Promise<boolean> {
  return bucket.head({ bucket: bucket.name, key, version_id: null }).then(({ found }) => found);
}

const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;

const asked = (object: StoredObject, ttlSeconds = DEFAULT_LINK_SECONDS) => ({
  objectId: object.id,
  deliveryId: object.delivery_id,
  ttlSeconds,
});

describe("a link", () => {
  const errors: unknown[] = [];
  const log = { error: (text: unknown) => errors.push(text) };
  const issue = (...[caller, link]: Parameters<ReturnType<typeof makeDownloads>["issueLink"]>) =>
    makeDownloads({ tenants, bucket, log: Object(log) }).issueLink(caller, link);

  it("is given for its seconds, and recorded: who got it, for what, until when", async () => {
    const object = await store("available");
    const { url, expiresAt } = await issue(READER, asked(object));
    assert.match(url, new RegExp(`^https://postern.example/files/artifacts/${object.key}\\?`));
    assert.match(url, /X-Amz-Expires=300&/);
    const { id, delivery_id } = object;
    assert.deepEqual(await audited(), [
      ["user", "jo", "artifact.download_granted", { object_id: id, delivery_id, expires_at: expiresAt }],
    ]);
    const { rows } = await database.pool.query(
      "SELECT tenant_id, object_id, expires_at FROM postern.storage_grants",
    );
    assert.deepEqual(rows, [{ tenant_id: ACME, object_id: id, expires_at: new Date(expiresAt) }]);
  });

  it("lasts a week at most, and no longer than its artifact or the credential that signs it", async () => {
    const object = await store("available", { days: 30 });
    assert.match((await issue(READER, asked(object, 604_800))).url, /X-Amz-Expires=604800&/);
    const short = await store("available", { days: 0.01 });
    const { url } = await issue(READER, asked(short, 604_800));
    assert.ok(Number(/X-Amz-Expires=([0-9]+)/.exec(url)?.[1]) <= 864);
    const soon = new Date(Date.now() + 100_000).toISOString();
    const signing = { ...bucket, credentialExpiresAt: async () => soon };
    const limited = await makeDownloads({ tenants, bucket: signing, log: Object(log) }).issueLink(
      READER,
      asked(object),
    );
    assert.ok(Number(/X-Amz-Expires=([0-9]+)/.exec(limited.url)?.[1]) <= 100);
  });

  it("is given to nobody whose record cannot be stored", async () => {
    const object = await store("available");
    const refuse = "CHECK (action <> 'artifact.download_granted') NOT VALID";
    await database.pool.query(`ALTER TABLE postern.audit_log ADD CONSTRAINT nothing_granted ${refuse}`);
    try {
      await assert.rejects(issue(READER, asked(object)), { code: "23514" });
    } finally {
      await database.pool.query("ALTER TABLE postern.audit_log DROP CONSTRAINT nothing_granted");
    }
    const { rowCount } = await database.pool.query("SELECT FROM postern.storage_grants");
    assert.equal(rowCount, 0);
  });

  it("is refused, each reason by its code, and then nothing is recorded", async () => {
    const object = await store("available");
    const reasons: [code: string, caller: typeof READER, link: Parameters<typeof issue>[1]][] = [
      ["not_found", READER, { ...asked(object), objectId: null }],
      ["not_found", READER, { ...asked(object), deliveryId: randomUUID() }],
      ["not_found", { ...READER, tenantId: tenant("globex") }, asked(object)],
      ["forbidden", { ...READER, permissions: [] }, asked(object)],
      ["not_available", READER, asked(await store("pending"))],
      ["not_available", READER, asked(await store("quarantined"))],
      ["gone", READER, asked(await store("expired"))],
      ["gone", READER, asked(await store("available", { days: -1 }))],
    ];
    for (const [code, caller, link] of reasons)
      await assert.rejects(issue(caller, link), refused(code), code);
    const lost = await store("available");
    await bucket.deleteVersion({ key: lost.key, versionId: lost.version_id });
    await assert.rejects(issue(READER, asked(lost)), refused("not_available"));
    const other = await store("available");
    await database.pool.query("UPDATE postern.stored_objects SET size = size + 1 WHERE id = $1", [other.id]);
    await assert.rejects(issue(READER, asked(other)), refused("not_available"));
    // Less than a second is left of it, which no link can last.
    const last = await store("available");
    const deadline = "date_trunc('second', clock_timestamp()) + interval '999 ms'";
    await database.pool.query(`UPDATE postern.stored_objects SET deadline = ${deadline} WHERE id = $1`, [
      last.id,
    ]);
    await assert.rejects(issue(READER, asked(last)), refused("gone"));
    assert.deepEqual(await audited(), []);
    assert.equal((await database.pool.query("SELECT FROM postern.storage_grants")).rowCount, 0);
  });

  it("that leads astray is not given, and the operator is told", async () => {
    const object = await store("available");
    address = "http";
    await assert.rejects(issue(READER, asked(object)), refused("unavailable"));
    address = "https";
    assert.equal(errors.length, 1);
    assert.match(String(errors), /check PUBLIC_URL/);
  });

  it("is to what the library shows, one by one too", async () => {
    const { library, get } = makeDownloads({ tenants, bucket, log: Object(log) });
    const [one, hidden] = [await store("available"), await store("pending")];
    const page = { after: null, limit: 10 };
    assert.deepEqual(
      (await library(ACME, page)).items.map(({ id }) => id),
      [one.id],
    );
    assert.deepEqual((await library(ACME, { ...page, kind: "export" })).items, []);
    assert.deepEqual((await library(tenant("globex"), page)).items, []);
    assert.equal((await get(ACME, one.id)).id, one.id);
    for (const id of [null, hidden.id, randomUUID()])
      await assert.rejects(get(ACME, id), refused("not_found"));
    await assert.rejects(get(tenant("globex"), one.id), refused("not_found"));
  });
});

describe("a hold", () => {
  it("is set and ended, each recorded once", async () => {
    const { id } = await store("available");
    const changes = makeArtifactChanges(tenants, bucket);
    for (const isHeld of [true, true, false, false]) {
      await changes.hold(USER, id, isHeld);
      assert.equal((await findStoredObject(database.pool, ACME, id))?.hold, isHeld);
    }
    assert.deepEqual(await audited(), [
      ["user", "jo", "artifact.hold_set", { object_id: id }],
      ["user", "jo", "artifact.hold_ended", { object_id: id }],
    ]);
    await assert.rejects(changes.hold(USER, randomUUID(), true), refused("not_found"));
  });

  it("is not set while its tenant is being erased, and may end", async () => {
    const { id } = await store("available", { hold: true });
    await database.pool.query("INSERT INTO postern.tenant_erasures (tenant_id) VALUES ($1)", [ACME]);
    const operator = { changing: byOperator(database.pool, ACME), bucket };
    assert.equal(await holdArtifact(operator, id, true), "absent");
    assert.equal(await holdArtifact(operator, id, false), "done");
    assert.equal(await holdArtifact(operator, id, true), "absent");
    await database.pool.query("DELETE FROM postern.tenant_erasures");
    assert.equal(await holdArtifact(operator, id, true), "done");
  });

  it("is not of what is purged, and the operator's is recorded as his", async () => {
    const [gone, kept] = [await store("purged"), await store("expired")];
    const operator = { changing: byOperator(database.pool, ACME), bucket };
    assert.equal(await holdArtifact(operator, gone.id, true), "absent");
    assert.equal(await holdArtifact(operator, kept.id, true), "done");
    assert.deepEqual(await audited(), [["operator", null, "artifact.hold_set", { object_id: kept.id }]]);
  });

  it("is not of what has expired without its bytes, nor of what nobody can look for, and changes no row", async () => {
    const lost = await store("expired");
    await bucket.deleteVersion({ key: lost.key, versionId: lost.version_id });
    const changes = makeArtifactChanges(tenants, bucket);
    await assert.rejects(changes.hold(USER, lost.id, true), refused("gone"));
    assert.deepEqual(await findStoredObject(database.pool, ACME, lost.id), lost);
    // Other bytes under the key are none of its own.
    const others = Buffer.from("others");
    const sha256 = createHash("sha256").update(others).digest("hex");
    await bucket.put({ key: lost.key, size: others.length, sha256, open: () => Readable.from([others]) });
    await assert.rejects(changes.hold(USER, lost.id, true), refused("gone"));
    const kept = await store("expired");
    const away = { ...bucket, head: () => Promise.reject(new StoreUnavailableError("away")) };
    const outOfReach = makeArtifactChanges(tenants, away);
    await assert.rejects(outOfReach.hold(USER, kept.id, true), StoreUnavailableError);
    await outOfReach.hold(USER, (await store("available")).id, true);
    await outOfReach.hold(USER, lost.id, false);
    assert.deepEqual(await findStoredObject(database.pool, ACME, kept.id), kept);
    // Bytes that will return are held for then.
    const missing = await store("missing");
    await bucket.deleteVersion({ key: missing.key, versionId: missing.version_id });
    await changes.hold(USER, missing.id, true);
    assert.equal((await audited()).length, 2);
  });
});

const erase = (id: string, from = bucket) => eraseOne({ changing: byUser(tenants, USER), bucket: from }, id);

describe("the erasure of an artifact", () => {
  it("leaves one that was held since the page was read", async () => {
    const expired = [await store("expired"), await store("expired")];
    const changing = byOperator(database.pool, ACME);
    const outcomes: string[] = [];
    for await (const { artifact, outcome } of eraseArtifacts({ changing, bucket }, null)) {
      outcomes.push(outcome);
      const other = expired.find(({ id }) => id !== artifact.id);
      if (outcome === "erased" && other !== undefined)
        await holdArtifact({ changing, bucket }, other.id, true);
    }
    assert.deepEqual(outcomes, ["erased", "left"]);
    const stays = await Promise.all(expired.map((one) => isThere(one)));
    assert.equal(stays.filter(Boolean).length, 1);
  });

  it("closes it, deletes its bytes, and is recorded", async () => {
    const object = await store("available");
    assert.equal(await erase(object.id), "deleted");
    assert.equal(await isThere(object), false);
    assert.equal((await findStoredObject(database.pool, ACME, object.id))?.state, "expired");
    const { id: object_id, delivery_id, kind } = object;
    assert.deepEqual(await audited(), [["user", "jo", "artifact.erased", { object_id, delivery_id, kind }]]);
    // Expired already: its bytes are looked for again, and that is no change.
    await takeOver({ db: database.pool, bucket });
    assert.equal(await erase(object.id), "deleted");
    assert.equal((await audited()).length, 1);
  });

  it("does not say that bytes are gone in a folder without its owner mark, as where the volume is not mounted", async (test) => {
    const object = await store("available");
    const unmounted = await openDirectoryBucket();
    test.after(() => unmounted.close());
    assert.equal(unmounted.bucket.name, bucket.name);
    assert.equal(await erase(object.id, unmounted.bucket), "waiting");
    assert.ok(await isThere(object));
    assert.equal(await erase(object.id), "deleted");
  });

  it("leaves bytes that are not its own, and waits for a store that is away", async () => {
    const object = await store("available");
    await database.pool.query("UPDATE postern.stored_objects SET etag = 'other' WHERE id = $1", [object.id]);
    assert.equal(await erase(object.id), "waiting");
    assert.ok(await isThere(object));
    const away = { ...bucket, head: () => Promise.reject(new StoreUnavailableError("away")) };
    assert.equal(await erase((await store("available")).id, away), "waiting");
    const kept = { ...bucket, deleteVersion: async () => undefined };
    assert.equal(await erase((await store("available")).id, kept), "waiting");
    const faulty = { ...bucket, head: () => Promise.reject(new TypeError("faulty")) };
    await assert.rejects(erase((await store("available")).id, faulty), TypeError);
  });

  it("is refused of what is held, not whole yet or nobody's", async () => {
    const held = await store("available", { hold: true });
    await assert.rejects(erase(held.id), (error: unknown) => {
      assert.ok(error instanceof Refusal);
      const message = `${held.id} is held: end the hold first`;
      assert.deepEqual(
        [error.code, error.issues],
        ["held", [{ path: ["object_id"], message, code: "held" }]],
      );
      return true;
    });
    for (const state of ["pending", "quarantined"] as const) {
      await assert.rejects(erase((await store(state)).id), refused("not_available"));
    }
    await assert.rejects(erase(randomUUID()), refused("not_found"));
    assert.deepEqual(await audited(), []);
  });

  it("of all says of each what became of it, and why", async () => {
    const held = await store("available", { hold: true });
    const [pending, strange, missing, open] = [
      await store("pending"),
      await store("quarantined"),
      await store("missing"),
      await store("available"),
    ];
    const services = { changing: byOperator(database.pool, ACME), bucket };
    const told = new Map<string, unknown>();
    for await (const { outcome, artifact } of eraseArtifacts(services, null)) {
      told.set(artifact.id, [outcome, "bytes" in artifact ? artifact.bytes : null, artifact.reason]);
    }
    assert.deepEqual(
      [held, pending, strange, missing, open].map(({ id }) => told.get(id)),
      [
        ["left", null, "it is held: end the hold first, by `postern storage hold --end`"],
        ["left", null, "it is not available yet: try again later"],
        ["left", null, "it is quarantined: other bytes than its own are in the bucket, look at them first"],
        ["erased", "deleted", null],
        ["erased", "deleted", null],
      ],
    );
  });

  it("of all leaves what changes meanwhile, and does not record it as erased", async () => {
    const objects = [await store("available"), await store("available")];
    const [first, second] = objects.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    assert.ok(first !== undefined && second !== undefined);
    const told: unknown[] = [];
    const services = { changing: byOperator(database.pool, ACME), bucket };
    for await (const { outcome, artifact } of eraseArtifacts(services, null)) {
      told.push([outcome, artifact.id, artifact.reason]);
      await database.pool.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [
        second.id,
      ]);
    }
    assert.deepEqual(told, [
      ["erased", first.id, null],
      ["left", second.id, "it changed meanwhile: try again"],
    ]);
    assert.ok(await isThere(second));
    assert.equal((await audited()).length, 1);
  });
});

it("a tenant's settings are the defaults until it chooses, and each choice is recorded", async () => {
  const settings = makeStorageSettings(tenants);
  const none = { keepRequestBodies: false, keepResponseBodies: false, artifactDays: null };
  assert.deepEqual(await settings.get(ACME), none);
  const chosen = { keepRequestBodies: true, keepResponseBodies: false, artifactDays: 7 };
  assert.deepEqual(await settings.put(USER, chosen), chosen);
  assert.deepEqual([await settings.get(ACME), await settings.get(tenant("globex"))], [chosen, none]);
  const details = { keep_request_bodies: true, keep_response_bodies: false, artifact_days: 7 };
  assert.deepEqual(await audited(), [["user", "jo", "storage_settings.updated", details]]);
  const changed = { keepRequestBodies: false, keepResponseBodies: true, artifactDays: null };
  await settings.put(USER, changed);
  assert.deepEqual(await settings.get(ACME), changed);
});
