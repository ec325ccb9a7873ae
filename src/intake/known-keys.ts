/**
 * What idempotency keys stand for, as far as the database says so at once. A
 * repeated key is then answered as without an intake. Nothing waits for a
 * database that is away: the relay finds every repetition.
 */
import type { DispatchQueue, EarlierEvent, NewEvent } from "../queue/queue.ts";
import type { Clock } from "../shared/clock.ts";
import { GroupCommit } from "../shared/group-commit.ts";
import type { EventId } from "../shared/id.ts";
import { withinLimit } from "../shared/time-limit.ts";

const MAX_EVENTS_PER_LOOK = 1000;
const LOOK_LIMIT_MS = 500;
/** After a look in vain the database is left alone for so long. */
const PAUSE_MS = 2000;

/** By event id; of the others, nothing is known. */
export type FindKnownKeys = (events: readonly NewEvent[]) => Promise<ReadonlyMap<EventId, EarlierEvent>>;

export function makeKnownKeys(queue: Pick<DispatchQueue, "findEarlier">, clock: Clock): FindKnownKeys {
  let asksAgainAtMs = 0;
  /** Look-ups that no caller waits for any more, each of which still holds its events. */
  let abandoned = 0;
  const looks = new GroupCommit(
    async (events: NewEvent[]) => {
      const earlier = await queue.findEarlier(events);
      return events.map(({ id }) => earlier.get(id));
    },
    { maxItems: MAX_EVENTS_PER_LOOK, maxConcurrent: 1 },
    clock,
  );
  return async (events) => {
    const keyed = events.filter(({ idempotencyKey }) => idempotencyKey !== null);
    if (keyed.length === 0 || abandoned > 0 || clock.nowMs() < asksAgainAtMs) return new Map();
    const looking = Promise.all(keyed.map((event) => looks.add(event)));
    try {
      const found = await withinLimit(looking, LOOK_LIMIT_MS, () => new Error("no answer"));
      return new Map(keyed.flatMap(({ id }, place) => (found[place] ? [[id, found[place]]] : [])));
    } catch {
      asksAgainAtMs = clock.nowMs() + PAUSE_MS;
      abandoned++;
      const ended = () => void abandoned--;
      void looking.then(ended, ended);
      return new Map();
    }
  };
}
