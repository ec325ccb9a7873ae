/** The last steps of a move, each held up in its turn, while nothing but PostgreSQL works: out of eu1 into eu2, which keeps the directory. */
import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { createServer, type Socket } from "node:net";
import { after, afterEach, before, beforeEach, describe, it, mock, type TestContext } from "node:test";
import promises from "node:timers/promises";
import type { PoolClient } from "../src/database/pool.ts";
import { isFetched, publish, readCopyName, readDays, readLeftCopies } from "../src/shards/copy-store.ts";
import { readHomes } from "../src/shards/directory-store.ts";
import { insertMark } from "../src/shards/join-store.ts";
import { foldCounts } from "../src/deliveries/stats-store.ts";
import { findMove, findTablesWithRows, readMarks, setMoving } from "../src/shards/move-store.ts";
import { BROUGHT } from "../src/shards/move-tables.ts";
import { moveTenant, undoMove } from "../src/shards/move.ts";
import { ConfigError } from "../src/shared/config-error.ts";
import { newEventId } from "../src/shared/id.ts";
import { eventually } from "./support/eventually.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { startLogicalServer } from "./support/logical-server.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { listen } from "./support/tls-receiver.ts";
import { seedMovableTenants, tenant } from "./support/two-tenants.ts";

const acme = tenant("acme");
const BEGINS = "INSERT INTO postern.tenant_moves (tenant_id, source, target) VALUES ('acme', 'eu1', 'eu2')";
const LIMIT = { timeout: 60_000 };

let server: Awaited<ReturnType<typeof startLogicalServer>>;
let another: TestDatabase;
let eu1: TestDatabase;
let eu2: TestDatabase;
let told: string[];
let open: PoolClient[];
let writing: Promise<void>;
const over = new AbortController();
before(async () => {
  const { setTimeout: delay } = promises;
  mock.method(promises, "setTimeout", (ms: number) => delay(Math.min(ms, 20)));
  syncBuiltinESMExports();
  server = await startLogicalServer();
  const three = [createTestDatabase(), createTestDatabase(), createTestDatabase()] as const;
  [eu1, eu2, another] = await Promise.all(three);
  await insertMark(eu2.pool, { name: "eu2", directory: null });
  await eu2.pool.query(`INSERT INTO postern.shard_directory (tenant_id, shard) VALUES ('acme', 'eu1');
    ${BEGINS}`);
  await seedMovableTenants(eu1.pool);
  writing = keepWriting();
});
beforeEach(() => void ([told, open] = [[], []]));
afterEach(() => {
  for (const client of open) client.release(true);
});
after(async () => {
  over.abort();
  await writing;
  mock.reset();
  syncBuiltinESMExports();
  await Promise.all([eu1, eu2, another].map((database) => database.drop()));
  await server.stop();
});

/** As in a busy server, a copy soon says how far it is. */
async function keepWriting(): Promise<void> {
  for (; !over.signal.aborted; await promises.setTimeout(20))
    await another.pool.query("SELECT pg_logical_emit_message(false, '', '')");
}

/** Begins a transaction, and answers how to end it. */
async function begin({ pool }: TestDatabase, sql: string) {
  const client = await pool.connect();
  open.push(client);
  await client.query(`BEGIN; ${sql}`);
  return { pid: await pidOf(client), end: () => client.query("COMMIT") };
}

async function move(sourceUrl = eu1.url, run = moveTenant): Promise<void> {
  const begun = await findMove(eu2.pool, acme);
  assert.ok(begun !== null);
  const services = {
    directory: eu2.pool,
    source: { name: "eu1", db: eu1.pool },
    target: { name: "eu2", db: eu2.pool },
    sourceUrl,
    foldCounts,
    tell: (text: string) => void told.push(text),
  };
  return run(services, begun);
}

const isTold = (text: string, times = 1) =>
  eventually(async () => told.filter((one) => one === text).length === times);

/** Between all that comes before the fence, and the fence: its version is asked for there. */
const holdFence = () => begin(eu2, "LOCK TABLE postern.shard_directory IN ACCESS EXCLUSIVE MODE");

async function loseNewEvent(): Promise<void> {
  const id = newEventId();
  await eu1.pool.query(
    `INSERT INTO postern.events SELECT (jsonb_populate_record(e, jsonb_build_object('id', $1::text))).*
      FROM postern.events e WHERE tenant_id = 'acme' LIMIT 1`,
    [id],
  );
  const lose = "UPDATE postern.events SET tenant_id = 'globex' WHERE id = $1";
  await eventually(async () => (await eu2.pool.query(lose, [id])).rowCount === 1);
}

/** As the log's trigger counts a retry; nobody folds it here. */
const countRetry = () =>
  eu1.pool.query(
    `INSERT INTO postern.delivery_counts
      SELECT tenant_id, id, now(), 'retried', 1, 1, 1, 1, gen_random_uuid(), gen_random_uuid()
      FROM postern.endpoints WHERE tenant_id = 'acme' ORDER BY id LIMIT 1`,
  );

const WAITING = "waiting for attempts in flight: the tenant's deliveries wait from now on";
const SWITCHING = "switching: its publishing waits too";
const requireLifted = async () =>
  assert.deepEqual(await readMarks(eu1.pool, acme), { version: 1, moving: true, fenced: false });

describe("a move", () => {
  it("gives itself up where others have the workers of the target's server, since then none would end", async () => {
    const { rows } = await another.pool.query(
      "SELECT current_setting('max_logical_replication_workers')::integer AS most",
    );
    const { most } = rows[0];
    const others = Array.from({ length: most - 1 }, (_, n) => `other_${n}`);
    for (const name of others) {
      await another.pool.query(
        `CREATE SUBSCRIPTION ${name} CONNECTION 'dbname=none' PUBLICATION none WITH (connect = false);
          ALTER SUBSCRIPTION ${name} ENABLE`,
      );
    }
    await assert.rejects(
      move(),
      new ConfigError(
        `The server of eu2 has ${most} workers of logical replication (max_logical_replication_workers), and ${most - 1} are taken by other moves and subscriptions. A move needs 2.\nThe move was given up, and nothing is left of it. Begin again when other moves have ended.`,
      ),
    );
    assert.deepEqual([await findMove(eu2.pool, acme), await readMarks(eu2.pool, acme)], [null, null]);
    for (const name of others) {
      await another.pool.query(
        `ALTER SUBSCRIPTION ${name} DISABLE; ALTER SUBSCRIPTION ${name} SET (slot_name = NONE); DROP SUBSCRIPTION ${name}`,
      );
    }
    await eu2.pool.query(BEGINS);
  });

  it("ends where the target's server hears nothing of the source, and says so", LIMIT, async (test) => {
    const heard: Socket[] = [];
    const silent = createServer((socket) => void heard.push(socket.on("error", () => undefined)));
    test.after(() => silent.close());
    test.after(() => heard.forEach((socket) => socket.destroy()));
    await assert.rejects(
      move(`postgres://somebody@127.0.0.1:${await listen(silent)}/eu1`),
      new ConfigError(
        "The server of eu2 got no answer from eu1 within 15 seconds.\nLet it reach the host and port of eu1's URL in SHARDS, or name another URL in MOVE_FROM_URL. Then run the command again, or undo the move with --undo.",
      ),
    );
    assert.ok(heard.length > 0);
    await move(eu1.url, undoMove);
    await eu2.pool.query(BEGINS);
  });

  it(
    "ends where the source has fallen silent for the target's server meanwhile, and is undone without it",
    LIMIT,
    async (test) => {
      const url = new URL(eu1.url);
      const proxy = await startTcpProxy(Number(url.port));
      test.after(() => proxy.close());
      url.port = String(proxy.port);
      const early = await begin(eu1, "SELECT");
      const failed = assert.rejects(
        move(url.href),
        /^ConfigError: The server of eu2 got no answer from eu1 within 15 seconds\.\n.* again, or undo .*: acme's deliveries wait/,
      );
      await isTold(WAITING);
      proxy.pause();
      await early.end();
      await failed;
      await move(url.href, undoMove);
      proxy.resume();
      assert.deepEqual([await readLeftCopies(eu1.pool), await readLeftCopies(eu2.pool)], [[], []]);
      await eu2.pool.query(BEGINS);
    },
  );

  it(
    "is not undone in the target while another server fetches its copy, as one that was replaced",
    LIMIT,
    async () => {
      const copy = { name: await readCopyName(eu2.pool, acme, "eu2"), tenantId: acme };
      await publish(eu1.pool, copy);
      await another.pool.query(
        `CREATE SUBSCRIPTION replaced CONNECTION '${eu1.url}' PUBLICATION ${copy.name} WITH (connect = false);
        ALTER SUBSCRIPTION replaced SET (slot_name = '${copy.name}'); ALTER SUBSCRIPTION replaced ENABLE`,
      );
      await eventually(() => isFetched(eu1.pool, copy));
      await setMoving(eu1.pool, acme, true);
      await assert.rejects(
        move(eu1.url, undoMove),
        /^ConfigError: Another server than that of eu2 fetches the copy from eu1 .*\nStop that server/,
      );
      // Its deliveries go on.
      assert.equal((await readMarks(eu1.pool, acme))?.moving, false);
      assert.ok((await findMove(eu2.pool, acme)) !== null);
      await another.pool.query(
        "ALTER SUBSCRIPTION replaced DISABLE; ALTER SUBSCRIPTION replaced SET (slot_name = NONE); DROP SUBSCRIPTION replaced",
      );
      await move(eu1.url, undoMove);
      assert.deepEqual(await readLeftCopies(eu1.pool), []);
      await eu2.pool.query(BEGINS);
    },
  );

  it(
    "fails when the copy is stopped by somebody, and is gone on with by the next command",
    LIMIT,
    async () => {
      const early = await begin(eu1, "SELECT pg_current_xact_id()");
      const failed = assert.rejects(
        move(),
        /could not fetch or apply the copy: its log says why\.\n.*run the command again.*--undo/,
      );
      // The slot begins behind all that is open.
      await eventually(async () => (await waitersFor(eu1.pool, early.pid)) === 1);
      const copying = await begin(eu2, "LOCK TABLE postern.header_sets IN EXCLUSIVE MODE");
      await early.end();
      await eventually(async () => told.some((text) => /^copying: [1-9][0-9]* tables left$/.test(text)));
      const name = await readCopyName(eu2.pool, acme, "eu2");
      await eu2.pool.query(`ALTER SUBSCRIPTION ${name} DISABLE`);
      await failed;
      await copying.end();
      assert.equal(told[0], "waiting for open transactions in eu2");
    },
  );

  it(
    "ends where the target's server no longer reaches the source, until it is told where that is",
    LIMIT,
    async () => {
      await assert.rejects(
        move("postgres://somebody@127.0.0.1:1/eu1"),
        /could not fetch or apply the copy: its log says why\.\n.*run the command again.*--undo/,
      );
    },
  );

  it("fails before its fence where the target has lost the body of an event that waits", LIMIT, async () => {
    const early = await begin(eu1, "SELECT");
    const failed = assert.rejects(move(), /The copy in eu2 lacks bodies of events that wait\.\n.*--undo/);
    await isTold(WAITING);
    // A command that was killed got as far as this.
    const name = await readCopyName(eu2.pool, acme, "eu2");
    await eu1.pool.query(`ALTER PUBLICATION ${name} ADD TABLE postern.dispatches WHERE (tenant_id = 'acme')`);
    await eu2.pool.query("UPDATE postern.events SET tenant_id = 'globex'");
    await early.end();
    await failed;
    assert.deepEqual(
      told.filter((text) => !text.startsWith("copying: ")),
      ["waiting for open transactions in eu2", "copying what changed meanwhile", WAITING],
    );
    await requireLifted();
    await eu2.pool.query("UPDATE postern.events SET tenant_id = 'acme'");
  });

  // The dispatches are copied by now: their copy would wait for whoever holds the fence.
  const asksToErase = "INSERT INTO postern.tenant_erasures (tenant_id) VALUES ('acme')";
  for (const [fault, change, takeBack, error] of [
    [
      "the tenant's erasure was asked for meanwhile",
      () => eu1.pool.query(asksToErase),
      () => eu1.pool.query("DELETE FROM postern.tenant_erasures"),
      /acme is being erased, or was since the move began\.\nUndo the move with --undo\./,
    ],
    [
      "the target has lost what it had a moment ago",
      loseNewEvent,
      () => eu2.pool.query("UPDATE postern.events SET tenant_id = 'acme'"),
      /The copy in eu2 lacks 1 of [12] events\.\n.*--undo/,
    ],
    [
      "it has, and the clock of the command's machine is ahead",
      async (t: TestContext) => {
        await loseNewEvent();
        const now = Date.now();
        t.mock.method(Date, "now", () => now + 120_000);
      },
      () => eu2.pool.query("UPDATE postern.events SET tenant_id = 'acme'"),
      /The copy in eu2 lacks 1 of [1-3] events\.\n.*--undo/,
    ],
  ] as const) {
    it(`lifts its fence and fails where ${fault}`, LIMIT, async (t) => {
      const early = await begin(eu1, "SELECT");
      const failed = assert.rejects(move(), error);
      await isTold(WAITING);
      const fence = await holdFence();
      await early.end();
      await isTold(SWITCHING);
      await change(t);
      await fence.end();
      await failed;
      await requireLifted();
      await takeBack();
    });
  }

  it(
    "lifts its fence and tries again where an attempt, a transaction, the copy or the target's answer takes long",
    LIMIT,
    async (t) => {
      // Stands still otherwise, so that on a busy machine no fence takes long by itself.
      let nowMs = performance.now();
      t.mock.method(performance, "now", () => nowMs);
      const takesLong = (text: string) =>
        eventually(async () => {
          nowMs += 100;
          return told.includes(`${text}: trying again`);
        });
      const early = await begin(eu1, "SELECT");
      const moving = move();
      moving.catch(() => undefined);

      await isTold(WAITING);
      let fence = await holdFence();
      await early.end();
      await isTold(SWITCHING);
      await eu1.pool.query(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
        SELECT tenant_id, endpoint_id, postern.uuid_v7(), id, type, 1, now(), now() + interval '1 hour', gen_random_uuid()
        FROM (SELECT e.id AS endpoint_id, v.* FROM postern.endpoints e JOIN postern.events v USING (tenant_id)) AS given
        WHERE tenant_id = 'acme' LIMIT 1`,
      );
      await fence.end();
      await isTold("an attempt has begun: trying again");
      await isTold(WAITING, 2);
      await requireLifted();

      fence = await holdFence();
      await eu1.pool.query(
        "UPDATE postern.dispatches SET claimable_at = now() - interval '1 minute' WHERE NOT held",
      );
      await isTold(SWITCHING, 2);
      const long = await begin(eu1, "SELECT");
      await fence.end();
      await takesLong("a transaction in eu1 takes long");
      await isTold(WAITING, 3);
      await requireLifted();

      fence = await holdFence();
      const applying = await begin(eu2, "LOCK TABLE postern.header_sets IN EXCLUSIVE MODE");
      await long.end();
      await isTold(SWITCHING, 3);
      await eu1.pool.query("INSERT INTO postern.header_sets VALUES ('acme', gen_random_uuid(), '{}', now())");
      await fence.end();
      await takesLong("eu2 is behind");
      await isTold(WAITING, 4);
      await requireLifted();

      fence = await holdFence();
      await applying.end();
      await isTold(SWITCHING, 4);
      // What is copied is there. Only who asks for it waits, as for a host that is gone.
      const silent = await begin(eu2, "LOCK TABLE postern.endpoints IN ACCESS EXCLUSIVE MODE");
      await fence.end();
      await isTold("eu2 does not answer: trying again");
      await isTold(WAITING, 5);
      await requireLifted();

      // A worker goes on with it meanwhile.
      await eu1.pool.query(
        "UPDATE postern.replays SET lease_owner = gen_random_uuid(), lease_until = now() + interval '1 hour'",
      );
      const days = await readDays(eu1.pool);
      // A person retries all the time, and pauses for no move.
      await countRetry();
      fence = await holdFence();
      await silent.end();
      await isTold(SWITCHING, 5);
      await countRetry();
      await fence.end();
      await moving;
      assert.deepEqual((await readHomes(eu2.pool, [acme])).get(acme), { shard: "eu2", version: 2 });
      assert.deepEqual(await readMarks(eu2.pool, acme), { version: 2, moving: false, fenced: false });
      const { rows } = await eu2.pool.query(`SELECT
        (SELECT count(*)::int FROM postern.dispatches WHERE held) AS dispatches,
        (SELECT count(*)::int FROM postern.header_sets) AS sets,
        (SELECT count(*)::int FROM postern.endpoints WHERE NOT moving AND unsettled) AS endpoints,
        (SELECT count(*)::int FROM postern.replays WHERE lease_owner IS NULL) AS replays,
        (SELECT sum(count)::int FROM postern.delivery_stats WHERE cause = 'retried' AND grain = 10) AS retries`);
      // Each retry counts for its endpoint, and for all of them.
      assert.deepEqual(rows, [{ dispatches: 6, sets: 2, endpoints: 1, replays: 1, retries: 4 }]);
      assert.ok((await readDays(eu2.pool)).includes(days[0] ?? ""));
      assert.deepEqual(await findTablesWithRows(eu1.pool, acme, BROUGHT), []);
      assert.deepEqual([await readLeftCopies(eu1.pool), await readLeftCopies(eu2.pool)], [[], []]);
    },
  );
});
