/**
 * Accepts the intake's events in their tenants' shards.
 *
 * Why a tenant that moves between two tries gets no event twice: the shard that
 * accepts an event asks for its id before, and accepts it only if the tenant
 * lives there under the version of the directory that this process knows. A
 * move brings all of the tenant's events over before the directory names the
 * target, and the source accepts none behind its fence. So a try in the target
 * finds what the source had accepted, and one in the source is refused.
 */
import { LRUCache } from "lru-cache";
import { isMisrouted } from "../database/residence.ts";
import type { TakenEvents } from "../events/taken-events.ts";
import { TenantMovingError, type Home, type Homes } from "../intake/homes.ts";
import type { LaneOf } from "../intake/store-events.ts";
import type { TenantId } from "../shared/id.ts";
import type { Directory } from "./directory.ts";
import type { Pulse } from "./pulse.ts";

const MAX_REFUSED = 10_000;

export type AcceptingShard = {
  name: string;
  taken: TakenEvents;
  metrics: Home["metrics"];
  pulse: Pick<Pulse, "isAway" | "guard">;
};

type Known = Pick<Directory, "peek" | "find" | "locate" | "forget">;

/** @param shards the first keeps the directory. */
export function makeShardedHomes(directory: Known, shards: readonly AcceptingShard[]): Homes {
  /** A fenced tenant would fail the groups of others for as long as its fence is there. */
  const refused = new LRUCache<TenantId, true>({ max: MAX_REFUSED });
  const all = shards.map((shard) => makeHome(directory, shard, refused));
  const byName = new Map(all.map((home) => [home.shard, home]));
  const [keeper] = all;
  if (keeper === undefined) throw new Error("there is no shard");
  return {
    all,
    keeper,
    peek(tenantId) {
      const known = directory.peek(tenantId);
      return known === undefined ? undefined : byName.get(known.shard);
    },
    find: async (tenantId) => byName.get(await directory.locate(tenantId)) ?? null,
  };
}

/** The shard of all of these events, as far as this process knows it. It learns the others' behind the answer. */
export function makeLaneOf(directory: Pick<Known, "peek" | "find">): LaneOf {
  return (events) => {
    const shards = new Set<string>();
    for (const tenantId of new Set(events.map((event) => event.tenantId))) {
      const home = directory.peek(tenantId);
      if (home === undefined) void directory.find(tenantId).catch(() => undefined);
      shards.add(home?.shard ?? "");
    }
    const [only = "", ...others] = shards;
    return others.length === 0 ? only : "";
  };
}

function makeHome(
  directory: Known,
  { name, taken, metrics, pulse }: AcceptingShard,
  refused: LRUCache<TenantId, true>,
): Home {
  return {
    shard: name,
    metrics,
    isAway: () => pulse.isAway(),
    async accept(event, how) {
      const { tenantId } = event;
      // The tenant may be new to the shard too.
      const home = await directory.find(tenantId);
      if (home.shard !== name) throw new TenantMovingError("the tenant lives in another shard");
      try {
        const one = refused.has(tenantId) ? "alone" : how;
        const outcome = await pulse.guard(() => taken.accept(event, one));
        refused.delete(tenantId);
        return outcome;
      } catch (error) {
        if (!isMisrouted(error)) throw error;
        directory.forget(tenantId);
        refused.set(tenantId, true);
        throw new TenantMovingError("the tenant's shard refuses it", { cause: error });
      }
    },
  };
}
