/** The source of a move that was left half-way, and that has another address or password since. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { insertEndpoint } from "../src/endpoints/endpoint-store.ts";
import { lockSubscribing, readMarks } from "../src/shards/move-store.ts";
import { publish } from "./support/api.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { newEndpoint } from "./support/store-inputs.ts";
import { tenant } from "./support/two-tenants.ts";
import { runProgram, startTask } from "./support/program.ts";
import {
  delivered,
  leftoversOf,
  prepareShardTests,
  producer,
  type ShardTests,
} from "./support/shard-programs.ts";
import { eventually } from "./support/eventually.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { holdMoves, rowsOf } from "./support/tenant-moves.ts";

let t: ShardTests;
before(async () => {
  t = await prepareShardTests({ movesTenants: true });
});
afterEach(() => t.end());
after(() => t.close());

/** The target's server has the address of a proxy that is gone. */
async function leaveHalfWay(tid: string): Promise<void> {
  const url = new URL(t.shards().database("eu1").url);
  const proxy = await startTcpProxy(Number(url.port));
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  const letGo = await holdMoves(t);
  const env = { ...t.settings(), MOVE_FROM_URL: url.href };
  const moving = startTask(["tenants", "move", tid, "--to", "eu2"], env);
  await eventually(async () => moving.output().includes("waiting for attempts"));
  await moving.end("SIGKILL");
  await proxy.close();
  await letGo();
}

describe("a move that was left half-way, and whose source has another address since", () => {
  for (const [what, words, home] of [
    ["goes on", ["--to", "eu2"], "eu2"],
    ["is undone", ["--undo"], "eu1"],
  ] as const) {
    it(`${what} with the address that the command is given`, async () => {
      const program = await t.begin();
      const { one } = await t.twoEndpoints(program);
      await leaveHalfWay(one.tid);
      const { code, errors } = await runProgram(["tenants", "move", one.tid, ...words], t.settings());
      assert.equal(code, 0, errors);
      await publish(program, "invoice.paid", { as: producer(one.tid) });
      await delivered(program, one);
      for (const shard of ["eu1", "eu2"]) {
        assert.deepEqual(await leftoversOf(t, shard), [0, 0, 0], shard);
        assert.equal((await rowsOf(t, shard, one.tid)).length > 0, shard === home, shard);
      }
    });
  }

  it("lets deliveries wait as it is undone, until the target gets no more of them and can't send them too", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    await leaveHalfWay(one.tid);
    const { pool } = t.shards().database("eu1");
    const other = await pool.connect();
    await other.query("BEGIN");
    // As another move that asks the source meanwhile.
    await lockSubscribing(other);
    const undoing = startTask(["tenants", "move", one.tid, "--undo"], t.settings());
    const pid = await pidOf(other);
    await eventually(async () => (await waitersFor(pool, pid)) === 1);
    assert.equal((await readMarks(pool, tenant(one.tid)))?.moving, true);
    await other.query("ROLLBACK");
    other.release();
    await eventually(async () => undoing.output().includes("stays in eu1"));
    await publish(program, "invoice.paid", { as: producer(one.tid) });
    await delivered(program, one);
  });

  it("leaves no endpoint waiting that was being added as it was undone", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    await leaveHalfWay(one.tid);
    const { pool } = t.shards().database("eu1");
    const adding = await pool.connect();
    await adding.query("BEGIN");
    await insertEndpoint(adding, newEndpoint({ tenantId: tenant(one.tid) }));
    const undoing = startTask(["tenants", "move", one.tid, "--undo"], t.settings());
    await eventually(async () => undoing.output().includes("waiting for open transactions in eu1"));
    // Meanwhile the others' deliveries go on.
    await publish(program, "invoice.paid", { as: producer(one.tid) });
    await delivered(program, one);
    // Nor is anything of the copy left, as a slot, which would keep the source's log.
    for (const shard of ["eu1", "eu2"]) assert.deepEqual(await leftoversOf(t, shard), [0, 0, 0], shard);
    await adding.query("COMMIT");
    adding.release();
    await eventually(async () => undoing.output().includes("stays in eu1"));
    assert.deepEqual(await t.rows("eu1", "SELECT FROM postern.endpoints WHERE moving"), []);
  });
});
