/** Databases that are the shards of a program, and tenants that are new to each. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { makeChooser } from "../../src/shards/choose-shard.ts";
import type { TenantId } from "../../src/shared/id.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import { tenant } from "./two-tenants.ts";

export type TestShards = {
  /** `SHARDS`, each shard through its proxy. */
  setting: string;
  database(name: string): TestDatabase;
  /** On the way to the shard. */
  proxy(name: string): TcpProxy;
  /** A tenant that the program places there, another one at each call. */
  newTenant(name: string): TenantId;
  drop(): Promise<void>;
};

export async function createShards(names: readonly string[], { migrated = true } = {}): Promise<TestShards> {
  const made = await Promise.all(
    names.map(async (name) => {
      const database = await createTestDatabase({ migrated });
      const url = new URL(database.url);
      const proxy = await startTcpProxy(Number(url.port));
      url.hostname = "127.0.0.1";
      url.port = String(proxy.port);
      return { name, database, proxy, url: url.href };
    }),
  );
  const find = (name: string) => {
    const found = made.find((one) => one.name === name);
    assert.ok(found !== undefined);
    return found;
  };
  // A receiver serves several tests.
  const newTenant = newTenants(names, randomUUID().slice(0, 8));
  return {
    setting: made.map(({ name, url }) => `${name}=${url}`).join("|"),
    database: (name) => find(name).database,
    proxy: (name) => find(name).proxy,
    newTenant,
    async drop() {
      await Promise.all(
        made.map(async ({ database, proxy }) => {
          await proxy.close();
          await database.drop();
        }),
      );
    },
  };
}

/** Makes tenants that a program places in the shard that is asked for, of shards of one weight. */
export function newTenants(names: readonly string[], prefix: string): (shard: string) => TenantId {
  const choose = makeChooser(names.map((name) => ({ name, weight: 1 })));
  let count = 0;
  return (shard) => {
    assert.ok(names.includes(shard));
    for (;;) {
      const id = `${prefix}-${count++}`;
      if (choose(id) === shard) return tenant(id);
    }
  };
}
