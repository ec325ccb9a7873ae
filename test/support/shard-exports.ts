/** Exports of tenants in several shards, each of which has a bucket of its own. */
import assert from "node:assert/strict";
import * as z from "zod";
import { createEndpoint, publish } from "./api.ts";
import { runProgram, type Program } from "./program.ts";
import { eventually } from "./eventually.ts";
import { delivered, ok, owner, producer, type ShardTests } from "./shard-programs.ts";

const created = z.object({ id: z.string() });
const status = z.object({ status: z.string(), object_id: z.string().nullable() });
const link = z.object({ url: z.string() });

/** An export in each shard is in its bucket and is had by its link; comparing finds it there, and looks into no other. */
export async function requireOwnBuckets(
  tests: ShardTests,
  program: Program,
  buckets: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [shard, bucket] of Object.entries(buckets)) {
    assert.equal(await exportIn(tests, program, shard), bucket);
  }
  for (const [shard, bucket] of Object.entries(buckets)) {
    const marks = await tests.rows(shard, "SELECT bucket, trouble FROM postern.storage_buckets");
    assert.deepEqual(marks, [{ bucket, trouble: null }]);
  }
  await program.end("SIGTERM");
  for (const shard of Object.keys(buckets)) {
    const { SHARDS: _, ...settings } = tests.settings();
    const env = { ...settings, DATABASE_URL: tests.shards().database(shard).url };
    const { code, output } = await runProgram(["storage", "reconcile"], env);
    assert.equal(code, 0, output);
    const found = await tests.rows(shard, "SELECT bucket FROM postern.storage_buckets");
    assert.equal(found.length, 1, "it has looked into another bucket");
    const [row] = await tests.rows(shard, "SELECT state FROM postern.stored_objects");
    assert.equal(row?.["state"], "available");
  }
}

/** Of a new tenant. Answers the bucket that its row names, after the file was had by its link. */
async function exportIn(tests: ShardTests, program: Program, shard: string): Promise<unknown> {
  const tid = tests.shards().newTenant(shard);
  const as = owner(tid);
  const { endpoint } = await createEndpoint(program, { url: `${tests.receiver.url}/${tid}` }, { as });
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
  const made = await program.call("POST", `/api/storage/objects/${objectId}/download`, {
    as,
    json: { delivery_id: id },
  });
  const answer = await fetch(link.parse(made.body).url);
  assert.equal(answer.status, 200);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(bytes.subarray(0, 2).toString(), "PK");
  const [row] = await tests.rows(shard, "SELECT bucket FROM postern.stored_objects WHERE id = $1", [
    objectId,
  ]);
  return row?.["bucket"];
}
