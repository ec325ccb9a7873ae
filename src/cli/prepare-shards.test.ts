import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { it, type TestContext } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { freePort } from "../../test/support/free-port.ts";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { joinedShards } from "../../test/support/joined-shards.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { temporaryPath } from "../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../config.ts";
import { crashTrouble, readCommitSettings } from "../database/replication/commit-settings.ts";
import { prepareShards } from "./prepare-shards.ts";

const of = joinedShards(["eu1", "eu2"]);

/** Settings by which eu2 is behind a port where nobody listens, and what leads to it once it listens there, but for the first connections. */
async function behind(test: TestContext, refused = 0) {
  const url = new URL(of("eu2").url);
  const { port: databasePort } = url;
  const port = await freePort();
  url.port = String(port);
  const SHARDS = `eu1=${of("eu1").url}|eu2=${url.href}`;
  const config = readConfig({ ...makeSecrets(), SHARDS, DATA_DIR: temporaryPath("data") });
  assert.ok(config.shards !== undefined);
  let came = 0;
  const server = createServer((client) => {
    if (came++ < refused) return void client.destroy();
    const database = connect(Number(databasePort), "127.0.0.1");
    pipeline(client, database, client, () => undefined);
    return undefined;
  });
  test.after(() => server.close());
  return { sharded: { ...config, shards: config.shards }, server, port };
}

it("a shard that is away is told once, also while it is looked for, and once it is back", async (test) => {
  const { sharded, server, port } = await behind(test);
  const { log, lines } = makeKeptLog();
  const toldOf = () => lines.filter((line) => line["shard"] === "eu2" && line["level"] !== 20);
  // A stop waits for the look that is under way.
  const stopped = await prepareShards(sharded, log, 0);
  await stopped.stop();
  const away = { level: 40, shard: "eu2" };
  assert.deepEqual(toldOf(), [away]);
  const waits = holdWaits();
  test.after(releaseWaits);
  const prepared = await prepareShards(sharded, log, 0);
  test.after(() => prepared.stop());
  await eventually(async () => waits.length === 1);
  assert.equal(prepared.url, of("eu1").url);
  assert.deepEqual([...prepared.absent.keys()], ["eu2"]);
  const functions = "SELECT count(*)::int AS there FROM postern.schema_functions";
  const { rows: before } = await of("eu2").pool.query(functions);
  await of("eu2").pool.query("DELETE FROM postern.schema_functions");
  server.listen(port, "127.0.0.1");
  waits[0]?.end();
  await prepared.absent.get("eu2");
  // It is looked for no more.
  await eventually(async () => waits.length === 2);
  waits[1]?.end();
  await eventually(async () => waits.length === 3);
  const news = { level: 30, shard: "eu2" };
  // It may have been away as the others were upgraded.
  const applied = Array.from({ length: before[0]?.there }, () => news);
  const ofCommits = crashTrouble(await readCommitSettings(of("eu2").pool)) === null ? [] : [away];
  assert.deepEqual(toldOf(), [away, away, ...applied, ...ofCommits, news]);
  assert.deepEqual((await of("eu2").pool.query(functions)).rows, before);
});

it("a shard that is another's when it is back is told at each look, and is not worked on before it is the right one", async (test) => {
  const { sharded, server, port } = await behind(test);
  const { log, lines } = makeKeptLog();
  const waits = holdWaits();
  test.after(releaseWaits);
  const prepared = await prepareShards(sharded, log, 0);
  test.after(() => prepared.stop());
  let isJoined = false;
  void prepared.absent.get("eu2")?.then(() => (isJoined = true));
  await eventually(async () => waits.length === 1);
  await of("eu2").pool.query("UPDATE postern.shard SET name = 'eu7'");
  server.listen(port, "127.0.0.1");
  lines.length = 0;
  waits[0]?.end();
  await eventually(async () => waits.length === 2);
  const told = lines.filter((line) => line["level"] === 50);
  assert.deepEqual(
    told.map((line) => line["shard"]),
    ["eu2"],
  );
  assert.match(String(told[0]?.["err"]), /eu7/);
  assert.equal(isJoined, false);
  await of("eu2").pool.query("UPDATE postern.shard SET name = 'eu2'");
  waits[1]?.end();
  await prepared.absent.get("eu2");
});

it("each shard may take as long as the first until it is there", async (test) => {
  const { sharded, server, port } = await behind(test, 1);
  server.listen(port, "127.0.0.1");
  const prepared = await prepareShards(sharded, makeKeptLog().log, 60_000);
  await prepared.stop();
  assert.deepEqual([...prepared.absent.keys()], []);
});

it("each line about a shard's database names the shard", async (test) => {
  const { sharded, server, port } = await behind(test);
  server.listen(port, "127.0.0.1");
  const functions = "DELETE FROM postern.schema_functions WHERE file = 'functions/publish.sql'";
  for (const name of ["eu1", "eu2"]) await of(name).pool.query(functions);
  const { log, lines } = makeKeptLog();
  const prepared = await prepareShards(sharded, log, 0);
  await prepared.stop();
  assert.deepEqual([...new Set(lines.map((line) => line["shard"]))], ["eu1", "eu2"]);
});
