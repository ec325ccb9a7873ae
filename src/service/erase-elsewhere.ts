/**
 * Erases what other shards have of a tenant: events that were published there
 * for it, and keys. The tenant's home leads. It begins a part of the erasure in
 * each other shard, by the time at which its own was asked for, and ends when
 * theirs have ended and nothing has come in behind. So a process that dies leaves
 * nothing to repair, and events that they hand over before are erased at home.
 */
import { isPassing } from "../database/passing-errors.ts";
import type { Pool } from "../database/pool.ts";
import type { Directory } from "../shards/directory.ts";
import { readMark } from "../shards/join-store.ts";
import type { Pulse } from "../shards/pulse.ts";
import { Refusal } from "../shared/refusal.ts";
import type { ErasedElsewhere, EraseElsewhere } from "../tenants/erasure-worker.ts";
import type { Erasure } from "../tenants/tenant.ts";
import {
  findErasure,
  insertErasurePart,
  reopenErasurePart,
  type ErasureRun,
} from "../tenants/tenant-store.ts";

type Reached = { db: Pool; pulse: Pick<Pulse, "guard"> };

type Places = { directory: Directory; shards: ReadonlyMap<string, Reached> };

/** For the shard `here`, which only leads erasures of its own tenants. */
export function makeEraseElsewhere(here: string, { directory, shards }: Places): EraseElsewhere {
  const others = [...shards.keys()].filter((name) => name !== here);

  const ask = <T>(name: string, work: (db: Pool) => Promise<T>): Promise<T> => {
    const reached = shards.get(name);
    if (reached === undefined) throw new Error(`there is no shard ${name}`);
    return reached.pulse.guard(() => work(reached.db));
  };

  async function eraseAt(name: string, run: ErasureRun, installation: string): Promise<ErasedElsewhere> {
    const part = await ask(name, (db) => goOn(db, run, { name, directory: installation }));
    const { rows = 0, objects = 0, trouble = null } = part ?? {};
    if (part !== null && isPartOf(run, part) && part.status === "finished")
      return { rows, objects, trouble: null, isAway: false };
    const why = trouble === null ? "" : `: ${trouble}`;
    return { rows, objects, trouble: `shard ${name} is not done${why}`, isAway: false };
  }

  return async (run) => {
    // Asked anew: two shards that both took the tenant for theirs would wait for each other.
    const home = await orAway("the directory", () => directory.locateAnew(run.tenantId));
    if (typeof home !== "string") return home;
    if (home !== here) return { rows: 0, objects: 0, trouble: null, isAway: false };
    const mark = await ask(here, readMark);
    if (mark === null) throw new Error(`the shard ${here} has lost its mark`);
    const parts = await Promise.all(
      others.map((name) => orAway(`shard ${name}`, () => eraseAt(name, run, mark.directory))),
    );
    return {
      rows: parts.reduce((total, { rows }) => total + rows, 0),
      objects: parts.reduce((total, { objects }) => total + objects, 0),
      trouble: parts.find(({ trouble }) => trouble !== null)?.trouble ?? null,
      isAway: parts.some(({ isAway }) => isAway),
    };
  };
}

/** Begins the part where it has not begun, and again where rows came in behind its end. */
async function goOn(
  db: Pool,
  run: ErasureRun,
  shard: Parameters<typeof insertErasurePart>[2],
): Promise<Erasure | null> {
  const known = await findErasure(db, run.tenantId);
  if (known === null || !isPartOf(run, known)) await insertErasurePart(db, run, shard);
  else if (known.status === "finished") await reopenErasurePart(db, run);
  else return known;
  return findErasure(db, run.tenantId);
}

function isPartOf(run: ErasureRun, part: Erasure): boolean {
  return part.requestedAt.getTime() === run.requestedAt.getTime();
}

async function orAway<T>(who: string, work: () => Promise<T>): Promise<T | ErasedElsewhere> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) && !isPassing(error)) throw error;
    return { rows: 0, objects: 0, trouble: `${who} does not answer`, isAway: true };
  }
}
