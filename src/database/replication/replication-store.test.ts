import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend } from "../../../test/support/pretended-server.ts";
import { createPool, type Pool } from "../pool.ts";
import { readReplication } from "./replication-store.ts";

let database: TestDatabase;
let db: Pool;
let say: (statements: readonly string[]) => Promise<void>;

const WRITTEN = "FUNCTION pg_current_wal_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS";
const inRecovery = (is: boolean) => `FUNCTION pg_is_in_recovery() RETURNS boolean RETURN ${is}`;

before(async () => {
  database = await createTestDatabase({ migrated: false });
  const pretended = await pretend(database, [
    inRecovery(false),
    `${WRITTEN} $$ BEGIN RETURN '0/64'; END $$`,
    // The last is a backup that is being taken.
    `VIEW pg_stat_replication AS SELECT name AS application_name, pid, replayed::pg_lsn AS replay_lsn,
        delay::interval AS replay_lag, state, sync AS sync_state
      FROM (VALUES ('b', 3, '0/60', '1.5 s', 'streaming', 'sync'), ('b', 2, '0/65', NULL, 'catchup', 'async'),
        ('a', 4, '0/0', NULL, 'streaming', 'potential'), ('c', 1, NULL, NULL, 'backup', 'async'))
        AS v (name, pid, replayed, delay, state, sync)`,
  ]);
  say = pretended.say;
  db = createPool({ url: pretended.url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
});
after(async () => {
  await db.end();
  await database.drop();
});

const standby = (name: string, syncState: string, more: object) => ({
  name,
  syncState,
  lagSeconds: null,
  ...more,
});

it("tells how each standby follows, by their names and processes, and leaves out a backup", async () => {
  assert.deepEqual((await readReplication(db)).standbys, [
    standby("a", "potential", { isStreaming: true, lagBytes: 100 }),
    standby("b", "async", { isStreaming: false, lagBytes: 0 }),
    standby("b", "sync", { isStreaming: true, lagBytes: 4, lagSeconds: 1.5 }),
  ]);
});

it("answers on a server in recovery too, which does not say how far it has written", async () => {
  await say([inRecovery(true), `${WRITTEN} $$ BEGIN RAISE 'recovery is in progress'; END $$`]);
  const { standbys } = await readReplication(db);
  assert.deepEqual(
    standbys?.map(({ lagBytes }) => lagBytes),
    [0, 0, 0],
  );
});
