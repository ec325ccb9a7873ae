/**
 * What idempotency keys stand for in their tenants' shards, as far as these say
 * so at once. No caller waits for a shard that is away, or for the directory:
 * the relay finds every repetition.
 */
import { makeKnownKeys, type FindKnownKeys } from "../intake/known-keys.ts";
import { tenantsOf, type DispatchQueue, type EarlierEvent, type NewEvent } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { withinLimit } from "../shared/time-limit.ts";
import type { Directory } from "./directory.ts";
import type { Pulse } from "./pulse.ts";

const DIRECTORY_LIMIT_MS = 500;

export type ShardOfKeys = {
  queue: Pick<DispatchQueue, "findEarlier">;
  /** Which of these tenants live in the shard. */
  findHere: (tenantIds: readonly TenantId[]) => Promise<ReadonlySet<TenantId>>;
  pulse: Pick<Pulse, "isAway">;
};

const noAnswer = () => new Error("no answer");

type Look = { find: FindKnownKeys; isAway: () => boolean };

export function makeKeysOfShards(
  directory: Pick<Directory, "peek" | "find" | "forget">,
  shards: ReadonlyMap<string, ShardOfKeys>,
  clock: Clock,
): FindKnownKeys {
  const looks = new Map<string, Look>(
    Array.from(shards, ([name, { queue, findHere, pulse }]) => {
      const findEarlier = async (events: readonly NewEvent[]) => {
        const tenantIds = tenantsOf(events);
        const [earlier, here] = await Promise.all([queue.findEarlier(events), findHere(tenantIds)]);
        for (const tenantId of tenantIds) {
          if (!here.has(tenantId) && directory.peek(tenantId)?.shard === name) directory.forget(tenantId);
        }
        return earlier;
      };
      return [name, { find: makeKnownKeys({ findEarlier }, clock), isAway: () => pulse.isAway() }];
    }),
  );

  async function learn(tenantId: TenantId): Promise<void> {
    await withinLimit(directory.find(tenantId), DIRECTORY_LIMIT_MS, noAnswer).catch(() => undefined);
  }

  async function look(events: readonly NewEvent[]): Promise<Map<EventId, EarlierEvent>> {
    const unknown = tenantsOf(events).filter((tenantId) => directory.peek(tenantId) === undefined);
    await Promise.all(unknown.map(learn));
    const byShard = Map.groupBy(events, ({ tenantId }) => directory.peek(tenantId)?.shard ?? "");
    const found = await Promise.all(
      Array.from(byShard, async ([name, some]) => {
        const shard = looks.get(name);
        return shard === undefined || shard.isAway() ? [] : [...(await shard.find(some))];
      }),
    );
    return new Map(found.flat());
  }

  return async (events) => {
    const keyed = events.filter(({ idempotencyKey }) => idempotencyKey !== null);
    if (keyed.length === 0) return new Map();
    const known = tenantsOf(keyed).filter((tenantId) => directory.peek(tenantId) !== undefined);
    const found = await look(keyed);
    // They were found to be elsewhere: a second look is where the directory has them now.
    const moved = new Set(known.filter((tenantId) => directory.peek(tenantId) === undefined));
    const again = keyed.filter(({ id, tenantId }) => moved.has(tenantId) && !found.has(id));
    return again.length === 0 ? found : new Map([...found, ...(await look(again))]);
  };
}
