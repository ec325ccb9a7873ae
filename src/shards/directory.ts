/**
 * Where each tenant lives, as far as this process knows it.
 *
 * The record is a row in the first shard. A process keeps what it has read for
 * as long as it likes, because every transaction for a tenant asks its database
 * whether the tenant lives there under that version (`residence.ts`). Only then
 * is the directory asked again. So the first shard may be away: tenants that are
 * known are served, and new ones wait.
 *
 * An unknown tenant is placed: the row of the directory first, then
 * the shard's own. A process that dies in between leaves the second to the next
 * one that reads the first.
 */
import { LRUCache } from "lru-cache";
import type { Db } from "../database/pool.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Log } from "../telemetry/log.ts";
import type { Pulse } from "./pulse.ts";
import { placeTenants, readHomes, settleTenants, type Home } from "./directory-store.ts";

const MAX_KNOWN = 200_000;
const MAX_AT_ONCE = 500;
/** What is placed stays so, should a later statement of the same look fail. */
const PLACED_AT_ONCE = 50;
const PLACED = 1;
const RETRY_AFTER_S = 2;

/** `settles`: the shard itself is to have the tenant too, as a caller's work there needs. */
type Asked = { tenantId: TenantId; settles: boolean };
type Found = { home: Home } | { error: unknown };

type Reached = { db: Db; pulse: Pick<Pulse, "guard"> };

export type DirectoryServices = {
  /** The shard that keeps it. */
  first: string;
  shards: ReadonlyMap<string, Reached>;
  choose: (tenantId: string) => string;
  log: Log;
};

export class Directory {
  readonly #services: DirectoryServices;
  readonly #known = new LRUCache<TenantId, Home>({ max: MAX_KNOWN });
  readonly #looks = new GroupCommit((asked: Asked[]) => this.#look(asked), {
    maxItems: MAX_AT_ONCE,
    maxConcurrent: 2,
  });

  constructor(services: DirectoryServices) {
    this.#services = services;
  }

  /** What this process knows, without asking. */
  peek(tenantId: TenantId): Home | undefined {
    return this.#known.get(tenantId);
  }

  /** @throws Refusal `unavailable` where the tenant lives in a shard that this process does not have. */
  async find(tenantId: TenantId): Promise<Home> {
    const known = this.#known.get(tenantId);
    if (known !== undefined) return known;
    return this.#ask({ tenantId, settles: true });
  }

  /** The name of its shard, which may be away, or one that this process does not have. */
  async locate(tenantId: TenantId): Promise<string> {
    return this.#known.get(tenantId)?.shard ?? this.locateAnew(tenantId);
  }

  /** The same, asked anew; what this process knows stays as it is. */
  async locateAnew(tenantId: TenantId): Promise<string> {
    return (await this.#ask({ tenantId, settles: false })).shard;
  }

  /** What is known of the tenant was wrong. */
  forget(tenantId: TenantId): void {
    this.#known.delete(tenantId);
  }

  async #ask(asked: Asked): Promise<Home> {
    const found = await this.#looks.add(asked);
    if ("error" in found) throw found.error;
    return found.home;
  }

  /** A shard that is away fails the tenants that live there alone. */
  async #look(asked: readonly Asked[]): Promise<Found[]> {
    const { first, shards } = this.#services;
    const keeper = shards.get(first);
    if (keeper === undefined) throw new Error("there is no first shard");
    const homes = await keeper.pulse.guard(() =>
      this.#homesOf(keeper.db, [...new Set(asked.map(({ tenantId }) => tenantId))]),
    );
    const toSettle = new Set(asked.filter(({ settles }) => settles).map(({ tenantId }) => tenantId));
    const settling = [...homes].filter(([tenantId]) => toSettle.has(tenantId));
    const byShard = Map.groupBy(settling, ([, { shard }]) => shard);
    const found = new Map<TenantId, Found>();
    await Promise.all(
      [...byShard].map(async ([shard, residents]) => {
        const error = await this.#settle(shard, residents);
        for (const [tenantId, home] of residents) {
          if (error === null) this.#known.set(tenantId, home);
          found.set(tenantId, error === null ? { home } : { error });
        }
      }),
    );
    return asked.map(({ tenantId, settles }) => {
      const home = homes.get(tenantId);
      if (home === undefined) return { error: new Error("a tenant that was placed has no home") };
      return (settles ? found.get(tenantId) : undefined) ?? { home };
    });
  }

  async #homesOf(db: Db, tenantIds: readonly TenantId[]): Promise<Map<TenantId, Home>> {
    const { first, choose } = this.#services;
    const known = await readHomes(db, tenantIds);
    const homeless = tenantIds.filter((tenantId) => !known.has(tenantId));
    if (homeless.length === 0) return known;
    const places = homeless.map((tenantId) => ({ tenantId, shard: choose(tenantId) }));
    for (let from = 0; from < places.length; from += PLACED_AT_ONCE) {
      await placeTenants(db, first, places.slice(from, from + PLACED_AT_ONCE));
    }
    return readHomes(db, tenantIds);
  }

  /** Null, or why the shard cannot be used. */
  async #settle(shard: string, residents: readonly [TenantId, Home][]): Promise<unknown> {
    const { shards, log } = this.#services;
    const reached = shards.get(shard);
    if (reached === undefined) {
      log.error({ shard }, "tenants live in a shard that SHARDS does not name: add it, and restart");
      return new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S });
    }
    const placed = residents.filter(([, { version }]) => version === PLACED).map(([tenantId]) => tenantId);
    try {
      if (placed.length > 0) await reached.pulse.guard(() => settleTenants(reached.db, shard, placed));
      return null;
    } catch (error) {
      return error;
    }
  }
}
