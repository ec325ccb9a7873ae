import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shardFaults, type ShardFacts } from "./shard-faults.ts";

const DIRECTORY = "00000000-0000-4000-8000-000000000001";

/** Two shards as they are after their first start. */
function shards(...changes: [first?: Partial<ShardFacts>, second?: Partial<ShardFacts>]): ShardFacts[] {
  const [first, second] = changes;
  const mark = { directory: DIRECTORY, keepsDirectory: true };
  const one = { name: "eu1", database: "cluster/eu1", version: 42, mark: { ...mark, name: "eu1" } };
  const other = { name: "eu2", database: "cluster/eu2", version: 42 };
  return [
    { ...one, hasTenants: true, ...first },
    { ...other, mark: { ...mark, name: "eu2", keepsDirectory: false }, hasTenants: true, ...second },
  ];
}
const homes = new Map([["eu1", 2]]);
const names = ["eu1", "eu2"];
const faultsOf = (...changes: Parameters<typeof shards>) => shardFaults(shards(...changes), { homes, names });

describe("databases", () => {
  it("are the shards of one installation as they were marked, and before any was", () => {
    assert.deepEqual(faultsOf(), []);
    assert.deepEqual(faultsOf({ mark: null }, { mark: null, hasTenants: false }), []);
    assert.deepEqual(faultsOf({}, { mark: null, hasTenants: false }), []);
    assert.deepEqual(shardFaults([], { homes: new Map(), names }), []);
  });

  it("are one named twice", () => {
    assert.deepEqual(faultsOf({}, { database: "cluster/eu1" }), [
      "SHARDS names one database twice, as eu1 and as eu2.\nGive each shard a database of its own.",
    ]);
  });

  it("are of two versions", () => {
    assert.deepEqual(faultsOf({}, { version: 41 }), [
      "The shards have different versions of the schema: eu1 is at 42, and eu2 is behind.\n" +
        "Run `postern migrate` of the newest release that was started on them, and start that release.",
    ]);
    const [one, other] = shards({}, { version: 41 });
    assert.ok(one && other);
    const four = [one, other, { ...one, name: "us1" }, { ...other, name: "us2" }];
    assert.match(
      shardFaults(four, { homes, names }).join("\n"),
      /: eu1, us1 is at 42, and eu2, us2 is behind\./,
    );
  });

  it("have each other's names, or another order", () => {
    const [one, other] = shards();
    assert.ok(one?.mark && other?.mark);
    assert.deepEqual(faultsOf({ mark: other.mark }, { mark: one.mark }), [
      "The database that SHARDS calls eu1 is the shard eu2.\nGive each database its former name in SHARDS.",
      "The database that SHARDS calls eu2 is the shard eu1.\nGive each database its former name in SHARDS.",
      "The shard eu1 is first in SHARDS, but another keeps the directory of tenants.\nPut the shards back into their order: the first keeps the directory.",
      "The database of the shard eu2 belongs to another installation's shards.\nName the database that it had, or give a new shard an empty one.",
    ]);
  });

  it("hold tenants that no directory knows", () => {
    assert.deepEqual(faultsOf({}, { mark: null }), [
      "The database of the shard eu2 holds tenants already, of which the directory in eu1 does not know.\nGive a new shard an empty database.",
    ]);
  });

  it("are another installation's", () => {
    const told = [
      "The database of the shard eu2 belongs to another installation's shards.\nName the database that it had, or give a new shard an empty one.",
    ];
    const mark = { name: "eu2", directory: DIRECTORY, keepsDirectory: false };
    assert.deepEqual(faultsOf({}, { mark: { ...mark, directory: DIRECTORY.replace("1", "2") } }), told);
    assert.deepEqual(faultsOf({}, { mark: { ...mark, keepsDirectory: true } }), told);
    assert.deepEqual(faultsOf({ mark: null }, { mark }), told);
  });

  it("are missing where tenants live in them", () => {
    const living = new Map([
      ["eu1", 2],
      ["eu3", 5],
      ["eu4", 1],
    ]);
    assert.deepEqual(shardFaults(shards(), { homes: living, names: [...names, "eu4"] }), [
      "Tenants live in shards that SHARDS does not name: eu3 (5 of them).\n" +
        "Add these shards again; with *0 behind its name a shard takes no new tenants.",
    ]);
    const [first] = shardFaults(shards(), { homes: living, names });
    assert.match(first ?? "", /: eu3 \(5 of them\), eu4 \(1 of them\)\./);
  });
});
