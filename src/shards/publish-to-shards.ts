/**
 * Makes the events of one request durable where their tenants live.
 *
 * An array over several shards commits once, in the shard of its first event.
 * The others' events are left there, in the same commit, to be handed over. So
 * it is all or nothing, and a shard that is away does not keep events from
 * being accepted by another.
 */
import type { Commit } from "../events/committing.ts";
import type { MakeDurable, Published } from "../events/publish.ts";
import type { FindKnownKeys } from "../intake/known-keys.ts";
import { tenantsOf, type EarlierEvent, type NewEvent } from "../queue/queue.ts";
import type { EventId, TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Directory } from "./directory.ts";
import type { Pulse } from "./pulse.ts";
import { whileMoving } from "./while-moving.ts";

export type PublishingShard = {
  commit: Commit;
  findKnownKeys: FindKnownKeys;
  pulse: Pick<Pulse, "guard">;
};

export function makeShardedDurable(
  directory: Directory,
  shards: ReadonlyMap<string, PublishingShard>,
): MakeDurable {
  async function publish(events: NewEvent[]): Promise<Published[]> {
    const [first] = events;
    if (first === undefined) return [];
    const { shard: name } = await directory.find(first.tenantId);
    const shard = shards.get(name);
    if (shard === undefined) throw new Error(`the directory answers the shard ${name}, which has no parts`);
    const commit: Commit = (...given) => shard.pulse.guard(() => shard.commit(...given));
    if (events.length === 1) return commit(events);
    const homes = await homesOf(events);
    const own = events.filter(({ tenantId }) => homes.get(tenantId) === name);
    if (own.length === events.length) return commit(events);
    const foreign = events.filter(({ tenantId }) => homes.get(tenantId) !== name);
    const earlier = await earlierOf(foreign, homes);
    const toHandOver = foreign.filter(({ id }) => !earlier.has(id));
    const committed = await commit(own, toHandOver);
    return inOrder(events, { own, committed, earlier });
  }

  /** Of events whose shard is known now; handing over looks up the others again. */
  async function homesOf(events: readonly NewEvent[]): Promise<Map<TenantId, string>> {
    const homes = new Map<TenantId, string>();
    const find = async (tenantId: TenantId): Promise<void> => {
      homes.set(tenantId, (await directory.find(tenantId)).shard);
    };
    await Promise.allSettled(tenantsOf(events).map(find));
    return homes;
  }

  /** What the keys of events stand for in their own shards, as far as these say so at once. */
  async function earlierOf(
    foreign: readonly NewEvent[],
    homes: ReadonlyMap<TenantId, string>,
  ): Promise<Map<EventId, EarlierEvent>> {
    const byShard = Map.groupBy(foreign, ({ tenantId }) => homes.get(tenantId) ?? "");
    const found = await Promise.all(
      [...byShard].map(
        async ([name, events]) => (await shards.get(name)?.findKnownKeys(events)) ?? new Map(),
      ),
    );
    const earlier = new Map<EventId, EarlierEvent>(found.flatMap((some) => Array.from(some)));
    if (earlier.values().some(({ sameContent }) => !sameContent)) throw new Refusal("idempotency_key_reused");
    return earlier;
  }

  return async (events) =>
    whileMoving(
      () => publish(events),
      () => {
        for (const { tenantId } of events) directory.forget(tenantId);
      },
    );
}

function inOrder(
  events: readonly NewEvent[],
  {
    own,
    committed,
    earlier,
  }: {
    own: readonly NewEvent[];
    committed: readonly Published[];
    earlier: ReadonlyMap<EventId, EarlierEvent>;
  },
): Published[] {
  const published = new Map(own.map(({ id }, place) => [id, committed[place]]));
  return events.map(({ id }) => {
    const one = published.get(id);
    if (one !== undefined) return one;
    const before = earlier.get(id);
    if (before !== undefined) return { id: before.id, dispatchCount: before.dispatchCount, isNew: false };
    return { id, dispatchCount: null, isNew: true };
  });
}
