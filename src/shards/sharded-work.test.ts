/** Work for tenants that is brought to their shards: their requests, their queries, and what they publish. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { openTenantPool, type OpenedTenantPool } from "../../test/support/tenant-pool.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { checkEvents } from "../events/checked-events.ts";
import { openCatalog } from "../events/live-catalog.ts";
import type { EarlierEvent, NewEvent } from "../queue/queue.ts";
import { newEventId, type EventId, type TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { Directory } from "./directory.ts";
import { makeShardedDurable, type PublishingShard } from "./publish-to-shards.ts";
import { makeRouter } from "./router.ts";
import { makeShardedTenants } from "./sharded-tenants.ts";

const catalog = (await openCatalog(undefined)).current();
const misrouted = () => Object.assign(new Error("not here"), { code: "PS001" });
/** Their names say where they are placed. */
const [one, other] = [tenant("one-eu1"), tenant("other-eu2")];

let database: TestDatabase;
let tenants: OpenedTenantPool;
before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 4);
});
after(async () => {
  await tenants.end();
  await database.drop();
});

let directory: Directory;
let guarded: string[];
let kept: ReturnType<typeof makeKeptLog>;
const pulseOf = (name: string) => ({
  guard: <T>(work: () => Promise<T>) => {
    guarded.push(name);
    return work();
  },
});
beforeEach(async () => {
  for (const table of ["shard_directory", "shard_tenants", "shard"])
    await database.pool.query(`DELETE FROM postern.${table}`);
  guarded = [];
  kept = makeKeptLog();
  directory = new Directory({
    first: "eu1",
    shards: new Map(["eu1", "eu2"].map((name) => [name, { db: database.pool, pulse: pulseOf(name) }])),
    choose: (tenantId) => tenantId.split("-")[1] ?? "",
    log: kept.log,
  });
});

const homeOf = async (tenantId: TenantId) =>
  (
    await database.pool.query("SELECT shard, version FROM postern.shard_directory WHERE tenant_id = $1", [
      tenantId,
    ])
  ).rows;

describe("the directory", () => {
  it("places a tenant that nobody knows, once, and asks no more for what it knows", async () => {
    assert.equal(directory.peek(other), undefined);
    const home = { shard: "eu2", version: 1 };
    assert.deepEqual(await Promise.all([directory.find(other), directory.find(other)]), [home, home]);
    assert.deepEqual([directory.peek(other), await homeOf(other)], [home, [home]]);
    guarded = [];
    assert.deepEqual(await directory.find(other), home);
    assert.equal(await directory.locate(other), "eu2");
    assert.deepEqual(guarded, []);
    // Asked anew, the row counts; what is known stays.
    await database.pool.query("UPDATE postern.shard_directory SET shard = 'eu1', version = 2");
    assert.equal(await directory.locateAnew(other), "eu1");
    assert.deepEqual(directory.peek(other), home);
    directory.forget(other);
    assert.equal(directory.peek(other), undefined);
    assert.deepEqual(await directory.find(other), { shard: "eu1", version: 2 });
  });

  it("asks the first shard, and settles in its own a tenant that was just placed, and no other", async () => {
    await database.pool.query(
      "INSERT INTO postern.shard (name, directory, keeps_directory) VALUES ('eu2', gen_random_uuid(), true)",
    );
    await directory.find(other);
    assert.deepEqual(guarded, ["eu1", "eu2"]);
    const settled = async () =>
      (await database.pool.query("SELECT tenant_id, version FROM postern.shard_tenants")).rows;
    assert.deepEqual(await settled(), [{ tenant_id: other, version: 1 }]);
    await database.pool.query("DELETE FROM postern.shard_tenants");
    await database.pool.query("UPDATE postern.shard_directory SET version = 2");
    directory.forget(other);
    await directory.find(other);
    assert.deepEqual(await settled(), []);
  });

  it("leaves a tenant in the first shard that has rows there, from before there were shards", async () => {
    await database.pool.query("INSERT INTO postern.tenant_settings (tenant_id) VALUES ($1)", [other]);
    assert.deepEqual(await directory.find(other), { shard: "eu1", version: 1 });
    await database.pool.query("DELETE FROM postern.tenant_settings");
  });

  it("places many at once", async () => {
    const many = Array.from({ length: 120 }, (_, n) => tenant(`n${n}-eu2`));
    const homes = await Promise.all(many.map((tenantId) => directory.find(tenantId)));
    assert.deepEqual(new Set(homes.map(({ shard }) => shard)), new Set(["eu2"]));
    const { rows } = await database.pool.query("SELECT count(*)::int AS count FROM postern.shard_directory");
    assert.deepEqual(rows, [{ count: 120 }]);
  });

  it("refuses for now, and tells, where a tenant lives in a shard that this process does not have", async () => {
    const lost = tenant("lost-eu9");
    await assert.rejects(directory.find(lost), { code: "unavailable", retryAfterS: 2 });
    assert.deepEqual(kept.lines, [{ level: 50, shard: "eu9" }]);
    assert.equal(await directory.locate(lost), "eu9");
    assert.equal(directory.peek(lost), undefined);
  });
});

describe("a router", () => {
  const parts = new Map(
    ["eu1", "eu2"].map((name) => [name, { name, pulse: { guard: pulseOf(name).guard } }]),
  );

  it("brings work to the tenant's shard, guarded by its pulse", async () => {
    const router = makeRouter(directory, parts);
    assert.equal((await router.home(other)).name, "eu2");
    guarded = [];
    assert.equal(await router.atHome(other, async ({ name }) => `at ${name}`), "at eu2");
    assert.deepEqual(guarded, ["eu2"]);
  });

  it("asks anew and does it again where the shard refuses the tenant", async () => {
    const router = makeRouter(directory, parts);
    await directory.find(other);
    await database.pool.query("UPDATE postern.shard_directory SET shard = 'eu1', version = 2");
    const tried: string[] = [];
    const done = await router.atHome(other, async ({ name }) => {
      tried.push(name);
      if (name === "eu2") throw misrouted();
      return "done";
    });
    assert.deepEqual([done, tried], ["done", ["eu2", "eu1"]]);
  });

  it("fails where the shard has no parts", async () => {
    const router = makeRouter(directory, new Map([...parts].slice(0, 1)));
    await assert.rejects(router.home(other), /shard eu2, which has no parts/);
  });
});

it("one pool for tenants of all shards runs each query where its tenant lives", async () => {
  const asked: TenantId[] = [];
  const all = makeShardedTenants({
    atHome: (tenantId, work) => {
      asked.push(tenantId);
      return work(tenants);
    },
  });
  const who =
    "SELECT current_setting('postern.tenant') AS tenant, current_setting('plan_cache_mode') AS plans";
  const answers = [
    await all.of(one).query(who),
    await all.reading(other).query(who),
    await all.of(other).transaction((transaction) => transaction.query(who)),
  ];
  assert.deepEqual(
    answers.map(({ rows }) => rows[0]),
    [
      { tenant: one, plans: "auto" },
      { tenant: other, plans: "force_generic_plan" },
      { tenant: other, plans: "auto" },
    ],
  );
  assert.deepEqual(asked, [one, other, other]);
  // The shards' own pools are their owners' to end.
  await all.end();
  assert.equal((await all.of(one).query("SELECT 1 AS one")).rowCount, 1);
});

const eventOf = (tenantId: TenantId): NewEvent => {
  const [event] = checkEvents([{ type: "invoice.paid", data: {} }], tenantId, catalog);
  return event ?? assert.fail();
};

/** Shards whose commits are kept, with what they know of keys. */
function publishing(known: ReadonlyMap<EventId, EarlierEvent> = new Map()) {
  const commits: unknown[] = [];
  const asked: unknown[] = [];
  let refusals = 0;
  const shards = new Map(
    ["eu1", "eu2"].map((name): [string, PublishingShard] => [
      name,
      {
        async commit(events, toHandOver) {
          commits.push([name, events.map(({ id }) => id), toHandOver?.map(({ id }) => id)]);
          if (refusals-- > 0) throw misrouted();
          return events.map(({ id }) => ({ id, dispatchCount: 3, isNew: true }));
        },
        findKnownKeys: async (events) => {
          asked.push([name, events.map(({ id }) => id)]);
          return new Map([...known].filter(([id]) => events.some((event) => event.id === id)));
        },
        pulse: pulseOf(name),
      },
    ]),
  );
  const publish = makeShardedDurable(directory, shards);
  return { publish, commits, asked, refuse: (count: number) => (refusals = count) };
}

describe("events of one request", () => {
  it("are committed in their tenant's shard, with no question where all are there", async () => {
    const { publish, commits, asked } = publishing();
    assert.deepEqual(await publish([]), []);
    const [first, second] = [eventOf(other), eventOf(other)];
    await directory.find(other);
    guarded = [];
    assert.deepEqual(await publish([first]), [{ id: first.id, dispatchCount: 3, isNew: true }]);
    assert.equal((await publish([first, second])).length, 2);
    assert.deepEqual(commits, [
      ["eu2", [first.id], undefined],
      ["eu2", [first.id, second.id], undefined],
    ]);
    assert.deepEqual([asked, guarded], [[], ["eu2", "eu2"]]);
  });

  it("of several shards are committed in the first one's, the others to be handed over, and answered in order", async () => {
    const [own, foreign, repeated, second] = [eventOf(one), eventOf(other), eventOf(other), eventOf(one)];
    const earlier = { id: newEventId(), dispatchCount: 1, sameContent: true };
    const { publish, commits, asked } = publishing(new Map([[repeated.id, earlier]]));
    assert.deepEqual(await publish([own, foreign, repeated, second]), [
      { id: own.id, dispatchCount: 3, isNew: true },
      { id: foreign.id, dispatchCount: null, isNew: true },
      { id: earlier.id, dispatchCount: 1, isNew: false },
      { id: second.id, dispatchCount: 3, isNew: true },
    ]);
    assert.deepEqual(commits, [["eu1", [own.id, second.id], [foreign.id]]]);
    assert.deepEqual(asked, [["eu2", [foreign.id, repeated.id]]]);
  });

  it("whose key stands for other content in another shard are refused as a whole", async () => {
    const [own, foreign, repeated] = [eventOf(one), eventOf(other), eventOf(other)];
    const earlier = { id: newEventId(), dispatchCount: 1, sameContent: false };
    const same = { ...earlier, id: newEventId(), sameContent: true };
    const known = new Map([
      [repeated.id, same],
      [foreign.id, earlier],
    ]);
    const { publish, commits } = publishing(known);
    await assert.rejects(publish([own, foreign, repeated]), new Refusal("idempotency_key_reused"));
    assert.deepEqual(commits, []);
  });

  it("are handed over where their tenant's shard is not known now", async () => {
    const [own, lost] = [eventOf(one), eventOf(tenant("lost-eu9"))];
    const { publish, commits } = publishing();
    const [, answer] = await publish([own, lost]);
    assert.deepEqual(answer, { id: lost.id, dispatchCount: null, isNew: true });
    assert.deepEqual(commits, [["eu1", [own.id], [lost.id]]]);
  });

  it("follow a tenant that has moved, the first one's or another's", async () => {
    const event = eventOf(other);
    const { publish, commits, refuse } = publishing();
    await directory.find(other);
    await database.pool.query("UPDATE postern.shard_directory SET shard = 'eu1', version = 2");
    refuse(1);
    await publish([event]);
    assert.deepEqual(commits, [
      ["eu2", [event.id], undefined],
      ["eu1", [event.id], undefined],
    ]);
    const first = eventOf(one);
    await database.pool.query("UPDATE postern.shard_directory SET shard = 'eu2', version = 3");
    await publish([first]);
    commits.length = 0;
    refuse(1);
    await publish([first, event]);
    assert.deepEqual(commits, [
      ["eu1", [first.id, event.id], undefined],
      ["eu1", [first.id], [event.id]],
    ]);
  });
});
