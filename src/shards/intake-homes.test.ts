import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import type { Taken } from "../events/taken-events.ts";
import { TenantMovingError } from "../intake/homes.ts";
import { parseTenantId, type TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import type { Home } from "./directory-store.ts";
import { apartByTenant } from "./apart-by-tenant.ts";
import { makeLaneOf, makeShardedHomes } from "./intake-homes.ts";

const catalog = (await openCatalog(undefined)).current();
const metrics = makeMetrics();

function tenant(text: string): TenantId {
  const id = parseTenantId(text);
  assert.ok(id !== null);
  return id;
}

const acme = tenant("acme");
const globex = tenant("globex");
const initech = tenant("initech");

const [event] = checkEvents([{ type: "invoice.paid", data: {} }], acme, catalog);
assert.ok(event !== undefined);
const eventOf = (tenantId: TenantId) => ({ ...event, tenantId });

/** A directory that knows these, and what else it was asked for. */
function directoryOf(known: Map<TenantId, Home>, others: ReadonlyMap<TenantId, Home> = new Map()) {
  const asked: TenantId[] = [];
  async function find(tenantId: TenantId): Promise<Home> {
    const home = known.get(tenantId);
    if (home !== undefined) return home;
    asked.push(tenantId);
    const found = others.get(tenantId);
    if (found === undefined) throw new Error("the directory does not answer");
    known.set(tenantId, found);
    return found;
  }
  return {
    asked,
    peek: (tenantId: TenantId) => known.get(tenantId),
    find,
    locate: async (tenantId: TenantId) => (await find(tenantId)).shard,
    forget: (tenantId: TenantId) => void known.delete(tenantId),
  };
}

const misrouted = () => Object.assign(new Error("not here"), { code: "PS001" });

function homesOver(
  directory: ReturnType<typeof directoryOf>,
  accept: (tenantId: TenantId, how: string) => Promise<Taken>,
) {
  const tries: string[] = [];
  const shards = ["eu1", "eu2"].map((name) => ({
    name,
    taken: apartByTenant({
      accept: ({ tenantId }: { tenantId: TenantId }, how: string) => {
        tries.push(`${name} ${tenantId} ${how}`);
        return accept(tenantId, how);
      },
    }),
    metrics,
    pulse: { isAway: () => name === "eu2", guard: <T>(work: () => Promise<T>) => work() },
  }));
  return { homes: makeShardedHomes(directory, shards), tries };
}

describe("the homes of the intake's events", () => {
  it("are those of the directory, and away as their shard is", async () => {
    const directory = directoryOf(
      new Map([[acme, { shard: "eu1", version: 1 }]]),
      new Map([
        [globex, { shard: "eu2", version: 1 }],
        [initech, { shard: "eu3", version: 1 }],
      ]),
    );
    const { homes } = homesOver(directory, async () => "accepted");
    assert.equal(homes.peek(acme)?.shard, "eu1");
    assert.equal(homes.peek(globex), undefined);
    assert.equal((await homes.find(globex))?.shard, "eu2");
    assert.equal(await homes.find(initech), null);
    assert.deepEqual(
      homes.all.map((home) => home.isAway()),
      [false, true],
    );
  });

  it("forget a tenant that its shard refuses alone, and no other of its group", async () => {
    const known = [acme, globex].map((id) => [id, { shard: "eu1", version: 1 }] as const);
    const directory = directoryOf(new Map(known));
    const { homes, tries } = homesOver(directory, async (tenantId, how) => {
      if (how === "grouped" || tenantId === acme) throw misrouted();
      return "accepted";
    });
    const home = homes.keeper;
    await assert.rejects(
      home.accept(eventOf(acme), "grouped"),
      new TenantMovingError("the tenant's shard refuses it", { cause: misrouted() }),
    );
    assert.equal(await home.accept(eventOf(globex), "grouped"), "accepted");
    assert.deepEqual([directory.peek(acme), directory.peek(globex)?.shard], [undefined, "eu1"]);
    assert.deepEqual(tries, ["eu1 acme grouped", "eu1 acme alone", "eu1 globex grouped", "eu1 globex alone"]);
  });

  it("try a tenant that was refused alone until it is accepted, so that it fails no group", async () => {
    let isFenced = true;
    const home = { shard: "eu1", version: 1 };
    const directory = directoryOf(new Map([[acme, home]]), new Map([[acme, home]]));
    const { homes, tries } = homesOver(directory, async () => {
      if (isFenced) throw misrouted();
      return "accepted";
    });
    for (let n = 0; n < 2; n++)
      await assert.rejects(homes.keeper.accept(eventOf(acme), "grouped"), TenantMovingError);
    isFenced = false;
    for (let n = 0; n < 2; n++) await homes.keeper.accept(eventOf(acme), "grouped");
    assert.deepEqual(
      tries.map((one) => one.split(" ").at(-1)),
      ["grouped", "alone", "alone", "alone", "grouped"],
    );
  });

  it("ask a shard once about a tenant that it refuses, however many of its events wait", async () => {
    const directory = directoryOf(new Map([[acme, { shard: "eu1", version: 1 }]]));
    const { homes, tries } = homesOver(directory, async () => {
      throw misrouted();
    });
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => homes.keeper.accept(eventOf(acme), "grouped")),
    );
    for (const result of results) {
      assert.ok(result.status === "rejected" && result.reason instanceof TenantMovingError);
    }
    assert.equal(tries.filter((one) => one === "eu1 acme alone").length, 1);
  });

  it("try each event of a tenant alone where one of them is refused for itself", async () => {
    const directory = directoryOf(new Map([[acme, { shard: "eu1", version: 1 }]]));
    let count = 0;
    const { homes } = homesOver(directory, async () => {
      if (count++ === 0) throw new Error("a value that no column takes");
      return "accepted";
    });
    const results = await Promise.allSettled(
      Array.from({ length: 3 }, () => homes.keeper.accept(eventOf(acme), "alone")),
    );
    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "fulfilled", "fulfilled"],
    );
  });

  it(
    "leave off waiting for a shard that is found silent, and ask nothing more of it",
    { timeout: 20_000 },
    async () => {
      const directory = directoryOf(new Map([[acme, { shard: "eu1", version: 1 }]]));
      const silent = Promise.withResolvers<never>();
      let asked = 0;
      const homes = makeShardedHomes(directory, [
        {
          name: "eu1",
          taken: {
            accept: () => {
              asked++;
              return silent.promise;
            },
          },
          metrics,
          pulse: {
            isAway: () => false,
            async guard(work) {
              if (asked === 0) void work();
              throw new Refusal("unavailable", { retryAfterS: 2 });
            },
          },
        },
      ]);
      for (let n = 0; n < 2; n++)
        await assert.rejects(homes.keeper.accept(eventOf(acme), "grouped"), { code: "unavailable" });
      assert.equal(asked, 1);
      assert.equal(directory.peek(acme)?.shard, "eu1");
    },
  );

  it("accept nothing for a tenant that the directory has elsewhere by now", async () => {
    const directory = directoryOf(new Map(), new Map([[acme, { shard: "eu2", version: 2 }]]));
    const { homes, tries } = homesOver(directory, async () => "accepted");
    await assert.rejects(
      homes.keeper.accept(eventOf(acme), "grouped"),
      new TenantMovingError("the tenant lives in another shard"),
    );
    assert.deepEqual(tries, []);
  });
});

describe("the lane of a request's events", () => {
  it("is their shard; of several, or of tenants that are not known yet, none", async () => {
    const directory = directoryOf(
      new Map([
        [acme, { shard: "eu1", version: 1 }],
        [globex, { shard: "eu2", version: 1 }],
      ]),
      new Map([[initech, { shard: "eu2", version: 1 }]]),
    );
    const laneOf = makeLaneOf(directory);
    assert.equal(laneOf([eventOf(acme), eventOf(acme)]), "eu1");
    assert.equal(laneOf([eventOf(acme), eventOf(globex)]), "");
    assert.equal(laneOf([eventOf(initech), eventOf(initech)]), "");
    assert.deepEqual(directory.asked, [initech]);
    await new Promise(setImmediate);
    assert.equal(laneOf([eventOf(initech), eventOf(globex)]), "eu2");
  });

  it("waits for no directory, and survives one that is away", async () => {
    const laneOf = makeLaneOf(directoryOf(new Map()));
    assert.equal(laneOf([eventOf(acme)]), "");
    await new Promise(setImmediate);
  });
});
