import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { pretend } from "../../../test/support/pretended-server.ts";
import { makeMetrics } from "../../telemetry/metrics.ts";
import { createPool, type Pool } from "../pool.ts";
import { makeReplicationMonitor } from "./replication-monitor.ts";

let database: TestDatabase;
/** Of a server with these standbys. */
let db: Pool;
let say: (statements: readonly string[]) => Promise<void>;

before(async () => {
  database = await createTestDatabase({ migrated: false });
  const pretended = await pretend(database, [
    "FUNCTION current_setting(text) RETURNS text RETURN CASE $1 WHEN 'synchronous_standby_names' THEN 'ANY 1 (b)' ELSE 'on' END",
    "FUNCTION pg_wal_lsn_diff(pg_lsn, pg_lsn) RETURNS numeric RETURN $2 - '0/0'::pg_lsn",
    standbys(
      "('b', 2, '0/64', 'sync', '1.5 s')",
      "('b', 1, '0/C8', 'async', '3 s')",
      "('c', 3, '0/1', 'async', NULL)",
    ),
  ]);
  say = pretended.say;
  db = createPool({ url: pretended.url, poolSize: 1, applicationName: "test", connectionTimeoutMs: 5000 });
});
after(async () => {
  await db.end();
  await database.drop();
});

/** Each with its name, process, what it has not replayed, state and delay. */
function standbys(...rows: string[]): string {
  return `VIEW pg_stat_replication AS SELECT name AS application_name, pid, lsn::pg_lsn AS replay_lsn, state AS sync_state,
    delay::interval AS replay_lag, 'streaming' AS state FROM (VALUES ${rows.join(", ")}) AS v (name, pid, lsn, state, delay)`;
}

type Options = Parameters<typeof makeReplicationMonitor>[0];

function monitorOf(more: Pick<Options, "durability" | "hasSeveralHosts"> & { db?: Pool }) {
  const metrics = makeMetrics();
  const gauges = async () => {
    const [bytes, seconds] = await Promise.all([
      metrics.standbyLagBytes.get(),
      metrics.standbyLagSeconds.get(),
    ]);
    return [bytes, seconds].map(({ values }) => values.map(({ labels, value }) => ({ ...labels, value })));
  };
  return { ...makeReplicationMonitor({ db, metrics, ...more }), gauges };
}

describe("the monitor of standbys", () => {
  it("shows each standby, and of two with one name the one further behind, where there may be some", async () => {
    for (const more of [
      { durability: "local", hasSeveralHosts: true },
      { durability: "standby", hasSeveralHosts: false },
    ] as const) {
      const monitor = monitorOf(more);
      await monitor.look();
      assert.deepEqual(await monitor.gauges(), [
        [
          { standby: "c", sync_state: "async", value: 1 },
          { standby: "b", sync_state: "sync", value: 100 },
          { standby: "b", sync_state: "async", value: 200 },
        ],
        [
          { standby: "c", sync_state: "async", value: 0 },
          { standby: "b", sync_state: "sync", value: 1.5 },
          { standby: "b", sync_state: "async", value: 3 },
        ],
      ]);
    }
  });

  it("forgets a standby that is gone, and tells that commits wait then", async () => {
    const monitor = monitorOf({ durability: "standby", hasSeveralHosts: false });
    assert.equal(await monitor.trouble(), null);
    await say([standbys("('b', 2, '0/64', 'async', '1 s')", "('b', 4, '0/5', 'async', '2 s')")]);
    assert.equal(
      await monitor.trouble(),
      "no synchronous standby follows the database, so commits wait for one: start one that synchronous_standby_names names, or name another",
    );
    assert.deepEqual(await monitor.gauges(), [
      [{ standby: "b", sync_state: "async", value: 100 }],
      [{ standby: "b", sync_state: "async", value: 1 }],
    ]);
  });

  it("asks nothing where no standby is demanded", async () => {
    const ended = createPool({
      url: "postgres://nobody@127.0.0.1:1/none",
      poolSize: 1,
      applicationName: "test",
      connectionTimeoutMs: 5000,
    });
    const monitor = monitorOf({ durability: "local", hasSeveralHosts: false, db: ended });
    await monitor.look();
    assert.equal(await monitor.trouble(), null);
    const several = monitorOf({ durability: "local", hasSeveralHosts: true, db: ended });
    assert.equal(await several.trouble(), null);
    await assert.rejects(several.look(), { code: "ECONNREFUSED" });
    assert.deepEqual(await several.gauges(), [[], []]);
  });
});
