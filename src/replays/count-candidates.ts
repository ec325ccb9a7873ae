/** How many events a replay would send now, and what of them there is to say. Sends nothing. */
import type { Db } from "../database/pool.ts";
import { idTimeMs, lowestIdAt, parseEventId, type EventId } from "../shared/id.ts";
import { groupCandidates } from "./candidate-store.ts";
import { causeOf, judge, MOST_COUNTED, type ReplayFilter, type Subscription } from "./replay.ts";

/** Rows that one statement looks at. */
const PAGE = 5000;

export type ReplayCount = {
  count: number;
  /** There may be more: not all were looked at. */
  isCapped: boolean;
  /** When the first and the last of them were accepted. */
  oldest: Date | null;
  newest: Date | null;
  /** Of those whose newest attempt failed. */
  byCause: ReadonlyMap<string, number>;
};

export async function countCandidates(
  db: Db,
  filter: ReplayFilter,
  subscription: Subscription,
): Promise<ReplayCount> {
  const byCause = new Map<string, number>();
  let [count, looked] = [0, 0];
  let oldest: EventId | null = null;
  let newest: EventId | null = null;
  let after = startOf(filter);
  for (;;) {
    const { groups, isAll } = await groupCandidates(db, filter, { after, most: PAGE });
    for (const group of groups) {
      if (group.last > after) after = group.last;
      if (judge(group, filter, subscription) !== "send") continue;
      count += group.count;
      if (oldest === null || group.first < oldest) oldest = group.first;
      if (newest === null || group.last > newest) newest = group.last;
      const cause = causeOf(group);
      if (cause !== null) byCause.set(cause, (byCause.get(cause) ?? 0) + group.count);
    }
    looked += PAGE;
    const isCapped = !isAll && looked >= MOST_COUNTED;
    if (isAll || isCapped)
      return { count, isCapped, oldest: timeOf(oldest), newest: timeOf(newest), byCause };
  }
}

/** Below every event of the range. */
export function startOf({ from }: Pick<ReplayFilter, "from">): EventId {
  const start = parseEventId(lowestIdAt(from.getTime()));
  if (start === null) throw new Error("the least id of a time is an id");
  return start;
}

function timeOf(id: EventId | null): Date | null {
  return id === null ? null : new Date(idTimeMs(id));
}
