/** Moving a tenant between shards that have standbys: the list of hosts, and a promotion meanwhile. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { Pool } from "../src/database/pool.ts";
import { createEndpoint, publish } from "./support/api.ts";
import { startTask } from "./support/program.ts";
import { startReplicated, type Replicated, type Server } from "./support/replicated-postgres.ts";
import { eventually } from "./support/eventually.ts";
import { delivered, owner, prepareShardTests, producer, type ShardTests } from "./support/shard-programs.ts";
import { moveTenant } from "./support/tenant-moves.ts";

let t: ShardTests;
let replicated: Replicated;
let primary: Server;
let standby: Server;

before(async () => {
  t = await prepareShardTests({ movesTenants: true });
  replicated = await startReplicated(2, { wal_level: "logical" });
  const [one, other] = replicated.servers;
  assert.ok(one && other);
  [primary, standby] = [one, other];
});
afterEach(() => t.end());
after(async () => {
  await replicated.close();
  await t.close();
});

const move = (...words: string[]) => moveTenant(t, ...words);

/** The second of the two shards is the replicated one, and its standby is named first. */
async function begin(database: string) {
  await primary.sql(`CREATE DATABASE ${database}`);
  await t.prepare();
  const [first = ""] = t.shards().setting.split("|");
  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const SHARDS = `${first}|eu2=postgres://postern@${hosts}/${database}`;
  const program = await t.start("up", (env) => ({ ...env, SHARDS }));
  const tid = t.shards().newTenant("eu2");
  const url = `${t.receiver.url}/${tid}`;
  const { id } = (await createEndpoint(program, { url }, { as: owner(tid) })).endpoint;
  await publish(program, "invoice.paid", { as: producer(tid) });
  await delivered(program, { tid, id });
  return { program, tid, id };
}

/** A move out of there waits for the transaction before it holds anything. */
async function holdTransactions(pool: Pool): Promise<() => Promise<void>> {
  const client = await pool.connect();
  await client.query("BEGIN");
  return async () => {
    await client.query("ROLLBACK");
    client.release();
  };
}

async function subscriptionsIn(shard: string) {
  return t.rows(
    shard,
    `SELECT FROM pg_subscription
      WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
}

describe("a move between shards with standbys", () => {
  it("subscribes at the host that accepts writes, and back with what a standby confirms", async () => {
    const { program, tid, id } = await begin("there_and_back");
    const there = await move(tid, "--to", "eu1");
    assert.equal(there.code, 0, there.errors);
    // What the source may forget, the target's standby has.
    const open = await holdTransactions(t.shards().database("eu1").pool);
    const back = startTask(["tenants", "move", tid, "--to", "eu2"], t.settings());
    await eventually(async () => back.output().includes("waiting for attempts"));
    const subscriptions = await primary.sql("SELECT subsynccommit FROM pg_subscription");
    assert.deepEqual(subscriptions, [{ subsynccommit: "on" }]);
    await open();
    await eventually(async () => back.output().includes(`${tid} has moved`));
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id }, 2);
  });

  it("gives itself up when the source's standby was promoted, and leaves the tenant in the source", async () => {
    const { program, tid, id } = await begin("promoted");
    const session = primary.openPool("promoted");
    const letGo = await holdTransactions(session);
    const moving = startTask(["tenants", "move", tid, "--to", "eu1"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    await moving.end("SIGKILL");
    await letGo();
    await session.end();
    await primary.kill();
    await standby.promote();
    assert.equal((await subscriptionsIn("eu1")).length, 1);
    const again = await eventually(async () => {
      const ended = await move(tid, "--to", "eu1");
      return !ended.errors.includes("Another command") && ended;
    });
    assert.equal(again.code, 1, again.output);
    assert.match(again.errors, /eu2 has no replication slot.*\n.*was given up.*Begin again/);
    assert.deepEqual(await subscriptionsIn("eu1"), []);
    assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.tenant_moves"), []);
    assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.count_tenant_rows($1, 10)", [tid]), []);
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id }, 2);
    const there = await move(tid, "--to", "eu1");
    assert.equal(there.code, 0, there.errors);
    await publish(program, "invoice.paid", { as: producer(tid) });
    await delivered(program, { tid, id }, 3);
  });

  it("gives itself up when its slot is gone while it runs", async () => {
    const program = await t.begin();
    const { one } = await t.twoEndpoints(program);
    const letGo = await holdTransactions(t.shards().database("eu1").pool);
    const moving = startTask(["tenants", "move", one.tid, "--to", "eu2"], t.settings());
    await eventually(async () => moving.output().includes("waiting for attempts"));
    const [subscription] = await t.rows("eu2", "SELECT subname FROM pg_subscription");
    const alter = `ALTER SUBSCRIPTION ${String(subscription?.["subname"])}`;
    await t.rows("eu2", `${alter} DISABLE`);
    await eventually(async () => {
      const [slot] = await t.rows("eu1", "SELECT active FROM pg_replication_slots");
      return slot?.["active"] === false;
    });
    await t.rows("eu1", "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots");
    await t.rows("eu2", `${alter} ENABLE`);
    await letGo();
    await eventually(async () => moving.errors().includes("was given up"));
    assert.deepEqual(await subscriptionsIn("eu2"), []);
    assert.deepEqual(await t.rows("eu1", "SELECT * FROM postern.tenant_moves"), []);
    await publish(program, "invoice.paid", { as: producer(one.tid) });
    await delivered(program, one);
  });
});
