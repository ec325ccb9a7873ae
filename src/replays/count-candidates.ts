/** How many events a replay would send now, and what of them there is to say. Sends nothing. */
import type { Db } from "../database/pool.ts";
import { idTimeMs, lowestIdAt, parseEventId, type EventId } from "../shared/id.ts";
import { groupAccepted, type CandidateGroup } from "./candidate-store.ts";
import { groupFailures, sliceFailures } from "./failure-store.ts";
import { causeOf, judge, MOST_COUNTED, type ReplayFilter, type Subscription } from "./replay.ts";

/** How many rows one statement looks at, and all together. */
const LIMITS = { page: 5000, most: MOST_COUNTED };

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

/** Only tests choose the limits. */
export async function countCandidates(
  db: Db,
  filter: ReplayFilter,
  subscription: Subscription,
  limits = LIMITS,
): Promise<ReplayCount> {
  const find = filter.selection === "failed" ? findFailed : findAccepted;
  const found = await find(db, filter, limits);
  const sent = found.groups.filter((group) => judge(group, filter, subscription) === "send");
  const byCause = new Map<string, number>();
  for (const group of sent) {
    const cause = causeOf(group);
    if (cause !== null) byCause.set(cause, (byCause.get(cause) ?? 0) + group.count);
  }
  return {
    count: sent.reduce((sum, group) => sum + group.count, 0),
    isCapped: found.isCapped,
    oldest: timeOf(sent.map(({ first }) => first).toSorted()[0]),
    newest: timeOf(
      sent
        .map(({ last }) => last)
        .toSorted()
        .at(-1),
    ),
    byCause,
  };
}

type Limits = typeof LIMITS;
type Found = { groups: CandidateGroup[]; isCapped: boolean };

/** All slices are asked for at once; how many of them run at once is up to the connections. */
async function findFailed(db: Db, filter: ReplayFilter, { page: size, most }: Limits): Promise<Found> {
  const { slices, isAll } = await sliceFailures(db, filter, { after: startOf(filter), size, most });
  const groups = await Promise.all(slices.map((slice) => groupFailures(db, filter, slice)));
  return { groups: groups.flat(), isCapped: !isAll };
}

async function findAccepted(db: Db, filter: ReplayFilter, { page, most }: Limits): Promise<Found> {
  const found: CandidateGroup[] = [];
  let after = startOf(filter);
  for (let looked = page; ; looked += page) {
    const { groups, isAll } = await groupAccepted(db, filter, { after, most: page });
    found.push(...groups);
    for (const { last } of groups) if (last > after) after = last;
    if (isAll || looked >= most) return { groups: found, isCapped: !isAll };
  }
}

/** Below every event of the range. */
export function startOf({ from }: Pick<ReplayFilter, "from">): EventId {
  const start = parseEventId(lowestIdAt(from.getTime()));
  if (start === null) throw new Error("the least id of a time is an id");
  return start;
}

function timeOf(id: EventId | undefined): Date | null {
  return id === undefined ? null : new Date(idTimeMs(id));
}
