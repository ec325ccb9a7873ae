import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { freePort } from "../../test/support/free-port.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { endSessions } from "../../test/support/sessions.ts";
import {
  isConnectionLoss,
  isContention,
  isLockConflict,
  isOfTheServer,
  isPassing,
  isRefusedLogin,
} from "./passing-errors.ts";
import { createPool, type Pool } from "./pool.ts";
import { openSession } from "./session.ts";
import { inTransaction } from "./transaction.ts";

let database: TestDatabase;
const pools: Pool[] = [];

before(async () => {
  database = await createTestDatabase();
});

after(async () => {
  for (const pool of pools) await pool.end();
  await database.drop();
});

function open(url: string, poolSize = 2, connectionTimeoutMs = 5000): Pool {
  const pool = createPool({ url, poolSize, connectionTimeoutMs, applicationName: "pool test" });
  pools.push(pool);
  return pool;
}

async function errorOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return assert.fail("expected an error");
}

describe("createPool", () => {
  it("gives int8 as a number, and as a bigint where a number would round", async () => {
    const { rows } = await open(database.url).query(
      "SELECT 9007199254740991::int8 AS safe, 9007199254740993::int8 AS large, ARRAY[1,2]::int8[] AS list, now() AS at",
    );
    assert.equal(rows[0].safe, 9007199254740991);
    assert.equal(rows[0].large, 9007199254740993n);
    assert.ok(rows[0].at instanceof Date);
    const binary = { text: "SELECT 7::int8 AS n", values: [], binary: true };
    assert.equal(String((await open(database.url).query(binary)).rows[0].n), "7");
  });

  it("bounds what a statement, a wait for a lock and an idle transaction take, or nothing where that is off", async () => {
    const limits = `SELECT name, setting::int FROM pg_settings WHERE name = ANY (ARRAY['statement_timeout',
      'lock_timeout', 'idle_in_transaction_session_timeout']) ORDER BY name`;
    const options = {
      url: database.url,
      poolSize: 1,
      connectionTimeoutMs: 5000,
      applicationName: "pool test",
    };
    // An administrator's limits for everybody, which are not for what may take long.
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`ALTER DATABASE ${name} SET statement_timeout = '7s'`);
    await database.pool.query(`ALTER DATABASE ${name} SET lock_timeout = '3s'`);
    const unlimited = createPool({ ...options, statementTimeoutMs: 0 });
    pools.push(unlimited);
    const limitsOf = async (pool: Pool) =>
      (await pool.query<{ setting: number }>(limits)).rows.map(({ setting }) => setting);
    assert.deepEqual(await limitsOf(open(database.url)), [60_000, 5000, 30_000]);
    assert.deepEqual(await limitsOf(unlimited), [60_000, 0, 0]);
    // A server that has gone silent does not say so.
    assert.deepEqual(
      [open(database.url), unlimited].map((pool) => pool.options.query_timeout),
      [35_000, undefined],
    );
  });

  it("reads a query's rows in parts, which a client that sends several queries at once cannot", async () => {
    const inParts = { text: "SELECT n FROM generate_series(1, 3) AS n", rows: 2 };
    assert.deepEqual((await open(database.url).query(inParts)).rows, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    const options = { url: database.url, poolSize: 1, connectionTimeoutMs: 5000, applicationName: "test" };
    const several = createPool({ ...options, pipeline: true });
    pools.push(several);
    await assert.rejects(several.query(inParts), /not supported in pipeline mode/);
  });

  it("cancels a statement that runs past its limit, which is no connection loss", async () => {
    const pool = createPool({
      url: database.url,
      poolSize: 1,
      applicationName: "slow",
      connectionTimeoutMs: 5000,
      statementTimeoutMs: 50,
    });
    pools.push(pool);
    const error = await errorOf(() => pool.query("SELECT pg_sleep(5)"));
    assert.match(String(error), /statement timeout/);
    assert.equal(isConnectionLoss(error), false);
  });

  it("keeps its connections alive, and loses one whose commit no standby has", async (test) => {
    const keepAlive = test.mock.method(Socket.prototype, "setKeepAlive");
    const pool = open(database.url, 1);
    const client = await pool.connect();
    assert.deepEqual(keepAlive.mock.calls[0]?.arguments[0], true);
    client.emit("notice", { routine: "SyncRepWaitForLSN" });
    assert.equal(isConnectionLoss(await errorOf(() => client.query("SELECT 1"))), true);
    client.release(true);
  });

  it("survives the loss of idle and of checked-out connections, and connects anew", async () => {
    const pool = open(database.url);
    const held = await pool.connect();
    await pool.query("SELECT 1");
    // The one that is held and the one that lies idle: the pool learns of each loss by itself.
    const heldEnded = new Promise((resolve) => void held.once("end", resolve));
    const ended = Promise.all([heldEnded, once(pool, "error")]);
    await endSessions(database.pool, { name: "pool test" });
    await ended;
    // The idle one hears of its end in a turn of its own.
    while (pool.idleCount > 0) await new Promise((resolve) => setImmediate(resolve));
    const error = await errorOf(() => held.query("SELECT 1"));
    assert.equal(isConnectionLoss(error), true);
    held.release(true);
    const { rows } = await pool.query("SELECT 1 AS n");
    assert.deepEqual(rows, [{ n: 1 }]);
  });

  it("tells that an idle connection was lost, and nothing once it has ended: a server that stops behind it is no loss", async () => {
    const told: string[] = [];
    const log = { info: () => undefined, warn: (text: string) => void told.push(text) };
    const options = {
      url: database.url,
      poolSize: 1,
      connectionTimeoutMs: 5000,
      applicationName: "pool test",
    };
    const pool = createPool({ ...options, log });
    const client = await pool.connect();
    pool.emit("error", new Error("reset"), client);
    client.release();
    const ended = pool.end();
    pool.emit("error", new Error("terminated"), client);
    await ended;
    assert.deepEqual(told, ["A database connection was lost while idle: reset"]);
  });
});

describe("isConnectionLoss", () => {
  it("recognises a refused connection, also for a name with several addresses", async () => {
    const port = await freePort();
    const refused = await errorOf(() => open(`postgres://x:y@127.0.0.1:${port}/z`).query("SELECT 1"));
    assert.equal(isConnectionLoss(refused), true);
    const several = await errorOf(() => open(`postgres://x:y@localhost:${port}/z`).query("SELECT 1"));
    assert.equal(isConnectionLoss(several), true);
  });

  it("recognises a pool whose connections are all busy for too long", async () => {
    // Long enough for the first connection on a busy machine.
    const pool = open(database.url, 1, 1500);
    const held = await pool.connect();
    assert.equal(isConnectionLoss(await errorOf(() => pool.query("SELECT 1"))), true);
    held.release();
  });

  it("recognises a server that takes connections and does not answer, or hangs up", async () => {
    for (const answer of [(socket: Socket) => socket.resume(), (socket: Socket) => socket.destroy()]) {
      const server = createServer(answer).listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      assert.ok(typeof address === "object" && address !== null);
      const pool = open(`postgres://x:y@127.0.0.1:${address.port}/z`, 1, 200);
      assert.equal(isConnectionLoss(await errorOf(() => pool.query("SELECT 1"))), true);
      server.close();
    }
  });

  it("recognises the end of the own session by an administrator", async () => {
    const kill = "SELECT pg_terminate_backend(pg_backend_pid())";
    assert.equal(isConnectionLoss(await errorOf(() => open(database.url).query(kill))), true);
  });

  it("does not take an ordinary refusal for one", async () => {
    const pool = open(database.url);
    for (const sql of ["SELECT 1 / 0", "SELECT * FROM nowhere", "SELEC"]) {
      assert.equal(isConnectionLoss(await errorOf(() => pool.query(sql))), false);
    }
    assert.equal(isConnectionLoss("ECONNREFUSED"), false);
    assert.equal(isConnectionLoss(new Error("wrapped", { cause: connectionReset() })), true);
  });
});

function raise(code: string): string {
  return `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`;
}

describe("isContention", () => {
  it("recognises what may stop one call and no other", async () => {
    const pool = open(database.url);
    for (const code of ["57014", "55P03", "40P01", "40001"])
      assert.equal(isContention(await errorOf(() => pool.query(raise(code)))), true, code);
    for (const code of ["53100", "53200", "25006"])
      assert.equal(isContention(await errorOf(() => pool.query(raise(code)))), false, code);
    assert.equal(isContention(connectionReset()), false);
  });
});

describe("isLockConflict and isOfTheServer", () => {
  it("recognise their part of what passes, also as a cause, and nothing else", async () => {
    const pool = open(database.url);
    const both = [
      [isLockConflict, ["55P03", "40P01"]],
      [isOfTheServer, ["53100", "53200", "53400", "58030", "25006"]],
    ] as const;
    for (const code of [
      "55P03",
      "40P01",
      "40001",
      "57014",
      "53100",
      "53200",
      "53400",
      "58030",
      "25006",
      "23505",
    ]) {
      const error = await errorOf(() => pool.query(raise(code)));
      for (const [holds, codes] of both) {
        const isExpected = codes.some((one) => one === code);
        assert.equal(holds(error), isExpected, code);
        assert.equal(holds(new Error("wrapped", { cause: error })), isExpected, code);
      }
    }
    assert.equal(isLockConflict(connectionReset()) || isOfTheServer(connectionReset()), false);
  });
});

describe("isPassing", () => {
  it("recognises what a server can't do now, also as a cause, and every connection loss", async () => {
    const pool = open(database.url);
    for (const code of ["57014", "55P03", "40P01", "40001", "53100", "53200", "25006"]) {
      const error = await errorOf(() => pool.query(raise(code)));
      assert.equal(isConnectionLoss(error), false, code);
      assert.equal(isPassing(error), true, code);
      assert.equal(isPassing(new Error("wrapped", { cause: error })), true, code);
    }
    assert.equal(isPassing(connectionReset()), true);
  });

  it("recognises a connection that the server does not open, whatever the reason", async () => {
    const user = `shut_out_${randomUUID().replaceAll("-", "")}`;
    const closed = await createTestDatabase({ migrated: false });
    const urlOf = (of: TestDatabase) =>
      Object.assign(new URL(of.url), { username: user, password: "x" }).href;
    const rolePool = createPool({
      url: urlOf(database),
      poolSize: 1,
      connectionTimeoutMs: 5000,
      applicationName: "pool test",
      role: "postern_worker",
    });
    pools.push(rolePool);
    await database.pool.query(`CREATE ROLE ${user} LOGIN PASSWORD 'x'`);
    try {
      const { pathname } = new URL(closed.url);
      const refusals = [
        ["42501", () => rolePool.query("SELECT 1")],
        [
          "42501",
          () => openSession({ url: urlOf(database), role: "postern_worker", applicationName: "test" }),
        ],
        ["42501", () => open(urlOf(closed)).query("SELECT 1"), "CheckMyDatabase"],
        ["55000", () => open(urlOf(closed)).query("SELECT 1"), "CheckMyDatabase"],
      ] as const;
      await closed.pool.query(`REVOKE CONNECT ON DATABASE ${pathname.slice(1)} FROM PUBLIC`);
      for (const [code, connect, routine] of refusals) {
        if (code === "55000")
          await database.pool.query(`ALTER DATABASE ${pathname.slice(1)} ALLOW_CONNECTIONS false`);
        const error = await errorOf(connect);
        assert.equal(Object(error).code, code);
        // By which `describeMistake` knows it, whatever the server's language.
        if (routine !== undefined) assert.equal(Object(error).routine, routine);
        assert.deepEqual(
          [isPassing(error), isRefusedLogin(error), isConnectionLoss(error)],
          [true, true, false],
        );
      }
    } finally {
      await database.pool.query(`DROP ROLE ${user}`);
      await closed.drop();
    }
  });

  it("does not take a fault of the call for one", async () => {
    const pool = open(database.url);
    for (const sql of ["SELECT 1 / 0", "SELECT * FROM nowhere", raise("23505"), raise("42501")]) {
      assert.equal(isPassing(await errorOf(() => pool.query(sql))), false, sql);
    }
  });
});

function connectionReset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

describe("inTransaction", () => {
  it("commits what the work did and returns its result", async () => {
    const result = await inTransaction(database.pool, async (client) => {
      await client.query("CREATE TABLE committed (n int)");
      await client.query("INSERT INTO committed VALUES (1)");
      return "done";
    });
    assert.equal(result, "done");
    assert.equal((await database.pool.query("SELECT * FROM committed")).rowCount, 1);
  });

  it("rolls back on an error of the work, throws that error, and gives the connection back", async () => {
    const pool = open(database.url, 1);
    await pool.query("CREATE TABLE rolled_back (n int)");
    const failure = new Error("no");
    const thrown = await errorOf(() =>
      inTransaction(pool, async (client) => {
        await client.query("INSERT INTO rolled_back VALUES (1)");
        throw failure;
      }),
    );
    assert.equal(thrown, failure);
    assert.equal((await pool.query("SELECT * FROM rolled_back")).rowCount, 0);
  });

  it("uses a connection again, whether its work succeeded or failed", async () => {
    const pool = open(database.url, 1);
    const pid = async (): Promise<unknown> =>
      (await pool.query("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
    const before = await pid();
    await inTransaction(pool, (client) => client.query("SELECT 1"));
    assert.equal(await pid(), before);
    await assert.rejects(inTransaction(pool, (client) => client.query("SELECT 1 / 0")));
    assert.equal(await pid(), before);
  });

  it("throws away a connection that broke inside", async () => {
    const pool = open(database.url, 1);
    const thrown = await errorOf(() =>
      inTransaction(pool, (client) => client.query("SELECT pg_terminate_backend(pg_backend_pid())")),
    );
    assert.equal(isConnectionLoss(thrown), true);
    assert.equal((await pool.query("SELECT 1")).rowCount, 1);
  });

  it("tells the work's own error where its connection cannot even roll back, and throws that away", async () => {
    const pool = open(database.url, 1);
    const failure = new Error("no");
    const thrown = await errorOf(() =>
      inTransaction(pool, async (client) => {
        await client.query("SELECT pg_terminate_backend(pg_backend_pid())").catch(() => undefined);
        throw failure;
      }),
    );
    assert.deepEqual([thrown, pool.totalCount], [failure, 0]);
  });

  it("throws away a connection that lives and did not roll back, as it is still in the transaction", async (test) => {
    const pool = open(database.url, 1);
    const failure = new Error("no");
    const thrown = await errorOf(() =>
      inTransaction(pool, async (client) => {
        test.mock.method(client, "query", () => Promise.reject(new Error("Query read timeout")));
        throw failure;
      }),
    );
    assert.deepEqual([thrown, pool.totalCount], [failure, 0]);
  });

  it("throws away a connection to a server that takes no writes any more", async () => {
    const pool = open(database.url, 1);
    const statement = "SET TRANSACTION READ ONLY; CREATE TABLE refused (n int)";
    await assert.rejects(
      inTransaction(pool, (client) => client.query(statement)),
      { code: "25006" },
    );
    assert.equal(pool.totalCount, 0);
  });
});
