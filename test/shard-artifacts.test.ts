/** Stored artifacts of shards: each has a folder of its own, which no other compares with its rows. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { z } from "zod";
import { createEndpoint, publish } from "./support/api.ts";
import { runProgram } from "./support/program.ts";
import { eventually } from "./support/service.ts";
import {
  delivered,
  ok,
  owner,
  prepareShardTests,
  producer,
  type ShardTests,
} from "./support/shard-programs.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests();
});
afterEach(() => t.end());
after(() => t.close());

const created = z.object({ id: z.string() });
const status = z.object({ status: z.string(), object_id: z.string().nullable() });
const link = z.object({ url: z.string() });

describe("exports of tenants in two shards", () => {
  it("are in the folders of their shards, and are served by links from both", async () => {
    const program = await t.begin();
    for (const shard of ["eu1", "eu2"]) {
      const tid = t.shards().newTenant(shard);
      const as = owner(tid);
      const { endpoint } = await createEndpoint(program, { url: `${t.receiver.url}/${tid}` }, { as });
      await publish(program, "invoice.paid", { as: producer(tid) });
      await delivered(program, { tid, id: endpoint.id });
      const json = {
        from: new Date(Date.now() - 3_600_000).toISOString(),
        to: new Date(Date.now() + 3_600_000).toISOString(),
      };
      const asked = await program.call("POST", "/api/storage/exports", { as, json });
      const { id } = created.parse(asked.body);
      const objectId = await eventually(async () => {
        const { body } = await ok(program.call("GET", `/api/storage/exports/${id}`, { as }), 200);
        const found = status.parse(body);
        assert.notEqual(found.status, "failed", program.output());
        return found.status === "ready" && found.object_id;
      });
      const [row] = await t.rows(shard, "SELECT bucket FROM postern.stored_objects WHERE id = $1", [
        objectId,
      ]);
      assert.equal(row?.["bucket"], shard === "eu1" ? "artifacts" : "artifacts-eu2");
      const made = await program.call("POST", `/api/storage/objects/${objectId}/download`, {
        as,
        json: { delivery_id: id },
      });
      const answer = await fetch(link.parse(made.body).url);
      assert.equal(answer.status, 200);
      assert.equal(
        Buffer.from(await answer.arrayBuffer())
          .subarray(0, 2)
          .toString(),
        "PK",
      );
    }
    for (const shard of ["eu1", "eu2"]) {
      const marks = await t.rows(shard, "SELECT bucket, trouble FROM postern.storage_buckets");
      assert.deepEqual(marks, [{ bucket: shard === "eu1" ? "artifacts" : "artifacts-eu2", trouble: null }]);
    }
    await program.end("SIGTERM");
    for (const shard of ["eu1", "eu2"]) {
      const { SHARDS: _, ...settings } = t.settings();
      const env = { ...settings, DATABASE_URL: t.shards().database(shard).url };
      const { code, output } = await runProgram(["storage", "reconcile"], env);
      assert.equal(code, 0, output);
      const buckets = await t.rows(shard, "SELECT bucket FROM postern.storage_buckets");
      assert.equal(buckets.length, 1, "it has looked into another bucket");
      const [found] = await t.rows(shard, "SELECT state FROM postern.stored_objects");
      assert.equal(found?.["state"], "available");
    }
  });
});
