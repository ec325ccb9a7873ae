import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend } from "../../../test/support/pretended-server.ts";
import { temporaryPath } from "../../../test/support/temporary.ts";
import { makeSecrets, readConfig } from "../../config.ts";
import { checkDatabase } from "./doctor-checks.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

async function toldOf(settings: Readonly<Record<string, string>>): Promise<string[]> {
  const cases = Object.entries(settings).map(([name, value]) => `WHEN '${name}' THEN '${value}'`);
  const { url } = await pretend(database, [
    `FUNCTION current_setting(text) RETURNS text
      RETURN CASE $1 ${cases.join(" ")} ELSE pg_catalog.current_setting($1) END`,
  ]);
  const env = { ...makeSecrets(), DATABASE_URL: url, DATA_DIR: temporaryPath("data") };
  const found = (await checkDatabase(readConfig(env))).filter(({ check }) => check === "vacuum");
  return found.map((finding) => `${finding.status} ${finding.detail} → ${Object(finding).fix}`);
}

it("names what keeps dead rows from being removed, and is silent where nothing does", async () => {
  const dead = "warn nothing removes the queue's dead rows, so each look at it takes longer";
  assert.deepEqual(await toldOf({ autovacuum: "on", track_counts: "on" }), []);
  assert.deepEqual(await toldOf({ autovacuum: "off", track_counts: "on" }), [
    `${dead}: autovacuum is off → set autovacuum = on for the server`,
  ]);
  assert.deepEqual(await toldOf({ autovacuum: "off", track_counts: "off" }), [
    `${dead}: autovacuum and track_counts are off → set autovacuum = on and track_counts = on for the server`,
  ]);
});
