/** Where a tenant lives and whether it is being moved, as the databases have it: the API has no more than the name. */
import type { Db } from "../../database/pool.ts";
import { readHomes, type Home } from "../../shards/directory-store.ts";
import { findMove, readMarks, type Move } from "../../shards/move-store.ts";
import type { Mark } from "../../shards/shard-faults.ts";
import type { Shard } from "../../shards/shard-list.ts";
import type { TenantId } from "../../shared/id.ts";
import { requireFit } from "../command-database.ts";
import { withDatabase } from "../databases.ts";

type Step = "copying" | "waiting for attempts in flight" | "switching" | "deleting";

export type TenantHome = Home & {
  move: (Pick<Move, "source" | "target" | "startedAt"> & { step: Step }) | null;
};

/** Null for a tenant that the directory does not know yet. */
export async function readHome(shards: readonly Shard[], tenantId: TenantId): Promise<TenantHome | null> {
  const [first] = shards;
  if (first === undefined) return null;
  await requireFit(first.url, `the URL of the shard ${first.name} in SHARDS`);
  const { home, move } = await withDatabase(first.url, async (db) => ({
    home: (await readHomes(db, [tenantId])).get(tenantId),
    move: await findMove(db, tenantId),
  }));
  if (home === undefined) return null;
  if (move === null) return { ...home, move };
  const { source, target, startedAt } = move;
  return { ...home, move: { source, target, startedAt, step: await findStep(shards, move) } };
}

async function findStep(shards: readonly Shard[], { tenantId, source, switched }: Move): Promise<Step> {
  if (switched) return "deleting";
  const left = shards.find(({ name }) => name === source);
  const marks =
    left === undefined ? null : await withDatabase(left.url, async (db) => readMarks(db, tenantId));
  if (marks?.fenced === true) return "switching";
  return marks?.moving === true ? "waiting for attempts in flight" : "copying";
}

/**
 * For a command on one of several databases: says so where that is not the tenant's.
 * Null where it is, and in the first shard also for a tenant that has not been placed yet.
 */
export async function describeElsewhere(
  db: Db,
  { name, keepsDirectory }: Pick<Mark, "name" | "keepsDirectory">,
  tenantId: TenantId,
): Promise<string | null> {
  if (keepsDirectory) {
    const shard = (await readHomes(db, [tenantId])).get(tenantId)?.shard ?? name;
    return shard === name
      ? null
      : `${tenantId} lives in the shard ${shard}, and this is ${name}: what is there is not looked at.`;
  }
  // Who has not been placed here, or has left.
  const marks = await readMarks(db, tenantId);
  return marks?.fenced === false
    ? null
    : `${tenantId} does not live in this shard, ${name}: what is in its own is not looked at. "postern tenants show" names it.`;
}

export function describeHome({ shard, version, move }: TenantHome): string {
  const lives = `lives in ${shard}, version ${version}`;
  if (move === null) return lives;
  const { source, target, startedAt, step } = move;
  const told = step === "deleting" ? `deleting its rows in ${source}` : step;
  return `${lives}\nbeing moved from ${source} to ${target} since ${startedAt.toISOString()}: ${told}`;
}
