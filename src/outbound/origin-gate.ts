/**
 * How many requests an origin may have under way; the rest wait here, in order.
 *
 * undici's pool has a queue of its own, but a request whose time ran out cannot
 * be taken out of that one, and would open a connection for nothing.
 */
export type OriginGate<Item> = {
  /** Starts the item now or when its turn comes. */
  enter(origin: string, item: Item): void;
  /** Gives up an item's place, whether it was started or still waiting; starts the next. */
  leave(origin: string, item: Item): void;
};

export function makeOriginGate<Item>(limit: number, start: (item: Item) => void): OriginGate<Item> {
  const lanes = new Map<string, { started: number; waiting: Set<Item> }>();

  return {
    enter(origin, item) {
      let lane = lanes.get(origin);
      if (lane === undefined) {
        lane = { started: 0, waiting: new Set() };
        lanes.set(origin, lane);
      }
      if (lane.started >= limit) {
        lane.waiting.add(item);
        return;
      }
      lane.started++;
      start(item);
    },
    leave(origin, item) {
      const lane = lanes.get(origin);
      if (lane === undefined || lane.waiting.delete(item)) return;
      for (const next of lane.waiting) {
        lane.waiting.delete(next);
        start(next);
        return;
      }
      lane.started--;
      if (lane.started === 0) lanes.delete(origin);
    },
  };
}
