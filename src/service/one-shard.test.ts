import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { freePort } from "../../test/support/free-port.ts";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { NO_REQUEST, POSTERN } from "../audit/audit-entry.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { isMisrouted } from "../database/residence.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { Directory } from "../shards/directory.ts";
import { newEndpointId } from "../shared/id.ts";
import type { Log } from "../telemetry/log.ts";
import { makeShardParts, reach } from "./one-shard.ts";
import { makeProcessParts } from "./process-parts.ts";

async function until(holds: () => boolean): Promise<void> {
  const endsAt = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < endsAt, "it waits for too long");
    await new Promise(setImmediate);
  }
}

it("a shard that answers no more, and again, is told by its name", async (test) => {
  const [database, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const letIn = (is: boolean) =>
    other.pool.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} ALLOW_CONNECTIONS ${is}`);
  const { log, lines } = makeKeptLog();
  const waits = holdWaits("all");
  await letIn(false);
  const { db, pulse } = reach({ name: "eu9", url: database.url, weight: 1 }, { log });
  test.after(async () => {
    releaseWaits();
    await pulse.stop();
    await db.end();
    await Promise.all([database.drop(), other.drop()]);
  });
  pulse.start();
  await until(() => waits.length === 1);
  assert.deepEqual([lines, pulse.isAway()], [[], false]);
  waits[0]?.end();
  await until(() => waits.length === 2);
  assert.deepEqual([lines, pulse.isAway()], [[{ level: 50, shard: "eu9" }], true]);
  await letIn(true);
  await until(() => {
    waits.at(-1)?.end();
    return lines.length === 2;
  });
  assert.deepEqual([lines[1], pulse.isAway()], [{ level: 30, shard: "eu9" }, false]);
});

it("a shard that was away at the start is so, though it answers, until it is known to be the right one", async (test) => {
  const joined = Promise.withResolvers<void>();
  const { log } = makeKeptLog();
  const absentShards = new Map([["eu9", joined.promise]]);
  const reached = ["eu9", "eu1"].map((name) =>
    reach({ name, url: "postgres://127.0.0.1:1/postern", weight: 1 }, { log, absentShards }),
  );
  test.after(() => Promise.all(reached.map(({ db }) => db.end())));
  const areAway = () => reached.map(({ pulse }) => pulse.isAway());
  assert.deepEqual(areAway(), [true, false]);
  joined.resolve();
  await joined.promise;
  assert.deepEqual(areAway(), [false, false]);
});

it("the directory's look is over before a caller's patience", async (test) => {
  const database = await createTestDatabase();
  const { log } = makeKeptLog();
  const { db } = reach({ name: "eu9", url: database.url, weight: 1 }, { log });
  test.after(async () => {
    await db.end();
    await database.drop();
  });
  assert.deepEqual((await db.query("SHOW statement_timeout")).rows, [{ statement_timeout: "5s" }]);
});

const ALL = { endpointId: null, status: null };
const eraseElsewhere = () => Promise.reject(new Error("nothing is erased"));

/** The parts of a shard at this URL, of which the directory knows no tenant. */
async function openShard(url: string, log: Log) {
  const options = {
    config: readConfig({ ...makeSecrets(), DATABASE_URL: url, DATA_DIR: temporaryPath("data") }),
    catalog: await openCatalog(undefined),
    databaseUrl: url,
    migrations: [],
    roles: new Set(["api"] as const),
    log,
  };
  const process = await makeProcessParts(options);
  const shard = { name: "eu9", url, weight: 1 };
  const { db, pulse } = reach(shard, { log });
  const directory = new Directory({
    first: "eu9",
    shards: new Map([["eu9", { db, pulse }]]),
    choose: () => "eu9",
    log,
  });
  const own = { shard, isFirst: true, directory, pulse, eraseElsewhere };
  const { parts, api } = await makeShardParts(options, process, own);
  const close = async (): Promise<void> => {
    await parts.heartbeat.stop();
    await parts.close();
    await process.close();
    await db.end();
  };
  return { parts, api, close };
}

it("what a shard's own parts log, and its part of the API, names the shard", async (test) => {
  const { log, lines } = makeKeptLog();
  const url = `postgres://127.0.0.1:${await freePort()}/postern`;
  const { parts, api, close } = await openShard(url, log);
  test.after(close);
  parts.heartbeat.start();
  await until(() => lines.length > 0);
  assert.deepEqual(lines.splice(0), [{ level: 40, shard: "eu9" }]);
  test.mock.timers.enable({ apis: ["setTimeout"] });
  const watching = assert.rejects(api.logTail.watch(tenant("acme"), ALL, Object({})), {
    code: "unavailable",
  });
  await until(() => lines.length > 0);
  test.mock.timers.tick(5000);
  await watching;
  await api.logTail.close();
  assert.deepEqual(new Set(lines.map((line) => line["shard"])), new Set(["eu9"]));
});

it("a shard takes no call for itself of a tenant of whom its process does not know where it lives", async (test) => {
  const database = await createTestDatabase();
  const { parts, api, close } = await openShard(database.url, makeKeptLog().log);
  test.after(async () => {
    await close();
    await database.drop();
  });
  const nobody = tenant("nobody");
  const endpointId = newEndpointId();
  const wanted = { limit: 1, waitMs: 0, signal: new AbortController().signal };
  const caller = { tenantId: nobody, ...NO_REQUEST, actor: POSTERN, subject: "ada", permissions: [] };
  const id = randomUUID();
  for (const [name, call] of Object.entries({
    "a statement": () => parts.pools.residents.of(nobody).query("SELECT"),
    "a lease": () => api.fetches.lease(nobody, endpointId, wanted),
    "an acknowledgement": () => api.fetches.acknowledge(nobody, endpointId, { leaseId: id, acks: [] }),
    "a stream": () => api.logTail.watch(nobody, ALL, Object({})),
    "a library": () => api.downloads.library(nobody, { after: null, limit: 1 }),
    "an artifact": () => api.downloads.get(nobody, id),
    "a link": () => api.downloads.issueLink(caller, { objectId: id, deliveryId: id, ttlSeconds: 60 }),
    "an erasure": () => api.artifactChanges.erase(caller, id),
    "a hold": () => api.artifactChanges.hold(caller, id, true),
  }))
    await assert.rejects(call, isMisrouted, name);
  await api.logTail.close();
});
