/** A tenant is erased in every shard: also what only passes through others, and whoever is away meanwhile. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import * as z from "zod";
import { erasureObject, tenantRowsObject } from "../src/api/tenant-schemas.ts";
import type { Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { BACKEND, ok, prepareShardTests, type ShardTests } from "./support/shard-programs.ts";
import { tablesWith } from "./support/traces.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

const pathOf = (tid: string) => `/api/tenants/${tid}`;
const erasureOf = async (program: Program, tid: string) => {
  const { body } = await ok(program.call("GET", `${pathOf(tid)}/erasure`, { as: BACKEND }), 200);
  return z.strictObject({ erasure: erasureObject }).parse(body).erasure;
};
const waitsFor = (program: Program, tid: string, what: RegExp) =>
  eventually(async () => what.test((await erasureOf(program, tid)).waiting_for ?? ""));
const waitForEnd = (program: Program, tid: string) =>
  eventually(async () => {
    const erasure = await erasureOf(program, tid);
    return erasure.status === "finished" && erasure;
  });

const KEYS = 100;

describe("the erasure of a tenant with shards", () => {
  it("is refused, and so is its count, while the tenant is being moved", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    await t.rows(
      "eu1",
      "INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ($1, 'eu1', 'eu2')",
      [one.tid],
    );
    for (const query of ["", "?dry_run=true"]) {
      const path = `${pathOf(one.tid)}${query}`;
      const { text } = await ok(program.call("DELETE", path, { as: BACKEND }), 409);
      assert.match(text, /postern tenants move.*--undo.*"tenant_moving"/);
    }
    assert.deepEqual(await t.rows("eu1", "SELECT FROM postern.tenant_erasures"), []);
    await t.rows("eu1", "DELETE FROM postern.tenant_moves");
    await ok(program.call("DELETE", pathOf(one.tid), { as: BACKEND }), 202);
    await waitForEnd(program, one.tid);
  });

  it("reaches its rows in the others, and waits for an event that is being handed over", async () => {
    const program = await t.begin();
    const { other } = await t.twoEndpoints(program);
    // A worker took it that has not stored it yet; the key is of one that was handed over.
    await t.rows(
      "eu1",
      `INSERT INTO postern.handovers (id, tenant_id, shard, type, version, body, lease_until)
        VALUES (postern.uuid_v7(), $1, 'eu2', 'invoice.paid', 1, '{}', now() + interval '1 hour')`,
      [other.tid],
    );
    await t.rows("eu1", `SELECT postern.publish($1, 'invoice.paid', '{"n": 1}', 'key')`, [other.tid]);
    // Stored there, and then deleted here.
    await eventually(async () => {
      const stored = await t.rows("eu2", "SELECT FROM postern.events WHERE tenant_id = $1", [other.tid]);
      const passing = await t.rows(
        "eu1",
        "SELECT FROM postern.outbox UNION ALL SELECT FROM postern.handovers",
      );
      return stored.length === 1 && passing.length === 1;
    });
    const counted = await ok(
      program.call("DELETE", `${pathOf(other.tid)}?dry_run=true`, { as: BACKEND }),
      200,
    );
    const { rows } = tenantRowsObject.parse(counted.body);
    assert.deepEqual([rows["handovers"], rows["idempotency_keys"], rows["endpoints"]], [1, 2, 1]);

    // More than the attempts at home will leave.
    await t.rows(
      "eu1",
      `INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint)
        SELECT $1, n, gen_random_uuid(), '' FROM generate_series(1, $2::int) n`,
      [other.tid, KEYS],
    );
    await ok(program.call("DELETE", pathOf(other.tid), { as: BACKEND }), 202);
    await waitsFor(program, other.tid, /shard eu1 is not done: an event is being handed over/);
    assert.equal((await t.rows("eu1", "SELECT FROM postern.handovers")).length, 1);
    const erasedIn = async (shard: string) => {
      const [row] = await t.rows(shard, "SELECT rows_erased::int AS rows FROM postern.tenant_erasures");
      return Number(row?.["rows"]);
    };
    const atHome = await erasedIn("eu2");
    await t.rows("eu1", "UPDATE postern.handovers SET lease_until = now()");

    const ended = await waitForEnd(program, other.tid);
    // The keys, and the hand-over if it was not stored at home first.
    const inEu1 = await erasedIn("eu1");
    assert.ok(inEu1 > KEYS && ended.rows >= atHome + inEu1, JSON.stringify([ended, atHome, inEu1]));
    const left = (shard: string) => tablesWith(t.shards().database(shard).pool, other.tid);
    assert.deepEqual(await left("eu1"), ["shard_directory", "tenant_erasures"]);
    assert.deepEqual(await left("eu2"), ["audit_log", "shard_tenants", "tenant_erasures"]);
  });

  it("erases what comes into another shard behind the end of its part", async () => {
    const program = await t.begin();
    const { other } = await t.twoEndpoints(program);
    const inEu1 = t.shards().database("eu1").pool;
    // Keeps the whole from ending.
    await t.rows(
      "eu2",
      `INSERT INTO postern.stored_objects (tenant_id, id, storage_tenant_id, delivery_id, attempt, kind, bucket, key,
          size, sha256, content_type, state, state_since, deadline)
        VALUES ($1, postern.uuid_v7(), gen_random_uuid(), postern.uuid_v7(), 1, 'request_body', 'none', 'none', 1, repeat('a', 64),
          'application/json', 'pending', now(), now() + interval '1 day')`,
      [other.tid],
    );
    await ok(program.call("DELETE", pathOf(other.tid), { as: BACKEND }), 202);
    await waitsFor(program, other.tid, /an upload of an artifact is under way/);
    await t.rows("eu1", `SELECT postern.publish($1, 'invoice.paid', '{"n": 1}', 'key')`, [other.tid]);
    await eventually(async () => !(await tablesWith(inEu1, other.tid)).includes("idempotency_keys"));
    await t.rows("eu2", "DELETE FROM postern.stored_objects");
    await waitForEnd(program, other.tid);
    assert.deepEqual(await tablesWith(inEu1, other.tid), ["shard_directory", "tenant_erasures"]);
  });

  it("begins nothing in the database of another installation", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    await t.rows("eu2", "UPDATE postern.shard SET directory = gen_random_uuid()");
    await ok(program.call("DELETE", pathOf(one.tid), { as: BACKEND }), 202);
    await waitsFor(program, one.tid, /shard eu2 is not done/);
    assert.deepEqual(await t.rows("eu2", "SELECT FROM postern.tenant_erasures"), []);
  });

  it("goes on when a shard is back that was away, and begins anew in each when asked again", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    t.shards().proxy("eu2").pause();
    await ok(program.call("DELETE", pathOf(one.tid), { as: BACKEND }), 202);
    await waitsFor(program, one.tid, /shard eu2/);
    t.shards().proxy("eu2").resume();
    await waitForEnd(program, one.tid);
    await ok(program.call("DELETE", pathOf(one.tid), { as: BACKEND }), 202);
    const { requested_at: requestedAt } = await waitForEnd(program, one.tid);
    const [row] = await t.rows("eu2", "SELECT status, requested_at FROM postern.tenant_erasures");
    assert.deepEqual(row, { status: "finished", requested_at: new Date(requestedAt) });
  });
});
