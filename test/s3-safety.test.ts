/** Erasure, trash and renamed objects on a real object store, whose versions and marks of deletion outlive a listing. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { storageTenantId } from "../src/storage/rows/storage-ids.ts";
import { newKey } from "./support/bucket-contract.ts";
import { seedMany, storageOf, type Export } from "./support/exports.ts";
import { startOnObjectStore, type OnObjectStore } from "./support/object-store.ts";
import { runProgram } from "./support/program.ts";
import { tenant } from "./support/two-tenants.ts";
import { CREDENTIALS, prepareVersitygw } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();

type Row = { id: string; key: string; version_id: string; state: string };

const statusOf = async (url: string) => (await fetch(url)).status;

describe("on an object store", { skip: unavailable ?? false }, () => {
  let running: OnObjectStore;
  let storage: ReturnType<typeof storageOf>;
  before(async () => {
    running = await startOnObjectStore({
      storageTimes: { firstPassAfterMs: 86_400_000, expireEveryMs: 86_400_000 },
    });
    storage = storageOf(running.service);
    await seedMany(running.service.database.pool, "acme", 2);
  });
  after(() => running?.stop());

  const run = (...args: string[]) =>
    runProgram(["storage", ...args], { ...running.service.env, ...CREDENTIALS });

  async function rowOf({ object_id }: Pick<Export, "object_id">): Promise<Row> {
    const { rows } = await running.service.database.pool.query(
      "SELECT id, key, version_id, state FROM postern.stored_objects WHERE id = $1",
      [object_id],
    );
    return rows[0];
  }

  /** An available artifact with a link to it. */
  async function newArtifact(): Promise<{ row: Row; url: string }> {
    const found = await storage.waitFor(await storage.request());
    const { url } = await storage.link({ id: found.object_id ?? "", delivery_id: found.id });
    return { row: await rowOf(found), url };
  }

  async function versionsUnder(Prefix: string): Promise<number> {
    const { Versions = [], DeleteMarkers = [] } = await running.client.send(
      new ListObjectVersionsCommand({ Bucket: running.bucket, Prefix }),
    );
    return Versions.length + DeleteMarkers.length;
  }

  async function compareAged(): Promise<string> {
    await running.age();
    const { code, output } = await run("reconcile");
    assert.equal(code, 0, output);
    return output;
  }

  const put = (Key: string, Body: string) =>
    running.client.send(new PutObjectCommand({ Bucket: running.bucket, Key, Body }));
  const hide = (Key: string) => running.client.send(new DeleteObjectCommand({ Bucket: running.bucket, Key }));

  it("erasing deletes the row's own version under a mark of deletion or other bytes, and links end with it", async () => {
    const hidden = await newArtifact();
    const overwritten = await newArtifact();
    const plain = await newArtifact();
    await hide(hidden.row.key);
    await put(overwritten.row.key, "somebody else's bytes");
    const all = [hidden, overwritten, plain];
    assert.deepEqual(await Promise.all(all.map(({ url }) => statusOf(url))), [200, 200, 200]);
    for (const { row } of all) {
      const erased = await run("erase", "--tenant", "acme", "--object", row.id, "--yes");
      assert.equal(erased.code, 0, erased.output);
      assert.match(erased.output, /The bytes of 1 are gone, and links with them/);
    }
    assert.deepEqual(await Promise.all(all.map(({ url }) => statusOf(url))), [404, 404, 404]);
    const output = await compareAged();
    assert.match(output, new RegExp(`purged +purged_due +${plain.row.key}`));
    assert.match(output, new RegExp(`purged +purged_due +${hidden.row.key}`));
  });

  it("comparing looks for the version of what expired under a mark of deletion before it calls it purged", async () => {
    const { row, url } = await newArtifact();
    await running.service.database.pool.query(
      "UPDATE postern.stored_objects SET state = 'expired' WHERE id = $1",
      [row.id],
    );
    await hide(row.key);
    assert.match(await compareAged(), new RegExp(`purge +purge_due +${row.key}`));
    assert.equal(await statusOf(url), 404);
    assert.equal((await rowOf({ object_id: row.id })).state, "expired");
    assert.match(await compareAged(), new RegExp(`purged +purged_due +${row.key}`));
    const { rows } = await running.service.database.pool.query(
      "SELECT type FROM postern.storage_events WHERE key = $1 ORDER BY sequence",
      [row.key],
    );
    assert.deepEqual(
      rows.map(({ type }) => type),
      ["object.purged", "object.purge_confirmed"],
    );
  });

  it("renamed objects are given back to their rows, and objects without a row go to the trash whole", async () => {
    const { row } = await newArtifact();
    const elsewhere = newKey("export");
    const CopySource = `${running.bucket}/${row.key}`;
    await running.client.send(new CopyObjectCommand({ Bucket: running.bucket, Key: elsewhere, CopySource }));
    await running.client.send(
      new DeleteObjectCommand({ Bucket: running.bucket, Key: row.key, VersionId: row.version_id }),
    );
    const planted = newKey();
    await put(planted, "planted");
    await compareAged();
    const second = await compareAged();
    assert.match(second, /1 artifacts have their bytes again/);
    assert.match(second, new RegExp(`purge +object_without_row +${planted}`));
    await compareAged();
    const again = await rowOf({ object_id: row.id });
    assert.equal(again.state, "available");
    assert.notEqual(again.version_id, row.version_id);
    assert.equal(await versionsUnder(planted), 0);
    const listed = await run("trash", "list");
    assert.match(listed.printed, new RegExp(`${planted}\n`));
    const restored = await run("trash", "restore", "--key", planted);
    assert.match(restored.printed, /^1 restored/);
    assert.equal(await versionsUnder(planted), 1);
  });

  it("archives whose rows are lost are adopted, and downloaded as before", async () => {
    const { row } = await newArtifact();
    const { pool } = running.service.database;
    const { rows } = await pool.query(
      "DELETE FROM postern.stored_objects WHERE id = $1 RETURNING delivery_id",
      [row.id],
    );
    const [{ delivery_id }] = rows;
    await pool.query("DELETE FROM postern.storage_exports WHERE id = $1", [delivery_id]);
    const { code, output } = await run("adopt");
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`adopted +${row.key} +acme`));
    const again = await storage.get(delivery_id);
    const { url } = await storage.link({ id: again.object_id ?? "", delivery_id });
    assert.equal(await statusOf(url), 200);
  });

  it("a tenant's erasure takes older versions, marks of deletion and its trash, and leaves what is held", async () => {
    const held = await newArtifact();
    const { row } = await newArtifact();
    await running.service.database.pool.query("UPDATE postern.stored_objects SET hold = true WHERE id = $1", [
      held.row.id,
    ]);
    const own = `v1/t/${storageTenantId(tenant("acme"))}/`;
    await put(row.key, "somebody else's bytes");
    await hide(row.key);
    await put(`${own}d/0190a5b1-7c00-7000-8000-0000000000aa/a/1/request_body.json`, "without a row");
    const erased = await run("erase", "--tenant", "acme", "--all", "--yes");
    assert.equal(erased.code, 1, erased.output);
    assert.match(erased.output, new RegExp(`left +${held.row.id} .*it is held`));
    assert.equal(await versionsUnder(own), 1);
    assert.equal(await statusOf(held.url), 200);
    assert.equal(await versionsUnder(`postern/trash/${own}`), 0);
  });
});
