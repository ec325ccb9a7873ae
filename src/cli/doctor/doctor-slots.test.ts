/** Slots that a killed move has left: each keeps its server's log until somebody drops it. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { startLogicalServer } from "../../../test/support/logical-server.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../../config.ts";
import { joinShards } from "../../shards/join.ts";
import { checkShards } from "./doctor-shards.ts";
import type { Finding } from "./finding.ts";

const NAMES = ["eu1", "eu2"];

let server: Awaited<ReturnType<typeof startLogicalServer>>;
let databases: TestDatabase[];
before(async () => {
  server = await startLogicalServer();
  databases = await Promise.all(NAMES.map(() => createTestDatabase()));
  const marked = databases.map(({ pool }, place) => ({ name: NAMES[place] ?? "", db: pool }));
  await joinShards(marked, NAMES);
});
after(async () => {
  for (const database of databases) await database.drop();
  await server.stop();
});

async function ofSlots(): Promise<Finding[]> {
  const shards = databases.map(({ url }, place) => ({ name: NAMES[place] ?? "", url, weight: 1 }));
  const setting = shards.map(({ name, url }) => `${name}=${url}`).join("|");
  const config = readConfig({ ...makeSecrets(), SHARDS: setting, DATA_DIR: temporaryPath("data") });
  return (await checkShards(config, shards)).filter(({ check }) => check.endsWith(": slots"));
}

it("names slots for single tables that a killed move left, with the statement that drops them", async () => {
  const [source] = databases;
  assert.ok(source !== undefined);
  const sql = async (text: string, values: unknown[] = []) => (await source.pool.query(text, values)).rows;
  const [{ system }] = await sql("SELECT system_identifier::text AS system FROM pg_control_system()");
  // That of another server's subscription is nobody's here.
  const names = [`pg_1_sync_2_${system}`, `pg_1_sync_3_${system}`, "pg_1_sync_2_3"];
  for (const name of names) await sql("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
  const [found, ...others] = await ofSlots();
  assert.deepEqual(others, []);
  assert.ok(found !== undefined && found.status === "warn");
  assert.equal(found.check, "shard eu1: slots");
  assert.equal(
    found.detail,
    `2 replication slots of a move that is over keep the server's log, and nobody reads from them: ${names[0]}, ${names[1]}`,
  );
  await sql(found.fix.slice(found.fix.indexOf("SELECT")));
  assert.deepEqual(await ofSlots(), []);
  assert.deepEqual(await sql("SELECT slot_name AS name FROM pg_replication_slots"), [{ name: names[2] }]);
  await sql("SELECT pg_drop_replication_slot($1)", [names[2]]);
});
