import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { joinedShards } from "../../test/support/joined-shards.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { Pool } from "../database/pool.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { Directory } from "../shards/directory.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeLog } from "../telemetry/log.ts";
import { claimErasure, findErasure, insertErasure, type ErasureRun } from "../tenants/tenant-store.ts";
import { makeEraseElsewhere } from "./erase-elsewhere.ts";

const NAMES = ["eu1", "eu2", "eu3"];
const acme = tenant("acme");
const AWAY = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

const of = joinedShards(NAMES);
const poolOf = (name: string): Pool => of(name).pool;

let run: ErasureRun;
beforeEach(async () => {
  for (const name of NAMES) {
    await poolOf(name).query(
      "DELETE FROM postern.tenant_erasures; DELETE FROM postern.endpoints; DELETE FROM postern.shard_directory",
    );
  }
  await insertErasure(poolOf("eu1"), acme);
  await poolOf("eu1").query("UPDATE postern.tenant_erasures SET lease_until = now() - interval '1 s'");
  const claimed = await claimErasure(poolOf("eu1"), "5f2d8f6e-7c00-4000-8000-000000000001", 30_000);
  assert.ok(claimed !== null);
  run = claimed;
});
/** Whose name is failing does not answer. */
function placesOf({ home = "eu1", failing = {} }: { home?: string; failing?: Record<string, Error> } = {}) {
  const pulseOf = (name: string) => ({
    async guard<T>(work: () => Promise<T>): Promise<T> {
      if (failing[name] !== undefined) throw failing[name];
      return work();
    },
  });
  const shards = new Map(NAMES.map((name) => [name, { db: poolOf(name), pulse: pulseOf(name) }]));
  const log = makeLog("silent");
  return { directory: new Directory({ first: "eu1", shards, choose: () => home, log }), shards };
}

/** One that leads from the first shard. */
const eraserOf = (given?: Parameters<typeof placesOf>[0]) => makeEraseElsewhere("eu1", placesOf(given));

const add = (name: string) => insertEndpoint(poolOf(name), newEndpoint({ tenantId: acme }));

/** A worker of that shard does its part. */
async function finish(name: string, rows: number): Promise<void> {
  await poolOf(name).query(
    `DELETE FROM postern.endpoints;
      UPDATE postern.tenant_erasures SET status = 'finished', finished_at = now(), rows_erased = ${rows},
        objects_erased = ${10 * rows}, trouble = NULL`,
  );
}

const partOf = async (name: string) => (await findErasure(poolOf(name), acme))?.status ?? null;

describe("the other shards' parts of an erasure", () => {
  it("are begun by the time of the erasure, and it goes on once all of them have ended", async () => {
    const erase = eraserOf();
    const notYet = { rows: 0, objects: 0, trouble: "shard eu2 is not done", isAway: false };
    assert.deepEqual(await erase(run), notYet);
    for (const name of ["eu2", "eu3"]) {
      const part = await findErasure(poolOf(name), acme);
      assert.deepEqual([part?.status, part?.requestedAt], ["running", run.requestedAt]);
    }
    await poolOf("eu2").query("UPDATE postern.tenant_erasures SET rows_erased = 1, trouble = 'a lock'");
    assert.deepEqual(await erase(run), {
      rows: 1,
      objects: 0,
      trouble: "shard eu2 is not done: a lock",
      isAway: false,
    });
    await finish("eu2", 2);
    assert.deepEqual(await erase(run), {
      rows: 2,
      objects: 20,
      trouble: "shard eu3 is not done",
      isAway: false,
    });
    await finish("eu3", 3);
    assert.deepEqual(await erase(run), { rows: 5, objects: 50, trouble: null, isAway: false });
  });

  it("begin again where rows came in behind their end", async () => {
    const erase = eraserOf();
    await erase(run);
    await finish("eu2", 2);
    await finish("eu3", 3);
    await add("eu2");
    assert.equal((await erase(run)).trouble, "shard eu2 is not done");
    assert.deepEqual([await partOf("eu2"), await partOf("eu3")], ["running", "finished"]);
    await finish("eu2", 4);
    assert.deepEqual(await erase(run), { rows: 7, objects: 70, trouble: null, isAway: false });
  });

  it("of an earlier erasure that has ended begin anew, and one that runs there first comes to its own end", async () => {
    for (const name of ["eu2", "eu3"]) {
      await insertErasure(poolOf(name), acme);
      await poolOf(name).query("UPDATE postern.tenant_erasures SET requested_at = now() - interval '1 h'");
    }
    await finish("eu2", 9);
    const erase = eraserOf();
    assert.equal((await erase(run)).trouble, "shard eu2 is not done");
    const parts = await Promise.all(["eu2", "eu3"].map((name) => findErasure(poolOf(name), acme)));
    assert.deepEqual(
      parts.map((part) => [
        part?.status,
        part?.rows,
        part?.requestedAt.getTime() === run.requestedAt.getTime(),
      ]),
      [
        ["running", 0, true],
        ["running", 0, false],
      ],
    );
    await finish("eu2", 2);
    await finish("eu3", 9);
    assert.equal((await erase(run)).trouble, "shard eu3 is not done");
    await finish("eu3", 3);
    assert.deepEqual(await erase(run), { rows: 5, objects: 50, trouble: null, isAway: false });
  });

  it("are none in a database that is not the shard which it should be", async () => {
    await poolOf("eu2").query("UPDATE postern.shard SET name = 'us1'");
    assert.equal((await eraserOf()(run)).trouble, "shard eu2 is not done");
    assert.equal(await partOf("eu2"), null);
    await poolOf("eu2").query("UPDATE postern.shard SET name = 'eu2'");
  });

  it("are left to the tenant's home where that is another shard", async () => {
    assert.deepEqual(await eraserOf({ home: "eu3" })(run), {
      rows: 0,
      objects: 0,
      trouble: null,
      isAway: false,
    });
    assert.deepEqual([await partOf("eu2"), await partOf("eu3")], [null, null]);
  });

  it("are left to it also where this process knew another home before", async () => {
    const places = placesOf();
    assert.equal((await places.directory.find(acme)).shard, "eu1");
    const erase = makeEraseElsewhere("eu1", places);
    await poolOf("eu1").query("UPDATE postern.shard_directory SET shard = 'eu3', version = 2");
    assert.deepEqual(await erase(run), { rows: 0, objects: 0, trouble: null, isAway: false });
    assert.deepEqual([await partOf("eu2"), await partOf("eu3")], [null, null]);
  });

  it("wait for a shard or a directory that is away, while the others are begun", async () => {
    for (const error of [AWAY, new Refusal("unavailable")]) {
      assert.deepEqual(await eraserOf({ failing: { eu3: error } })(run), {
        rows: 0,
        objects: 0,
        trouble: "shard eu2 is not done",
        isAway: true,
      });
      await finish("eu2", 2);
      assert.deepEqual(await eraserOf({ failing: { eu3: error } })(run), {
        rows: 2,
        objects: 20,
        trouble: "shard eu3 does not answer",
        isAway: true,
      });
      await poolOf("eu2").query("DELETE FROM postern.tenant_erasures");
    }
    await poolOf("eu1").query("DELETE FROM postern.shard_directory");
    assert.deepEqual(await eraserOf({ failing: { eu1: AWAY } })(run), {
      rows: 0,
      objects: 0,
      trouble: "the directory does not answer",
      isAway: true,
    });
  });

  it("fail with any other fault", async () => {
    const fault = new TypeError("x is not a function");
    await assert.rejects(eraserOf({ failing: { eu3: fault } })(run), fault);
  });
});
