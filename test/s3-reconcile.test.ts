/** Rows and a real object store made to differ, then compared by the worker's job and by the command. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { newExportId } from "../src/shared/id.ts";
import { newKey } from "./support/bucket-contract.ts";
import { seedMany, storageOf, type Export } from "./support/exports.ts";
import { startOnObjectStore, type OnObjectStore } from "./support/object-store.ts";
import { runProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { listen } from "./support/tls-receiver.ts";
import { CREDENTIALS, prepareVersitygw } from "./support/versitygw.ts";

const unavailable = prepareVersitygw();

type Row = { key: string; version_id: string; state: string };

describe("comparing rows with an object store", { skip: unavailable ?? false }, () => {
  let running: OnObjectStore;
  let storage: ReturnType<typeof storageOf>;
  before(async () => {
    // The worker's job rests, so that only the command compares.
    running = await startOnObjectStore({
      storageTimes: { firstPassAfterMs: 86_400_000, expireEveryMs: 100 },
    });
    storage = storageOf(running.service);
    await seedMany(running.service.database.pool, "acme", 5);
  });
  after(() => running?.stop());

  async function newExport(): Promise<Export> {
    return storage.waitFor(await storage.request());
  }

  async function rowOf({ object_id }: Export): Promise<Row> {
    const { rows } = await running.service.database.pool.query(
      "SELECT key, version_id, state FROM postern.stored_objects WHERE id = $1",
      [object_id],
    );
    return rows[0];
  }

  async function put(Key: string, Body: string): Promise<void> {
    await running.client.send(new PutObjectCommand({ Bucket: running.bucket, Key, Body }));
  }

  async function remove(Key: string, VersionId?: string): Promise<void> {
    const version = VersionId === undefined ? {} : { VersionId };
    await running.client.send(new DeleteObjectCommand({ Bucket: running.bucket, Key, ...version }));
  }

  /** Versions and marks of deletion. */
  async function versionsOf(key: string): Promise<number> {
    const { Versions = [], DeleteMarkers = [] } = await running.client.send(
      new ListObjectVersionsCommand({ Bucket: running.bucket, Prefix: key }),
    );
    return Versions.length + DeleteMarkers.length;
  }

  async function compare(...args: string[]): Promise<string> {
    const env = { ...running.service.env, ...CREDENTIALS };
    const { code, output } = await runProgram(["storage", "reconcile", ...args], env);
    assert.equal(code, 0, output);
    return output;
  }

  async function download(found: Export): Promise<number> {
    const json = { delivery_id: found.id };
    return (await storage.call("POST", `/objects/${found.object_id}/download`, { json })).status;
  }

  it("is refused in words where the store cannot be asked", async () => {
    // Whatever credential this machine has.
    const none = { AWS_SHARED_CREDENTIALS_FILE: "/dev/null", AWS_EC2_METADATA_DISABLED: "true" };
    const env = { ...running.service.env, ...none };
    const { code, output } = await runProgram(["storage", "reconcile"], env);
    assert.equal(code, 1);
    assert.match(output, /Stored artifacts can't be reached: .*credentials[^]*postern storage doctor/);
    assert.ok(!output.includes("    at "), output);
  });

  it("tells a reset by the store from one by the database", async () => {
    const server = createServer((socket) => socket.resetAndDestroy());
    const endpoint = `http://127.0.0.1:${await listen(server)}`;
    const OBJECT_STORE_URL = `s3://${running.bucket}?endpoint=${endpoint}&region=us-east-1`;
    const env = { ...running.service.env, ...CREDENTIALS, OBJECT_STORE_URL };
    const { code, output } = await runProgram(["storage", "reconcile"], env);
    server.close();
    assert.equal(code, 1);
    assert.match(output, /Stored artifacts can't be reached: /);
    assert.ok(!output.includes("DATABASE_URL"), output);
  });

  it("tells what was removed, planted, hidden and overwritten, and settles each hours later", async () => {
    const kept = await newExport();
    const removed = await newExport();
    const hidden = await newExport();
    const overwritten = await newExport();
    const [removedRow, hiddenRow, overwrittenRow] = await Promise.all(
      [removed, hidden, overwritten].map(rowOf),
    );
    assert.ok(removedRow && hiddenRow && overwrittenRow);
    await remove(removedRow.key, removedRow.version_id);
    await remove(hiddenRow.key);
    await put(overwrittenRow.key, "somebody else's bytes");
    const planted = newKey();
    await put(planted, "planted");
    await put("notes/read me & co.txt", "not ours");
    await running.age();

    const first = await compare();
    for (const line of [
      `suspect      row_without_object  ${removedRow.key}`,
      `suspect      row_without_object  ${hiddenRow.key}`,
      `suspect      identity_mismatch   ${overwrittenRow.key}`,
      `suspect      object_without_row  ${planted}`,
      "ignored      foreign             notes/read me & co.txt",
    ]) {
      assert.ok(first.includes(line), `${line}\n${first}`);
    }
    assert.match(await compare(), /suspect 4/);
    await running.age();

    const dry = await compare("--dry-run");
    assert.match(dry, /nothing was changed/);
    assert.equal(await versionsOf(planted), 1);
    assert.equal((await rowOf(removed)).state, "available");
    const second = await compare();
    for (const line of [
      `missing      row_without_object  ${removedRow.key}`,
      // The version that the row names is there: only the listing hides it.
      `rearmed      row_without_object  ${hiddenRow.key}`,
      `quarantined  identity_mismatch   ${overwrittenRow.key}`,
      `purge        object_without_row  ${planted}`,
    ]) {
      assert.ok(second.includes(line), `${line}\n${second}`);
      assert.ok(dry.includes(line), `${line}\n${dry}`);
    }
    assert.deepEqual(
      await Promise.all([kept, removed, hidden, overwritten].map(download)),
      [201, 409, 201, 409],
    );
    assert.equal(await versionsOf(planted), 0);
    assert.equal(await versionsOf(overwrittenRow.key), 2);
    const told = ["storage.object.missing", "storage.object.quarantined"];
    await eventually(async () => {
      const { rows } = await running.service.database.pool.query(
        "SELECT type FROM postern.events WHERE type LIKE 'storage.object.%' ORDER BY type",
      );
      return isDeepStrictEqual(
        rows.map(({ type }) => type),
        told,
      );
    });
  });

  it("goes on where an object was renamed, which leaves its version under a mark of deletion", async () => {
    const renamed = await newExport();
    await compare();
    const { key, version_id } = await rowOf(renamed);
    const Key = key.replace(renamed.id, newExportId());
    const CopySource = `${running.bucket}/${key}?versionId=${version_id}`;
    await running.client.send(new CopyObjectCommand({ Bucket: running.bucket, Key, CopySource }));
    await remove(key);
    assert.match(await compare(), /in_flight 2/);
  });
});

describe("the worker of an object store", { skip: unavailable ?? false }, () => {
  it("closes what has reached its deadline, deletes its bytes, and calls it purged", async () => {
    const running = await startOnObjectStore({
      storageTimes: { firstPassAfterMs: 0, reconcileEveryMs: 200, expireEveryMs: 100 },
    });
    try {
      const { service, client, bucket } = running;
      const { pool } = service.database;
      await seedMany(pool, "acme", 5);
      const storage = storageOf(service);
      const found = await storage.waitFor(await storage.request());
      const { url } = await storage.link({ id: found.object_id ?? "", delivery_id: found.id });
      assert.equal((await fetch(url)).status, 200);
      await pool.query("UPDATE postern.stored_objects SET deadline = now()");
      await storage.waitFor(found.id, "expired");
      const state = async () =>
        (await pool.query("SELECT state FROM postern.stored_objects")).rows[0]?.state as unknown;
      await eventually(async () => (await state()) === "expired");
      // A link given out before is good until the bytes go.
      assert.equal((await fetch(url)).status, 200);
      await running.age();
      await eventually(async () => (await fetch(url)).status === 404);
      await eventually(async () => (await state()) === "purged");
      assert.equal((await storage.get(found.id)).status, "expired");
      const left = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: "v1/" }));
      assert.deepEqual([left.Versions ?? [], left.DeleteMarkers ?? []], [[], []]);
      const metrics = async () => (await service.call("GET", "/metrics", { as: null })).text;
      // Counted a moment after the row says it.
      await eventually(async () =>
        /storage_reconcile_decisions_total\{decision="purged"\} 1/.test(await metrics()),
      );
      const text = await metrics();
      assert.match(text, /storage_objects_expired_total 1/);
      assert.match(text, /storage_reconcile_completed_timestamp_seconds [1-9]/);
    } finally {
      await running.stop();
    }
  });
});
