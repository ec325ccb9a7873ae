/**
 * Accepts events that a stream has had since. A message of it may come again,
 * to this worker or to another: each event is accepted once, by its id.
 *
 * Why once: an event that is stored already is left out before the group is
 * accepted. Should another worker store it in between, its key in the table
 * makes the whole group fail, and the relay tries again.
 */
import type { AcceptedEvent, NewEvent } from "../queue/queue.ts";
import { makeFairTurns } from "../shared/fair-turns.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { TenantId } from "../shared/id.ts";
import type { Acceptor } from "./acceptor.ts";
import { makeKeyedCommits } from "./keyed-commits.ts";

/** One whose key is held delays the next tenant's for so long, and its own tenant's others. */
const ALONE_LOCK_WAIT_MS = 100;

/** `known`: accepted before. `repeated`, `key_reused`: its key belongs to another event, of the same content or not. */
export type Taken = "accepted" | "known" | "repeated" | "key_reused";

export type TakenEvents = {
  /** `alone` puts it into no group with others, which an event that the database refuses would take with it. */
  accept(event: NewEvent, how: "grouped" | "alone"): Promise<Taken>;
};

export function makeTakenEvents(acceptor: Acceptor): TakenEvents {
  async function acceptUnknown(
    events: readonly NewEvent[],
    patience: { lockWaitMs?: number } = {},
  ): Promise<(AcceptedEvent | undefined)[]> {
    const known = await acceptor.queue.findKnown(events);
    // A message that was sent again while its answer was missing may be in the group twice.
    const others = new Set(events.filter(({ id }) => !known.has(id) && known.add(id)));
    if (others.size === 0) return events.map(() => undefined);
    const accepted = await acceptor.accept([...others], patience);
    return events.map((event) => (others.has(event) ? accepted.get(event.id) : undefined));
  }

  const size = acceptor.fanOut.ofOneStatement;
  const plain = new GroupCommit((events: NewEvent[]) => acceptUnknown(events), { ...size, maxConcurrent: 1 });
  const keyed = makeKeyedCommits((events, lockWaitMs) => acceptUnknown(events, { lockWaitMs }), size);
  const turns = makeFairTurns<TenantId>({ total: 1, share: 1 });
  const alone = {
    add: async (event: NewEvent) =>
      turns.run(event.tenantId, async () => {
        const [accepted] = await acceptUnknown([event], { lockWaitMs: ALONE_LOCK_WAIT_MS });
        return accepted;
      }),
  };

  async function accept(event: NewEvent, how: "grouped" | "alone"): Promise<Taken> {
    const hasKey = event.idempotencyKey !== null;
    const commits = how === "alone" ? alone : hasKey ? keyed : plain;
    if ((await commits.add(event)) !== undefined) return "accepted";
    if (!hasKey || (await acceptor.queue.findKnown([event])).has(event.id)) return "known";
    const earlier = (await acceptor.queue.findEarlier([event])).get(event.id);
    // The key ran out between the looks: it is free now.
    if (earlier === undefined) return accept(event, how);
    return earlier.sameContent ? "repeated" : "key_reused";
  }

  return { accept };
}
