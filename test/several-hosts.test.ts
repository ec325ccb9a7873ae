/** Connections by a list of hosts, to servers that replicate: which one is written to, and which never again. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { durabilityTrouble } from "../src/database/replication/durability.ts";
import { requireHosts } from "../src/database/hosts/host-list.ts";
import { Hosts, hostsOf } from "../src/database/hosts/hosts.ts";
import { isConnectionLoss, isConnectionSpent } from "../src/database/passing-errors.ts";
import { createPool, type Pool } from "../src/database/pool.ts";
import { readReplication } from "../src/database/replication/replication-store.ts";
import { openTimelineFolder } from "../src/database/hosts/timeline-folder.ts";
import { inTransaction } from "../src/database/transaction.ts";
import { type Replicated, type Server, startReplicated } from "./support/replicated-postgres.ts";
import { eventually } from "./support/eventually.ts";

let replicated: Replicated;
let first: Server;
let second: Server;
let pool: Pool;

before(async () => {
  replicated = await startReplicated();
  const [one, other] = replicated.servers;
  assert.ok(one && other);
  [first, second] = [one, other];
  await first.sql("CREATE TABLE written (by text)");
  await first.sql("CREATE ROLE narrow");
  pool = open(replicated.url);
});
after(async () => {
  await pool.end();
  await replicated.close();
});

function open(url: string): Pool {
  return createPool({ url, poolSize: 2, applicationName: "hosts test", connectionTimeoutMs: 10_000 });
}

const reversed = () =>
  `postgres://postern@${replicated.servers
    .toReversed()
    .map(({ port }) => `127.0.0.1:${port}`)
    .join(",")}/postern`;

async function portOf(db: Pool): Promise<number> {
  const { rows } = await db.query<{ port: number }>("SELECT current_setting('port')::int AS port");
  return rows[0]?.port ?? 0;
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error, "it was expected to fail");
  return error;
}

describe("a pool with several hosts", () => {
  it("connects to the one that accepts writes, wherever it is named", async () => {
    assert.equal(await portOf(pool), first.port);
    const other = open(reversed());
    assert.equal(await portOf(other), first.port);
    await other.end();
  });

  it("knows how each host is", () => {
    assert.deepEqual(
      hostsOf(replicated.url)
        ?.states()
        .map(({ name, refusal }) => [name, refusal]),
      [
        [`127.0.0.1:${first.port}`, null],
        [`127.0.0.1:${second.port}`, "is a standby"],
      ],
    );
  });

  it("throws a connection away whose server takes no writes any more", async () => {
    const client = await pool.connect();
    await client.query("SET default_transaction_read_only = on");
    client.release();
    const error = await errorOf(
      inTransaction(pool, (db) => db.query("INSERT INTO written VALUES ('spent')")),
    );
    assert.ok(isConnectionSpent(error), error.message);
    await inTransaction(pool, (db) => db.query("INSERT INTO written VALUES ('anew')"));
  });

  it("uses a host beside others that do not exist, and says why none does where all are unknown", async () => {
    const hosts = hostsOf(`postgres://postern@nowhere.invalid,127.0.0.1:${first.port}/postern`);
    assert.equal((await hosts?.pick())?.host.name, `127.0.0.1:${first.port}`);
    const error = await errorOf(open("postgres://postern@one.invalid,other.invalid/postern").query("SELECT"));
    assert.match(
      error.message,
      /^no host of DATABASE_URL accepts writes: one\.invalid:5432 cannot be used: ./,
    );
    assert.ok(isConnectionLoss(error));
  });

  it("refuses two primaries that have nothing to do with each other", async () => {
    const stranger = await startReplicated(1);
    const [server] = stranger.servers;
    const error = await errorOf(
      open(`postgres://postern@127.0.0.1:${first.port},127.0.0.1:${server?.port}/postern`).query("SELECT"),
    );
    await stranger.close();
    assert.match(error.message, /^The hosts of DATABASE_URL are different databases/);
  });
});

describe("a synchronous standby", () => {
  it("is what DURABILITY=standby demands", async () => {
    const wanting = async () => durabilityTrouble(await readReplication(pool));
    assert.equal(await wanting(), null);
    const narrow = await pool.connect();
    await narrow.query("SET ROLE narrow");
    assert.match(durabilityTrouble(await readReplication(narrow))?.fix ?? "", /GRANT pg_read_all_stats/);
    await narrow.query("RESET ROLE");
    await narrow.query("SET synchronous_commit = local");
    assert.match(
      durabilityTrouble(await readReplication(narrow))?.detail ?? "",
      /synchronous_commit is local/,
    );
    narrow.release(true);
    await second.kill();
    assert.match((await eventually(wanting)).detail, /^no synchronous standby follows/);
    await second.start();
    await eventually(async () => (await wanting()) === null);
  });

  it("has each commit that is answered: one whose wait for it is cancelled fails", async () => {
    await second.kill();
    const written = errorOf(pool.query("INSERT INTO written VALUES ('alone')"));
    const begun = errorOf(inTransaction(pool, (db) => db.query("INSERT INTO written VALUES ('alone')")));
    const admin = first.openPool();
    const waiting = await eventually(async () => {
      const { rows } = await admin.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return rows.length === 2 && rows;
    });
    for (const { pid } of waiting) await admin.query("SELECT pg_cancel_backend($1)", [pid]);
    const error = await written;
    const refusal = "no standby has confirmed the commit";
    assert.deepEqual([error.message, (await begun).message], [refusal, refusal]);
    await admin.end();
    await second.start();
    assert.ok(isConnectionLoss(error));
  });
});

describe("a former primary that goes on", () => {
  it("is never written to again, by this process nor by one that starts later", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "postern-hosts-"));
    const log = { info: () => undefined, warn: (message: string) => assert.fail(message) };
    const start = () => {
      const hosts = new Hosts(requireHosts(replicated.url));
      hosts.remember(openTimelineFolder(dataDir, log));
      return hosts;
    };
    assert.equal((await start().pick()).host.name, `127.0.0.1:${first.port}`);
    assert.equal(await portOf(pool), first.port);

    await second.promote();
    await hostsOf(replicated.url)?.look();
    // What was cut off a moment ago may be taken from the pool once.
    await eventually(async () => (await portOf(pool).catch(() => null)) === second.port);
    await eventually(async () => {
      const open = await first.sql("SELECT FROM pg_stat_activity WHERE application_name = 'hosts test'");
      return open.length === 0;
    });
    assert.equal((await start().pick()).host.name, `127.0.0.1:${second.port}`);
    assert.deepEqual(
      (await readdir(join(dataDir, "timelines"))).map((name) => name.split(".")[1]),
      ["2"],
    );

    await second.kill();
    // One may have been idle when its server died.
    await eventually(async () => (await errorOf(portOf(pool))).message.includes("is on timeline 1"));
    const error = await errorOf(start().pick());
    assert.match(error.message, /is on timeline 1, and a newer primary on timeline 2 was seen/);
    assert.ok(isConnectionLoss(error));

    await second.start();
    await eventually(async () => (await portOf(pool).catch(() => null)) === second.port);
    await rm(dataDir, { recursive: true });
  });
});
