import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import type { EarlierEvent, NewEvent } from "../queue/queue.ts";
import { systemClock } from "../shared/clock.ts";
import { newEventId, parseTenantId, type EventId, type TenantId } from "../shared/id.ts";
import type { Home } from "./directory-store.ts";
import { makeKeysOfShards, type ShardOfKeys } from "./keys-of-shards.ts";

const catalog = (await openCatalog(undefined)).current();

function keyedOf(tenant: string): NewEvent {
  const [event] = checkEvents(
    [{ type: "invoice.paid", data: {}, id: "key" }],
    parseTenantId(tenant),
    catalog,
  );
  assert.ok(event !== undefined);
  return event;
}

const acme = keyedOf("acme");
const globex = keyedOf("globex");

/** Shards that have the keys of the tenants that live there, and a directory that knows what it is told, or finds where they live. */
function shardsWith(lives: Record<string, string>, known: Record<string, string>) {
  const homes = new Map(Object.entries(known).map(([id, shard]) => [id, { shard, version: 1 }]));
  const earlier = new Map<string, EarlierEvent>();
  const asked: string[] = [];
  const away = new Set<string>();
  const directory = {
    peek: (tenantId: TenantId) => homes.get(tenantId),
    find: async (tenantId: TenantId): Promise<Home> => {
      asked.push(`directory ${tenantId}`);
      const home = { shard: lives[tenantId] ?? "", version: 2 };
      homes.set(tenantId, home);
      return home;
    },
    forget: (tenantId: TenantId) => void homes.delete(tenantId),
  };
  const shardOf = (name: string): ShardOfKeys => ({
    queue: {
      async findEarlier(events) {
        asked.push(...events.map(({ tenantId }) => `${name} ${tenantId}`));
        const found = events.flatMap(({ id, tenantId }): [EventId, EarlierEvent][] => {
          if (lives[tenantId] !== name) return [];
          const one = earlier.get(tenantId) ?? { id: newEventId(), dispatchCount: 1, sameContent: true };
          earlier.set(tenantId, one);
          return [[id, one]];
        });
        return new Map(found);
      },
    },
    findHere: async (tenantIds) => new Set(tenantIds.filter((tenantId) => lives[tenantId] === name)),
    pulse: { isAway: () => away.has(name) },
  });
  const shards = new Map(["eu1", "eu2"].map((name) => [name, shardOf(name)]));
  return {
    directory,
    shards,
    asked,
    away,
    keys: (events: readonly NewEvent[]) => makeKeysOfShards(directory, shards, systemClock)(events),
  };
}

const idsOf = (found: ReadonlyMap<EventId, EarlierEvent>) => [...found.keys()];

describe("what is known of keys in several shards", () => {
  it("is what each tenant's shard says, and nothing is asked for events without keys", async () => {
    const { keys, asked } = shardsWith({ acme: "eu1", globex: "eu2" }, { acme: "eu1" });
    assert.deepEqual(idsOf(await keys([{ ...acme, idempotencyKey: null }])), []);
    assert.deepEqual(asked, []);
    assert.deepEqual(idsOf(await keys([acme, globex])), [acme.id, globex.id]);
    assert.deepEqual(asked, ["directory globex", "eu1 acme", "eu2 globex"]);
  });

  it("is looked up once more for a tenant that has moved since this process knew", async () => {
    const { keys, asked } = shardsWith({ acme: "eu2", globex: "eu1" }, { acme: "eu1", globex: "eu1" });
    assert.deepEqual(idsOf(await keys([acme, globex])), [globex.id, acme.id]);
    assert.deepEqual(asked, ["eu1 acme", "eu1 globex", "directory acme", "eu2 acme"]);
  });

  it("forgets nothing that this process learned meanwhile", async () => {
    const { keys, shards, directory, asked } = shardsWith({ acme: "eu2" }, { acme: "eu1" });
    const eu1 = shards.get("eu1") ?? assert.fail();
    const findHere = eu1.findHere;
    eu1.findHere = async (tenantIds) => {
      await directory.find(acme.tenantId);
      return findHere(tenantIds);
    };
    await keys([acme]);
    assert.equal(directory.peek(acme.tenantId)?.shard, "eu2");
    assert.deepEqual(asked, ["eu1 acme", "directory acme"]);
  });

  it("is looked up no third time for a tenant that lives nowhere, as while it is fenced", async () => {
    const { keys, asked, directory } = shardsWith({}, { acme: "eu1" });
    directory.find = async (tenantId) => {
      asked.push(`directory ${tenantId}`);
      return { shard: "eu1", version: 1 };
    };
    assert.deepEqual(idsOf(await keys([acme])), []);
    assert.deepEqual(asked, ["eu1 acme", "directory acme"]);
  });

  it("is nothing of a shard that is away, which is not asked, and all of the other", async () => {
    const { keys, asked, away } = shardsWith({ acme: "eu1", globex: "eu2" }, { acme: "eu1", globex: "eu2" });
    away.add("eu2");
    assert.deepEqual(idsOf(await keys([acme, globex])), [acme.id]);
    assert.deepEqual(asked, ["eu1 acme"]);
  });

  for (const [how, find] of [
    ["silent", () => new Promise<never>(() => undefined)],
    ["away", () => Promise.reject(new Error("away"))],
  ] as const) {
    it(`is nothing of a tenant that only the directory knows, while that is ${how}`, async () => {
      const { keys, directory, asked } = shardsWith({ acme: "eu1", globex: "eu2" }, { acme: "eu1" });
      directory.find = (tenantId) => {
        asked.push(`directory ${tenantId}`);
        return find();
      };
      assert.deepEqual(idsOf(await keys([acme, globex])), [acme.id]);
      assert.deepEqual(asked, ["directory globex", "eu1 acme"]);
    });
  }
});
