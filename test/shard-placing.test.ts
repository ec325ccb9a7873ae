/** Where tenants are placed, and which stay in a database that becomes the first shard. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeChooser } from "../src/shards/choose-shard.ts";
import { Directory } from "../src/shards/directory.ts";
import { placeTenants, readHomes } from "../src/shards/directory-store.ts";
import { makePulse } from "../src/shards/pulse.ts";
import { newEventId, type TenantId } from "../src/shared/id.ts";
import { makeLog } from "../src/telemetry/log.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { BODY, EVENT_TYPE, tenant } from "./support/two-tenants.ts";

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

async function placedWith(name: string, sql: string): Promise<string | undefined> {
  const tenantId = tenant(name);
  await database.pool.query(sql, [newEventId(), tenantId, EVENT_TYPE, BODY]);
  await placeTenants(database.pool, "eu1", [{ tenantId, shard: "eu2" }]);
  return (await readHomes(database.pool, [tenantId])).get(tenantId)?.shard;
}

const OF_EVENT = "its event is in events";
const OF_ENDPOINT = "its endpoint is in endpoints, or its deletion in audit_log";
const OF_OBJECT = "its object is in stored_objects";
/** Why a tenant's row in these tables does not keep it in the first shard. All others must: see lives_here. */
const NOT_LOOKED_AT: Record<string, string> = {
  bodies_to_keep: OF_EVENT,
  deliveries: OF_EVENT,
  delivery_counts: OF_EVENT,
  delivery_totals: "delivery_stats counts the same attempts",
  dispatches: OF_EVENT,
  exhausted_events: OF_EVENT,
  handovers: "passes through",
  header_sets: OF_ENDPOINT,
  idempotency_keys: "of an event in events, or of one that passes through, and ends after a day",
  log_watches: "ends with its stream",
  newest_attempts: OF_ENDPOINT,
  outbox: "passes through",
  person_sends: OF_EVENT,
  portal_sessions: "ends with its session",
  replays: OF_ENDPOINT,
  storage_events: OF_OBJECT,
  storage_grants: OF_OBJECT,
  storage_marks: OF_OBJECT,
};

describe("lives_here", () => {
  it("looks at every table with tenants, but for those that are named here with a reason", async () => {
    const { rows: all } = await database.pool.query<{ name: string }>(
      "SELECT DISTINCT name FROM postern.tables_of_tenants() ORDER BY name",
    );
    const { rows } = await database.pool.query<{ source: string }>(
      "SELECT prosrc AS source FROM pg_proc WHERE oid = 'postern.lives_here(text)'::regprocedure",
    );
    const looked = [...(rows[0]?.source ?? "").matchAll(/FROM postern\.(\w+)/g)].map(([, name = ""]) => name);
    assert.ok(looked.length > 0);
    assert.deepEqual(
      [...looked, ...Object.keys(NOT_LOOKED_AT)].toSorted(),
      all.map(({ name }) => name).toSorted(),
    );
  });
});

describe("a tenant without a home", () => {
  it("stays where it has an event, for which it had no endpoint", async () => {
    const sql =
      "INSERT INTO postern.events (id, tenant_id, type, body, dispatch_count) VALUES ($1, $2, $3, $4, 0)";
    assert.equal(await placedWith("kept", sql), "eu1");
  });

  it("goes elsewhere when its events only pass through", async () => {
    const outbox = "INSERT INTO postern.outbox (id, tenant_id, type, body) VALUES ($1, $2, $3, $4)";
    assert.equal(await placedWith("published", outbox), "eu2");
    const handover =
      "INSERT INTO postern.handovers (id, tenant_id, type, version, body) VALUES ($1, $2, $3, 1, $4)";
    assert.equal(await placedWith("handed-over", handover), "eu2");
  });
});

describe("an added shard", () => {
  it("moves nobody, and takes its part of the tenants that are new", async () => {
    const before = await homesBy(["eu1", "eu2"], tenants("old"));
    assert.deepEqual(new Set(before), new Set(["eu1", "eu2"]));
    const three = ["eu1", "eu2", "eu3"];
    assert.deepEqual(await homesBy(three, tenants("old")), before);
    const late = (await homesBy(three, tenants("new"))).filter((shard) => shard === "eu3").length;
    assert.ok(late > 60 && late < 140, String(late));
  });
});

const MANY = 1_000_000;
const AT_ONCE = 50_000;

/** A third have three times the weight of the others. */
const weightOf = (name: string) => (Number(name.slice(1)) % 3 === 0 ? 3 : 1);
const many = (from: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, n) => tenant(`many-${from + n * step}`));

/** How many of them the directory has in each shard. */
async function readCounts() {
  const { rows } = await database.pool.query<{ shard: string; count: number }>(
    "SELECT shard, count(*)::int FROM postern.shard_directory WHERE tenant_id LIKE 'many-%' GROUP BY shard ORDER BY shard",
  );
  return rows;
}

describe("1,000,000 tenants in 99 shards, the most but one", () => {
  const most = Array.from({ length: 100 }, (_, n) => `s${n}`);
  const some = most.slice(0, -1);

  it("are spread by weight within 10 %, and an added shard moves none of them", async () => {
    const choose = makeChooser(some.map((name) => ({ name, weight: weightOf(name) })));
    for (let from = 0; from < MANY; from += AT_ONCE) {
      const ids = many(from, AT_ONCE);
      // Without the look at each tenant's rows that placing takes: none has any.
      await database.pool.query(
        "INSERT INTO postern.shard_directory (tenant_id, shard) SELECT * FROM unnest($1::text[], $2::text[])",
        [ids, ids.map(choose)],
      );
    }
    const counts = await readCounts();
    assert.equal(counts.length, some.length);
    const weights = some.reduce((total, name) => total + weightOf(name), 0);
    for (const { shard, count } of counts) {
      const part = (MANY * weightOf(shard)) / weights;
      assert.ok(Math.abs(count - part) < part / 10, `${shard} has ${count} instead of ${part}`);
    }
    // One in twenty, as a process with one more shard finds them.
    const asked = many(7, AT_ONCE, MANY / AT_ONCE);
    const directory = directoryOf(most, weightOf);
    const homes = await Promise.all(asked.map((tenantId) => directory.locate(tenantId)));
    assert.deepEqual(homes, asked.map(choose));
    assert.deepEqual(await readCounts(), counts);
    const late = await Promise.all(tenants("late").map((tenantId) => directory.locate(tenantId)));
    assert.ok(late.includes("s99"));
  });
});

function tenants(name: string): TenantId[] {
  return Array.from({ length: 300 }, (_, n) => tenant(`${name}-${n}`));
}

/** As a process finds them that starts then: it knows nobody yet. */
async function homesBy(shards: readonly string[], tenantIds: readonly TenantId[]): Promise<string[]> {
  const directory = directoryOf(shards);
  const homes = await Promise.all(tenantIds.map((tenantId) => directory.find(tenantId)));
  return homes.map(({ shard }) => shard);
}

function directoryOf(names: readonly string[], weightOf: (name: string) => number = () => 1): Directory {
  const db = database.pool;
  const pulse = makePulse(
    () => db.query("SELECT"),
    () => undefined,
  );
  const choose = makeChooser(names.map((name) => ({ name, weight: weightOf(name) })));
  const shards = new Map(names.map((name) => [name, { db, pulse }]));
  return new Directory({ first: names[0] ?? "", shards, choose, log: makeLog("silent") });
}
