import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { away, eachStored, slip, type Stored } from "../../../test/support/stored.ts";
import { tenant } from "../../../test/support/two-tenants.ts";
import type { TenantId } from "../../shared/id.ts";
import type { Bucket } from "../bytes/bucket.ts";
import { eraseObjectsOf } from "./erase-objects.ts";
import { listTrash, moveToTrash } from "./trash.ts";

const AT = "2026-03-01T12:00:00.000Z";
const GLOBEX = tenant("globex");

let stored: Stored;
let acme: TenantId;
eachStored((opened) => {
  stored = opened;
  // Its rows are its own in whatever bucket, so each test has another.
  acme = tenant(`acme-${randomUUID()}`);
});

const erase = (most: number, bucket: Partial<Bucket> = {}, buckets = [stored.bucket.name]) =>
  eraseObjectsOf({ db: stored.db, bucket: { ...stored.bucket, ...bucket } }, acme, { most, buckets });

const own = (state: "available" | "expired" | "pending" | "quarantined" = "available") =>
  stored.store({ tenantId: acme, state });

describe("the erasure of a tenant's objects", () => {
  it("takes so many at most, whatever rows say of them, then the trash, and of no other tenant", async () => {
    const objects = [await own(), await own("pending"), await stored.orphan({ tenantId: acme })];
    const others = [await stored.store({ tenantId: GLOBEX }), await stored.orphan({ tenantId: GLOBEX })];
    for (const tenantId of [acme, acme, GLOBEX]) {
      await moveToTrash(stored.bucket, await stored.orphan({ tenantId }), AT);
    }
    const left = async () => [
      objects.filter(({ place }) => existsSync(place)).length,
      (await Array.fromAsync(listTrash(stored.bucket))).length,
    ];
    for (const [most, erased, rest] of [
      [2, 2, [1, 3]],
      [2, 2, [0, 2]],
      [2, 1, [0, 1]],
      [2, 0, [0, 1]],
    ] as const) {
      assert.deepEqual(await erase(most), { erased, trouble: null });
      assert.deepEqual(await left(), rest);
    }
    assert.ok(others.every(({ place }) => existsSync(place)));
  });

  it("counts what is gone from the trash by itself as nothing", async () => {
    for (let n = 0; n < 2; n++) await moveToTrash(stored.bucket, await stored.orphan({ tenantId: acme }), AT);
    let gone = 1;
    const head: Bucket["head"] = (request) =>
      request.key.includes("/trash/") && gone-- > 0
        ? Promise.resolve({ found: false })
        : stored.bucket.head(request);
    assert.deepEqual(await erase(2, { head }), { erased: 1, trouble: null });
  });

  it("counts what it took before the store went away", async () => {
    await own();
    await own();
    let left = 1;
    const deleteVersion: Bucket["deleteVersion"] = (version) =>
      left-- > 0 ? stored.bucket.deleteVersion(version) : away();
    const list: Bucket["list"] = (page) => (left < 0 ? away() : stored.bucket.list(page));
    assert.deepEqual(await erase(9, { deleteVersion, list }), { erased: 1, trouble: "the store is away" });
  });

  it("takes the others of the tenant where the store refuses one, and tells why", async () => {
    const objects = [await own(), await own(), await own()];
    await moveToTrash(stored.bucket, await stored.orphan({ tenantId: acme }), AT);
    const [, refused] = objects.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    const deleteVersion: Bucket["deleteVersion"] = (version) =>
      version.key === refused?.key ? away() : stored.bucket.deleteVersion(version);
    const end = { erased: 3, trouble: "the store is away" };
    assert.deepEqual(await erase(9, { deleteVersion }), end);
    assert.deepEqual(
      objects.filter(({ place }) => existsSync(place)),
      [refused],
    );
    assert.deepEqual(await erase(9), { erased: 1, trouble: null });
  });

  it("tries so many at most, and tells why where the store refuses them all", async () => {
    for (let n = 0; n < 3; n++) await own();
    let tries = 0;
    const deleteVersion: Bucket["deleteVersion"] = () => {
      tries++;
      return away();
    };
    assert.deepEqual(await erase(2, { deleteVersion }), { erased: 0, trouble: "the store is away" });
    assert.equal(tries, 2);
  });

  it("tells that the store is away, and lets no other error pass for that", async () => {
    await own();
    assert.deepEqual(await erase(2, { list: away }), { erased: 0, trouble: "the store is away" });
    await assert.rejects(erase(2, { list: slip }), TypeError);
  });
});

describe("the erasure of a tenant's objects in a bucket in doubt", () => {
  it("takes so many at most that rows name, with their own bytes, and purges those rows", async () => {
    const objects = [await own(), await own("expired"), await own()];
    const orphan = await stored.orphan({ tenantId: acme });
    const other = await stored.store({ tenantId: GLOBEX });
    await stored.takeOver();
    assert.deepEqual(await erase(2), { erased: 2, trouble: null });
    const { erased, trouble } = await erase(2);
    assert.equal(erased, 1);
    assert.match(trouble ?? "", /another installation.*\. Left are 0 artifacts, and what no row names$/);
    assert.deepEqual(await Promise.all(objects.map(stored.stateOf)), ["purged", "purged", "purged"]);
    assert.deepEqual(
      [...objects, orphan, other].map(({ place }) => existsSync(place)),
      [false, false, false, true, true],
    );
    assert.equal(await stored.stateOf(other), "available");
  });

  it("names three of those that it left, and says where there are more", async () => {
    for (let n = 0; n < 3; n++) await own(n === 0 ? "pending" : "quarantined");
    await stored.takeOver();
    const key = "v1/t/\\S+/request_body\\.json";
    const three = `Left are 3 artifacts ${key}, ${key}, ${key}, and what no row names$`;
    assert.match((await erase(9)).trouble ?? "", new RegExp(three));
    await own("pending");
    const four = `Left are 4 artifacts ${key}, ${key}, ${key} …, and what no row names$`;
    assert.match((await erase(9)).trouble ?? "", new RegExp(four));
  });

  it("leaves alone what rows say to lie in another bucket", async () => {
    const elsewhere = await own();
    await stored.db.query("UPDATE postern.stored_objects SET bucket = 'elsewhere' WHERE id = $1", [
      elsewhere.id,
    ]);
    const here = await own();
    const { erased, trouble } = await erase(9, {}, ["elsewhere"]);
    assert.equal(erased, 1);
    assert.equal(
      trouble,
      `artifacts are in the bucket elsewhere; OBJECT_STORE_URL is ${stored.bucket.name}. Left are 1 artifacts ${elsewhere.key}, and what no row names`,
    );
    assert.deepEqual([existsSync(elsewhere.place), existsSync(here.place)], [true, false]);
  });

  it("leaves a row as it is that changes meanwhile, for the next step", async () => {
    const changing = await own();
    await stored.takeOver();
    const deleteVersion: Bucket["deleteVersion"] = async (version) => {
      await stored.bucket.deleteVersion(version);
      await stored.db.query("UPDATE postern.stored_objects SET revision = revision + 1 WHERE id = $1", [
        changing.id,
      ]);
    };
    assert.equal((await erase(9, { deleteVersion })).erased, 0);
    assert.equal(await stored.stateOf(changing), "available");
    assert.equal((await erase(9)).erased, 1);
    assert.equal(await stored.stateOf(changing), "purged");
  });
});
