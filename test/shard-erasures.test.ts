/** A tenant is erased in every shard: also what only passes through others, and whoever is away meanwhile. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { z } from "zod";
import { erasureObject, tenantRowsObject } from "../src/api/tenant-schemas.ts";
import type { Program } from "./support/program.ts";
import { eventually } from "./support/service.ts";
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

describe("the erasure of a tenant with shards", () => {
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

    await ok(program.call("DELETE", pathOf(other.tid), { as: BACKEND }), 202);
    await waitsFor(program, other.tid, /shard eu1 is not done: an event is being handed over/);
    assert.equal((await t.rows("eu1", "SELECT FROM postern.handovers")).length, 1);
    await t.rows("eu1", "UPDATE postern.handovers SET lease_until = now()");

    const ended = await waitForEnd(program, other.tid);
    const [elsewhere] = await t.rows("eu1", "SELECT rows_erased::int AS rows FROM postern.tenant_erasures");
    assert.ok(ended.rows > Number(elsewhere?.["rows"]), JSON.stringify([ended, elsewhere]));
    const left = (shard: string) => tablesWith(t.shards().database(shard).pool, other.tid);
    assert.deepEqual(await left("eu1"), ["shard_directory", "tenant_erasures"]);
    assert.deepEqual(await left("eu2"), ["audit_log", "shard_tenants", "tenant_erasures"]);
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
