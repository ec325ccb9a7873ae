import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { inTransaction } from "../database/transaction.ts";
import { insertMark, readMark } from "./join-store.ts";
import { joinShards, judgeShards, requireNoShard, type Joining } from "./join.ts";

let one: TestDatabase;
let other: TestDatabase;
let shards: readonly [Joining, Joining];
const NAMES = ["eu1", "eu2"];

before(async () => {
  [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  shards = [
    { name: "eu1", db: one.pool },
    { name: "eu2", db: other.pool },
  ];
});
after(() => Promise.all([one.drop(), other.drop()]));
beforeEach(async () => {
  for (const { pool } of [one, other])
    for (const table of ["shard", "shard_directory", "tenant_settings"])
      await pool.query(`DELETE FROM postern.${table}`);
});

const marks = () => Promise.all(shards.map(({ db }) => readMark(db)));

describe("databases", () => {
  it("become the shards of one installation, the first of which keeps the directory, and stay so", async () => {
    await joinShards(shards, NAMES);
    const [first, second] = await marks();
    assert.deepEqual(first, { name: "eu1", directory: first?.directory, keepsDirectory: true });
    assert.deepEqual(second, { name: "eu2", directory: first?.directory, keepsDirectory: false });
    await joinShards(shards, NAMES);
    assert.deepEqual(await marks(), [first, second]);
    await assert.rejects(joinShards(shards.toReversed(), NAMES), /Put the shards back into their order/);
  });

  it("of which one is none of them are told from it before anything is written", async () => {
    await other.pool.query("INSERT INTO postern.tenant_settings (tenant_id) VALUES ('acme')");
    await assert.rejects(joinShards(shards, NAMES), {
      name: "ConfigError",
      message:
        "The database of the shard eu2 holds tenants already, of which the directory in eu1 does not know.\nGive a new shard an empty database.",
    });
    assert.deepEqual(await marks(), [null, null]);
  });

  it("are none of these shards where another process has made one another's meanwhile", async () => {
    const joining = await inTransaction(other.pool, async (transaction) => {
      await transaction.query("LOCK TABLE postern.shard IN EXCLUSIVE MODE");
      const pid = await pidOf(transaction);
      const refused = assert.rejects(joinShards(shards, NAMES), /SHARDS calls eu2 is the shard us1\./);
      await eventually(async () => (await waitersFor(other.pool, pid)) === 1);
      await insertMark(transaction, { name: "us1", directory: null });
      return { refused };
    });
    await joining.refused;
  });

  it("are judged by what the first one's directory and each one's schema say", async () => {
    await joinShards(shards, NAMES);
    assert.deepEqual(await judgeShards(shards, NAMES), []);
    await one.pool.query(
      "INSERT INTO postern.shard_directory (tenant_id, shard) VALUES ('acme', 'eu3'), ('globex', 'eu3'), ('initech', 'eu2')",
    );
    await other.pool.query("INSERT INTO postern.schema_migrations VALUES (9999, 'newer', repeat('a', 64))");
    try {
      const [behind = "", missing = "", ...more] = await judgeShards(shards, NAMES);
      assert.match(behind, /: eu2 is at 9999, and eu1 is behind\./);
      assert.match(missing, /^Tenants live in shards that SHARDS does not name: eu3 \(2 of them\)\./);
      assert.deepEqual(more, []);
    } finally {
      await other.pool.query("DELETE FROM postern.schema_migrations WHERE version = 9999");
    }
    // One that cannot be reached now has a name all the same.
    assert.deepEqual(await judgeShards(shards, [...NAMES, "eu3"]), []);
  });
});

it("a database that is a shard serves no process that knows no shards", async () => {
  await requireNoShard(one.pool);
  await insertMark(one.pool, { name: "eu1", directory: null });
  await assert.rejects(requireNoShard(one.pool), {
    name: "ConfigError",
    message:
      "This database is the shard eu1 of several.\nSet SHARDS to all of them, and remove DATABASE_URL.",
  });
});
