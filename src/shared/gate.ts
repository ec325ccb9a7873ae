/** How many items a key may have under way; the rest wait here, in order. */
export type Gate<Key, Item> = {
  /** Starts the item now or when its turn comes. */
  enter(key: Key, item: Item): void;
  /** Gives up an item's place, whether it was started or still waiting; starts the next. Once for each item. */
  leave(key: Key, item: Item): void;
};

export function makeGate<Key, Item>(limit: number, start: (item: Item) => void): Gate<Key, Item> {
  const lanes = new Map<Key, { started: number; waiting: Set<Item> }>();

  return {
    enter(key, item) {
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = { started: 0, waiting: new Set() };
        lanes.set(key, lane);
      }
      if (lane.started >= limit) {
        lane.waiting.add(item);
        return;
      }
      lane.started++;
      start(item);
    },
    leave(key, item) {
      const lane = lanes.get(key);
      if (lane === undefined || lane.waiting.delete(item)) return;
      for (const next of lane.waiting) {
        lane.waiting.delete(next);
        start(next);
        return;
      }
      lane.started--;
      if (lane.started === 0) lanes.delete(key);
    },
  };
}
