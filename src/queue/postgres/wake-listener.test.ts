import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { makeLog } from "../../telemetry/log.ts";
import { makeWakeListener } from "./wake-listener.ts";

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

function listenerThat(wake: () => void, databaseUrl = database.url) {
  return makeWakeListener({ databaseUrl, log: makeLog("silent"), wake, withdraw: () => undefined });
}

it("wakes the worker once it listens, and at each notice", async () => {
  let woken = Promise.withResolvers<void>();
  const listener = listenerThat(() => woken.resolve());
  listener.start();
  await woken.promise;
  woken = Promise.withResolvers<void>();
  await database.pool.query("SELECT pg_notify('postern_dispatch', '')");
  await woken.promise;
  await listener.stop();
});

it("stops at once while it still connects", async () => {
  const listener = listenerThat(() => undefined);
  listener.start();
  await listener.stop();
  const { rows } = await database.pool.query<{ query: string }>(
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
  );
  assert.deepEqual(rows, []);
});

it("stops while the database is out of reach, and without having started", async () => {
  const listener = listenerThat(() => undefined, "postgres://nobody@127.0.0.1:1/none");
  listener.start();
  await listener.stop();
  await listenerThat(() => undefined).stop();
});
