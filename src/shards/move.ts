/**
 * Moves a tenant from one shard to another while both work.
 *
 * The cast: the source and the target, the directory in the first shard, and
 * PostgreSQL's replication, which copies the tenant's rows with every change.
 *
 *   close    the target refuses the tenant's callers, and its workers skip the rows
 *   copy     the log and the settings, while the tenant publishes and is sent to
 *   hold     no worker begins an attempt for it; those in flight end
 *   fence    the source refuses it; the last changes reach the target
 *   switch   one commit in the directory: the tenant lives in the target
 *   drop     subscription and publications, then the source's rows
 *
 * Why nothing is lost: behind the fence the command waits for every transaction
 * that may have looked at it before, so what comes later is refused. Only then
 * it reads where the source's log ends, and the target has all up to there on
 * its disk before the switch. Why nothing is sent twice: dispatches are copied
 * held, and the target refuses access to them before the switch. A fence that takes
 * too long is lifted, and set again later.
 *
 * Why a kill leaves the tenant in one shard: each step looks at what is there
 * and continues. Before the switch the directory names the source, afterwards the
 * target, and the rows of the other are never asked.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { ConfigError } from "../shared/config-error.ts";
import type { TenantId } from "../shared/id.ts";
import { withinLimit } from "../shared/time-limit.ts";
import { until } from "../shared/until.ts";
import { askAlone, askAloneInSession } from "./asking-source.ts";
import {
  ensureDay,
  fetchPending,
  hasReached,
  isFetched,
  isSubscribed,
  publish,
  publishPending,
  readCopyName,
  readCopyState,
  readDays,
  readEnd,
  readLastMinute,
  stopApplying,
  subscribe,
  ASKING_MS,
  type Copy,
  type CopyState,
} from "./copy-store.ts";
import { compareLog, lacking, requireAll } from "./compare-copy.ts";
import { deleteAllRows } from "./delete-rows.ts";
import { dropCopy, stopCopy } from "./end-copy.ts";
import { hasCounts, holdTenant, isAtWork } from "./hold-store.ts";
import { HopelessError, requireFreeWorkers, requireNothingStored, requireSlot } from "./hopeless-moves.ts";
import { readHomes } from "./directory-store.ts";
import {
  commitSwitch,
  countRows,
  deleteMove,
  fence,
  findTablesWithRows,
  forgetFence,
  forgetKeys,
  insertExports,
  insertReplays,
  lacksEvents,
  lockErasures,
  lockSwitched,
  readExports,
  readKeysOnTheWay,
  readMarks,
  readReplays,
  readReplaysOfMove,
  setMoving,
  takeReplays,
  unfence,
  wakeClients,
  wasErasedSince,
  type Move,
  type MoveSite,
} from "./move-store.ts";
import { BROUGHT } from "./move-tables.ts";
import { endOfOpen } from "./open-transactions.ts";
import { releaseWhenOpenEnd, reopen } from "./reopen.ts";

/** Less than callers wait: see while-moving.ts. */
const FENCED_MS = 1700;
const PAUSE_MS = 2000;
const OR_UNDO = "Then run the command again, or undo the move with --undo";

export type MoveServices = {
  directory: Pool;
  source: MoveSite;
  target: MoveSite;
  /** Under which the target's server reaches the source. */
  sourceUrl: string;
  /** Folds counts of attempts. */
  foldCounts: (source: Pool) => Promise<unknown>;
  tell: (text: string) => void;
};

export async function moveTenant(services: MoveServices, move: Move): Promise<void> {
  const { directory, source, target, tell } = services;
  const copy = await copyOf(services, move);
  if (!move.switched) await bringOver(services, move, copy);
  await until(() => stopApplying(target.db, copy));
  await openTarget(services, move.tenantId);
  // So that whoever finds the rows half deleted, or gone, knows why: see restored-move.ts.
  await fence(source.db, move.tenantId, await readVersion(directory, move.tenantId));
  await wakeClients(source.db, move.tenantId);
  tell(`${move.tenantId} lives in ${target.name}; its rows in ${source.name} are being deleted`);
  // First the copy: it would carry the deletions over.
  await dropCopy(services, copy, await stopCopy(services, copy));
  await deleteAllRows(source.db, move.tenantId, (count) => tell(`deleted ${count} rows`));
  await setMoving(source.db, move.tenantId, false);
  await deleteMove(directory, move.tenantId);
}

/** All until the switch. */
async function bringOver(services: MoveServices, move: Move, copy: Copy): Promise<void> {
  try {
    await requireNoErasure(services, move);
    // A new slot would leave out the changes between the lost one's end and its own beginning.
    if (await isSubscribed(services.target.db, copy)) await requireSlot(services.source, copy);
    await closeTarget(services, copy);
    await copyLog(services, copy);
    await compareLog(services, move.tenantId, () => untilReached(services, copy));
    while (!(await switchOver(services, move, copy))) await delay(PAUSE_MS);
  } catch (error) {
    if (!(error instanceof HopelessError)) throw error;
    await undoMove(services, move);
    throw new ConfigError(
      `${error.message}\nThe move was given up, and nothing is left of it. ${error.next}`,
    );
  }
}

/** Once: what the tenant has done since an earlier command let it in stays as it is. */
async function openTarget({ directory, source, target }: MoveServices, tenantId: TenantId): Promise<void> {
  if ((await readMarks(target.db, tenantId))?.fenced !== true) return;
  // When no more keys are copied: the target must accept the events that these were claimed for.
  await forgetKeys(target.db, tenantId, await readKeysOnTheWay(source.db, tenantId));
  await letIn(target.db, tenantId, {
    replays: await readReplaysOfMove(directory, tenantId),
    exports: await readExports(source.db, tenantId),
  });
}

/** With its replays and exports; workers claim its dispatches as its endpoints want it. */
async function letIn(
  target: Pool,
  tenantId: TenantId,
  { replays, exports }: { replays: string; exports: string },
): Promise<void> {
  await inTransaction(target, async (db) => {
    await insertReplays(db, replays);
    await insertExports(db, exports);
    await reopen(db, tenantId);
  });
}

/** Leaves the tenant where it is, and nothing of the copy. Only before the switch. */
export async function undoMove(services: MoveServices, move: Move): Promise<void> {
  const { directory, source, target, tell } = services;
  const copy = await copyOf(services, move);
  // A killed command's commit may still have been on its way.
  if (await hasSwitched(directory, move.tenantId)) {
    throw new ConfigError(
      `${move.tenantId} lives in ${target.name} already.\nRun the command without --undo: it deletes what is left in ${source.name}.`,
    );
  }
  // First, or the target would get dispatches that wait for nothing, and its workers would send them too.
  const slots = await stopCopy(services, copy);
  await inTransaction(source.db, (db) => reopen(db, move.tenantId));
  // Behind that, since another server may hold a slot.
  await dropCopy(services, copy, slots);
  await deleteAllRows(target.db, move.tenantId, (count) => tell(`deleted ${count} rows of the copy`));
  await forgetFence(target.db, move.tenantId);
  // Last, since one may stay open for hours: a slot would keep the source's log meanwhile.
  await releaseWhenOpenEnd(source, move.tenantId, tell);
  await deleteMove(directory, move.tenantId);
}

/** Who asks for an erasure from now on sees that the tenant is being moved. What was asked before counts. */
async function requireNoErasure(services: MoveServices, move: Move): Promise<void> {
  const isErased = await inTransaction(services.source.db, async (db) => {
    await lockErasures(db);
    return wasErasedSince(db, move.tenantId, move.startedAt);
  });
  if (!isErased) return;
  await undoMove(services, move);
  throw erased(move, "The move was given up; nothing is left of it.");
}

async function hasSwitched(directory: Pool, tenantId: TenantId): Promise<boolean> {
  return inTransaction(directory, (db) => lockSwitched(db, tenantId));
}

async function copyOf({ directory, target }: MoveServices, { tenantId }: Move): Promise<Copy> {
  return { tenantId, name: await readCopyName(directory, tenantId, target.name) };
}

/**
 * Work in the target that began without the fence ends first: what it published
 * claimed its key there, and the copy would bring the same key.
 */
async function closeTarget({ directory, target, tell }: MoveServices, copy: Copy): Promise<void> {
  const { tenantId } = copy;
  await fence(target.db, tenantId, (await readVersion(directory, tenantId)) + 1);
  tell(`waiting for open transactions in ${target.name}`);
  await until(await endOfOpen(target.db));
  if (await isSubscribed(target.db, copy)) return;
  const filled = await findTablesWithRows(target.db, tenantId, BROUGHT);
  if (filled.length === 0) return;
  throw new ConfigError(
    `${target.name} got rows of ${tenantId} as the move began (${filled.join(", ")}).\nUndo the move with --undo and begin again.`,
  );
}

async function copyLog(services: MoveServices, copy: Copy): Promise<void> {
  const { source, target, sourceUrl, tell } = services;
  for (const day of await readDays(source.db)) await ensureDay(target.db, day);
  await publish(source.db, copy);
  await askAlone(services, `${OR_UNDO}.`, async () => {
    await requireFreeWorkers(target, copy);
    await inTransaction(target.db, (db) => subscribe(db, copy, sourceUrl));
  });
  await untilCopied(services, copy);
  tell("copying what changed meanwhile");
  await untilReached(services, copy);
}

/** Until the target has what the source has now. */
async function untilReached(services: MoveServices, copy: Copy): Promise<void> {
  const { source } = services;
  const end = await readEnd(source.db);
  const stops = await watchCopy(services, copy);
  await until(async () => {
    await stops();
    return hasReached(source.db, copy, end);
  });
}

/** @throws ConfigError when PostgreSQL has failed to apply something since, has given up, or does not come to fetch anything. */
async function watchCopy({ source, target }: MoveServices, copy: Copy): Promise<() => Promise<CopyState>> {
  const before = await readCopyState(target.db, copy);
  let fetchedAt = performance.now();
  return async () => {
    await requireSlot(source, copy);
    const state = await readCopyState(target.db, copy);
    // PostgreSQL counts no connection that it could not make.
    if (await isFetched(source.db, copy)) fetchedAt = performance.now();
    const isFetching = performance.now() - fetchedAt < ASKING_MS;
    if (state.errors > before.errors || !state.enabled || !isFetching) {
      throw new ConfigError(
        "The target's server could not fetch or apply the copy: its log says why.\nIf it lost its connection to the source, run the command again soon, as deliveries and publishing may wait; else remove the cause first, or undo the move with --undo.",
      );
    }
    return state;
  };
}

async function untilCopied(services: MoveServices, copy: Copy): Promise<void> {
  const look = await watchCopy(services, copy);
  await until(async () => {
    const { unready } = await look();
    if (unready > 0) services.tell(`copying: ${unready} tables left`);
    return unready === 0;
  });
}

/** True once the tenant lives in the target. False if it took too long, and it stays in the source. */
async function switchOver(services: MoveServices, move: Move, copy: Copy): Promise<boolean> {
  const { directory, source, target, tell } = services;
  await setMoving(source.db, move.tenantId, true);
  tell("waiting for attempts in flight: the tenant's deliveries wait from now on");
  // An open transaction may have created an endpoint without seeing that: wait for its commit.
  await until(await endOfOpen(source.db));
  await until(async () => !(await holdTenant(source.db, move.tenantId)));
  // A transaction that read the endpoints before may still add a dispatch that is not held.
  await until(await endOfOpen(source.db));
  await until(async () => !(await holdTenant(source.db, move.tenantId)));
  await publishPending(source.db, copy);
  const next = `${OR_UNDO}: ${move.tenantId}'s deliveries wait until then.`;
  await askAloneInSession(services, next, (db) => fetchPending(db, copy));
  await untilCopied(services, copy);
  await untilReached(services, copy);
  if (await lacksEvents(target.db, move.tenantId)) throw lacking(target.name, "bodies of events that wait");
  // So little is left to fold behind the fence.
  await services.foldCounts(source.db);
  tell("switching: its publishing waits too");
  await fence(source.db, move.tenantId, await readVersion(directory, move.tenantId));
  try {
    const trouble = await finish(services, move, copy);
    if (trouble === null) return true;
    tell(`${trouble}: trying again`);
  } catch (error) {
    await lift(services, move);
    throw error;
  }
  await lift(services, move);
  return false;
}

/** A switch whose commit was not answered may have happened: then the source stays fenced. */
async function lift({ directory, source }: MoveServices, { tenantId }: Move): Promise<void> {
  if (!(await hasSwitched(directory, tenantId))) await unfence(source.db, tenantId);
}

async function readVersion(directory: Pool, tenantId: TenantId): Promise<number> {
  const home = (await readHomes(directory, [tenantId])).get(tenantId);
  if (home === undefined) throw new Error("a tenant that is moved has no home");
  return home.version;
}

/** Behind the fence. Null once it is done, or why not yet. */
async function finish(services: MoveServices, move: Move, copy: Copy): Promise<string | null> {
  const { directory, source, target } = services;
  const { tenantId } = move;
  const endsAt = performance.now() + FENCED_MS;
  const isQuiet =
    (await until(await endOfOpen(source.db), endsAt)) &&
    (await until(() => isFolded(services, tenantId), endsAt));
  if (!isQuiet) return `a transaction in ${source.name} takes long`;
  if (await isAtWork(source.db, tenantId)) return "an attempt has begun";
  if (await wasErasedSince(source.db, tenantId, move.startedAt))
    throw erased(move, "Undo the move with --undo.");
  await requireNothingStored(source, tenantId);
  await takeReplays(source.db, tenantId);
  const replays = await readReplays(source.db, tenantId);
  const recent = await readLastMinute(source.db);
  const counts = await countRows(source.db, tenantId, recent);
  const end = await readEnd(source.db);
  if (!(await until(() => hasReached(source.db, copy, end), endsAt))) return `${target.name} is behind`;
  const copied = await inTime(countRows(target.db, tenantId, recent), endsAt);
  if (copied === null) return `${target.name} does not answer`;
  requireAll(counts, copied, target.name);
  await commitSwitch(directory, move, replays);
  return null;
}

function erased({ tenantId }: Move, next: string): ConfigError {
  return new ConfigError(`${tenantId} is being erased, or was since the move began.\n${next}`);
}

/**
 * Folds the counts itself. A worker does every few seconds, and a tenant whose
 * people retry all the time would have new ones at each fence. A worker that
 * folds at this moment has locked some: they are waited for.
 */
async function isFolded({ source, foldCounts }: MoveServices, tenantId: TenantId): Promise<boolean> {
  await foldCounts(source.db);
  return !(await hasCounts(source.db, tenantId));
}

/** Null where `endsAt` comes first: a host that is gone never answers. */
async function inTime<T>(answer: Promise<T>, endsAt: number): Promise<T | null> {
  const late = new Error("no answer in time");
  return withinLimit(answer, Math.max(0, endsAt - performance.now()), () => late).catch((error: unknown) => {
    if (error === late) return null;
    throw error;
  });
}
