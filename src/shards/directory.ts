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
const AT_ONCE = { maxItems: 500, maxConcurrent: 2 };
/** What is placed stays so, should a later statement of the same look fail. */
const PLACED_AT_ONCE = 50;
const PLACED = 1;
const RETRY_AFTER_S = 2;

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
  readonly #looks = new GroupCommit((asked: TenantId[]) => this.#look(asked), AT_ONCE);
  /** For each shard: one that is away keeps its own tenants waiting alone. */
  readonly #settling: ReadonlyMap<string, GroupCommit<TenantId, null>>;

  constructor(services: DirectoryServices) {
    this.#services = services;
    this.#settling = new Map(
      Array.from(services.shards, ([name, { db, pulse }]) => {
        const settle = async (tenantIds: TenantId[]) => {
          await pulse.guard(() => settleTenants(db, name, [...new Set(tenantIds)]));
          return tenantIds.map(() => null);
        };
        return [name, new GroupCommit(settle, AT_ONCE)];
      }),
    );
  }

  /** What this process knows, without asking. */
  peek(tenantId: TenantId): Home | undefined {
    return this.#known.get(tenantId);
  }

  /** @throws Refusal `unavailable` where the tenant lives in a shard that this process does not have. */
  async find(tenantId: TenantId): Promise<Home> {
    const known = this.#known.get(tenantId);
    if (known !== undefined) return known;
    const home = await this.#looks.add(tenantId);
    await this.#settle(tenantId, home);
    this.#known.set(tenantId, home);
    return home;
  }

  /** The name of its shard, which may be away, or one that this process does not have. */
  async locate(tenantId: TenantId): Promise<string> {
    return this.#known.get(tenantId)?.shard ?? this.locateAnew(tenantId);
  }

  /** The same, asked anew; what this process knows stays as it is. */
  async locateAnew(tenantId: TenantId): Promise<string> {
    return (await this.#looks.add(tenantId)).shard;
  }

  /** What is known of the tenant was wrong. */
  forget(tenantId: TenantId): void {
    this.#known.delete(tenantId);
  }

  async #look(asked: readonly TenantId[]): Promise<Home[]> {
    const { first, shards } = this.#services;
    const keeper = shards.get(first);
    if (keeper === undefined) throw new Error("there is no first shard");
    const homes = await keeper.pulse.guard(() => this.#homesOf(keeper.db, [...new Set(asked)]));
    return asked.map((tenantId) => {
      const home = homes.get(tenantId);
      if (home === undefined) throw new Error("a tenant that was placed has no home");
      return home;
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

  /** The shard itself has the tenant too, as a caller's work there needs. */
  async #settle(tenantId: TenantId, { shard, version }: Home): Promise<void> {
    const settling = this.#settling.get(shard);
    if (settling === undefined) {
      const { log } = this.#services;
      log.error({ shard }, "tenants live in a shard that SHARDS does not name: add it, and restart");
      throw new Refusal("unavailable", { retryAfterS: RETRY_AFTER_S });
    }
    if (version === PLACED) await settling.add(tenantId);
  }
}
