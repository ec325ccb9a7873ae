import assert from "node:assert/strict";
import { it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { setImmediate as pause } from "node:timers/promises";
import { createTestDatabase } from "../../test/support/postgres.ts";
import { freePort } from "../../test/support/free-port.ts";
import { holdWaits, releaseWaits } from "../../test/support/held-waits.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { eventually } from "../../test/support/eventually.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { createPool } from "../database/pool.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { loadCatalog } from "../events/catalog.ts";
import { makeMetrics, type Metrics } from "../telemetry/metrics.ts";
import { makeUpkeep } from "./upkeep.ts";
import type { Background } from "../shared/every.ts";

const WORK = [
  "announce_catalog",
  "drop_partitions",
  "end_interrupted_sends",
  "end_leases",
  "end_unfetched",
  "fold_statistics",
  "forget_audit",
  "forget_endpoints",
  "forget_header_sets",
  "forget_idempotency_keys",
  "forget_portal_sessions",
  "forget_replays",
  "forget_statistics",
  "free_leases",
  "make_partitions",
  "remove_abandoned_endpoints",
  "remove_superseded",
  "remove_watches",
  "settle_dispatches",
  "tell_of_endpoints",
];

async function fails(): Promise<never> {
  throw new Error("no");
}

const nothing = async (): Promise<false> => false;
const nothingOfPull = { endLeases: nothing, removeAbandoned: async () => undefined, endUnfetched: nothing };

type Seen = { failed: () => Promise<string[]>; metrics: Metrics; lines: Record<string, unknown>[] };

/** Upkeep without a database, or on that of the URL, beside this work of pull endpoints. */
async function withUpkeep(
  pull: Parameters<typeof makeUpkeep>[0]["pull"],
  work: (upkeep: Background, seen: Seen) => Promise<void>,
  database?: { url: string },
): Promise<void> {
  const url = database?.url ?? `postgres://127.0.0.1:${await freePort()}/nothing`;
  const db = createPool({
    url,
    poolSize: WORK.length,
    applicationName: "postern test",
    connectionTimeoutMs: 5000,
  });
  const { log, lines } = makeKeptLog();
  const catalog = await loadCatalog(undefined);
  const metrics = makeMetrics();
  const failed = async () =>
    (await metrics.upkeepFailures.get()).values.map(({ labels }) => String(labels.work)).toSorted();
  const upkeep = makeUpkeep({
    db,
    deadWorkers: { look: database === undefined ? fails : async () => undefined },
    pull,
    catalog: { current: () => catalog },
    log,
    metrics,
    retentionDays: 30,
    disableAfterMs: 0,
    times: undefined,
  });
  upkeep.start();
  try {
    await work(upkeep, { failed, metrics, lines });
  } finally {
    await upkeep.stop();
    await db.end();
  }
}

it("each work of upkeep begins at the start, and one that fails is counted by its name", () =>
  withUpkeep(
    { endLeases: fails, removeAbandoned: fails, endUnfetched: fails },
    async (_upkeep, { failed }) => {
      await eventually(async () => {
        const seen = await failed();
        return WORK.every((name) => seen.includes(name));
      });
      assert.deepEqual(await failed(), WORK);
    },
  ));

it("what goes some rows at a time goes on until no more are left", async () => {
  const rounds = { endLeases: 0, endUnfetched: 0 };
  const three = (name: keyof typeof rounds) => async () => ++rounds[name] < 3;
  const pull = { endLeases: three("endLeases"), endUnfetched: three("endUnfetched"), removeAbandoned: fails };
  await withUpkeep(pull, async () => {
    await eventually(async () => rounds.endLeases >= 3 && rounds.endUnfetched >= 3);
  });
});

it("a stop of upkeep waits for the work under way, and goes no further in what has more to do", async () => {
  let rounds = 0;
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const endLeases = async (): Promise<boolean> => {
    rounds++;
    if (rounds === 3) begun.resolve();
    if (rounds >= 3) await ended.promise;
    return rounds < 10;
  };
  await withUpkeep({ endLeases, removeAbandoned: fails, endUnfetched: fails }, async (upkeep) => {
    await begun.promise;
    let isStopped = false;
    const stopping = upkeep.stop().then(() => (isStopped = true));
    await pause();
    assert.equal(isStopped, false);
    ended.resolve();
    await stopping;
    assert.equal(rounds, 3);
  });
});

it("one send that was interrupted is ended, and told in the log", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  await database.pool.query(
    `INSERT INTO postern.person_sends (tenant_id, endpoint_id, id, test_id, event_type, trigger, attempt, request_headers)
      SELECT 'acme', gen_random_uuid(), id, id, 'invoice.paid', 'test', 1, '{}'
      FROM postern.lowest_id_at(now() - interval '2 min') AS id`,
  );
  await withUpkeep(
    nothingOfPull,
    async (_upkeep, { lines }) => {
      const line = await eventually(async () => lines.find((one) => "ended" in one));
      assert.equal(line["ended"], 1);
    },
    database,
  );
});

it("on a database no work fails: days before the retention go, and what is over is forgotten", async (test) => {
  const database = await createTestDatabase();
  test.after(() => database.drop());
  const sql = async (text: string) => (await database.pool.query(text)).rows;
  await sql("SELECT postern.ensure_partitions(current_date - 42, current_date - 41)");
  // One of each kind that is over, and one that is not.
  for (const [key, age] of [
    ["stays", "24 h"],
    ["goes", "26 h"],
  ])
    await sql(`INSERT INTO postern.idempotency_keys
      VALUES ('acme', '${key}', gen_random_uuid(), '', now() - interval '${age}')`);
  for (const [type, age] of [
    ["stays", "29 days"],
    ["goes", "31 days"],
  ]) {
    await sql(`INSERT INTO postern.replays (tenant_id, id, endpoint_id, from_at, to_at, selection, event_type, status,
        counted, is_capped, after_event_id, counted_to, finished_at)
      VALUES ('acme', gen_random_uuid(), gen_random_uuid(), now() - interval '1 h', now(), 'all', '${type}', 'finished', 0,
        false, gen_random_uuid(), gen_random_uuid(), now() - interval '${age}')`);
  }
  for (const [tenant, age] of [
    ["stays", "30 days"],
    ["goes", "33 days"],
  ])
    await sql(`INSERT INTO postern.header_sets
      VALUES ('${tenant}', gen_random_uuid(), '{}', current_date - interval '${age}')`);
  for (const [tenant, age] of [
    ["stays", "-1 h"],
    ["goes", "1 h"],
  ])
    await sql(
      `INSERT INTO postern.log_watches VALUES ('${tenant}', gen_random_uuid(), now() - interval '${age}')`,
    );
  await withUpkeep(
    nothingOfPull,
    async (upkeep, { failed, metrics, lines }) => {
      await eventually(async () => {
        const days = (await metrics.oldestDay.get()).values.map(({ value }) => Date.now() / 1000 - value);
        return days.length === 2 && days.every((age) => age < 30 * 86_400);
      });
      for (const left of [
        "SELECT key AS name FROM postern.idempotency_keys",
        "SELECT event_type AS name FROM postern.replays",
        "SELECT tenant_id AS name FROM postern.header_sets",
        "SELECT tenant_id AS name FROM postern.log_watches",
      ])
        await eventually(async () => isDeepStrictEqual(await sql(left), [{ name: "stays" }]));
      await upkeep.stop();
      assert.deepEqual(await failed(), []);
      // Of sends that were interrupted.
      assert.deepEqual(
        lines.filter((line) => "ended" in line),
        [],
      );
    },
    database,
  );
});

it("each work of upkeep waits its own time until it is done again", async (test) => {
  const database = await createTestDatabase();
  test.after(async () => {
    releaseWaits();
    await database.drop();
  });
  const waits = holdWaits();
  await withUpkeep(
    nothingOfPull,
    async () => {
      await eventually(async () => waits.length === WORK.length);
      const seconds = waits.map(({ ms }) => ms / 1000).toSorted((one, other) => one - other);
      const rare = Array<number>(10).fill(600);
      assert.deepEqual(seconds, [0.5, 0.5, 1, 1, 2, 2, 5, 60, 60, 60, ...rare]);
    },
    database,
  );
});

it("a stop of upkeep has endpoints whose dispatches have yet to follow wait for the next process", async (test) => {
  const database = await createTestDatabase();
  const holder = await database.pool.connect();
  test.after(async () => {
    holder.release(true);
    await database.drop();
  });
  await insertEndpoint(database.pool, newEndpoint({ tenantId: tenant("acme") }));
  await database.pool.query("UPDATE postern.endpoints SET unsettled = true");
  await holder.query("BEGIN; LOCK TABLE postern.endpoints");
  const looks = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND query LIKE '%WHERE unsettled%'`;
  await withUpkeep(
    nothingOfPull,
    async (upkeep) => {
      await eventually(async () => (await database.pool.query(looks)).rowCount === 1);
      const stopped = upkeep.stop();
      await holder.query("COMMIT");
      await stopped;
      const { rows } = await database.pool.query("SELECT unsettled FROM postern.endpoints");
      assert.deepEqual(rows, [{ unsettled: true }]);
    },
    database,
  );
});

it("a stop of upkeep waits no longer for locks of days to be made and to be dropped", async (test) => {
  const database = await createTestDatabase();
  const holder = await database.pool.connect();
  test.after(async () => {
    releaseWaits();
    holder.release(true);
    await database.drop();
  });
  await database.pool.query(`SELECT postern.ensure_partitions(current_date - 42, current_date - 42);
    DO $$ BEGIN EXECUTE 'DROP TABLE postern.deliveries_' || to_char(now() AT TIME ZONE 'UTC' + interval '5 days', 'YYYYMMDD'); END $$`);
  await holder.query("BEGIN; LOCK TABLE postern.events, postern.deliveries IN ROW EXCLUSIVE MODE");
  const waits = holdWaits();
  await withUpkeep(
    nothingOfPull,
    async (upkeep, { lines }) => {
      const waiting = () => [lines.some((line) => "err" in line), lines.some((line) => "holders" in line)];
      await eventually(async () => waiting().every(Boolean) && waits.length === WORK.length);
      let isOver = false;
      const stopped = upkeep.stop().then(() => (isOver = true));
      // One that the stop has not ended would be begun again.
      for (const wait of waits) wait.end();
      try {
        await eventually(async () => isOver || waits.length > WORK.length);
        assert.equal(waits.length, WORK.length);
        await stopped;
      } finally {
        await holder.query("COMMIT");
        for (const wait of waits) wait.end();
      }
    },
    database,
  );
});
