/**
 * A move and a backup that was made before its end, and was restored since. What
 * going on with it, or undoing it, would delete may then be the only rows.
 *
 * The marks of a shard tell. The target is fenced with the next version before
 * anything is copied, and opened behind the switch. Only then the source's fence gets
 * that version too, and only then its rows are deleted.
 */
import { inTransaction } from "../database/transaction.ts";
import { ConfigError } from "../shared/config-error.ts";
import type { TenantId } from "../shared/id.ts";
import { readKeptByBoth } from "./compare-copy.ts";
import { deleteAllRows } from "./delete-rows.ts";
import { readHomes, type Home } from "./directory-store.ts";
import { hasMovingEndpoints } from "./hold-store.ts";
import {
  countRows,
  findMove,
  readMarks,
  setMoving,
  type Marks,
  type Move,
  type MoveSite,
} from "./move-store.ts";
import { releaseWhenOpenEnd, reopen } from "./reopen.ts";

const LATER_BACKUP = "(docs/scaling.md, When a shard is down).";

type Sites<Site> = { first: string; source: Site; target: Site };

/** In two lines, as a fault of a move; null where these are the marks of a move that is at work, was killed, or is to begin. */
export function faultOfMarks(
  tenantId: TenantId,
  move: Pick<Move, "switched"> | null,
  home: Home,
  { first, source, target }: Sites<{ name: string; marks: Marks | null }>,
): string | null {
  if (move?.switched === true) {
    const isKnown = target.marks?.version === home.version;
    const wasOpened = (source.marks?.version ?? 0) >= home.version;
    return isKnown && !(target.marks?.fenced === true && wasOpened)
      ? null
      : faultOfTarget(tenantId, source.name, target.name);
  }
  if (target.marks !== null && !target.marks.fenced) {
    return unknownHome(tenantId, target.name, first);
  }
  const { marks } = source;
  if (marks?.fenced !== true) return null;
  // A fence of a move that has not switched yet.
  if (move !== null && marks.moving && marks.version <= home.version) return null;
  if (move === null && isFenceOfUndone(home, marks)) {
    return `${tenantId} waits in ${source.name} for a move that is over: the shard was restored from a backup made within it.\nRun the command with --undo first.`;
  }
  return `${tenantId} has left ${source.name} by its own rows, of which the directory does not know: a database was restored from a backup older than the end of a move.\nStop Postern, and restore a later backup of ${first} ${LATER_BACKUP}`;
}

function unknownHome(tenantId: TenantId, shard: string, first: string): string {
  return `${tenantId} lives in ${shard} by its own rows, of which the directory does not know: a database was restored from a backup older than a move.\nStop Postern, and restore a later backup of ${first} ${LATER_BACKUP}`;
}

function faultOfTarget(tenantId: TenantId, source: string, target: string): string {
  return `${tenantId} lives in ${target} by the directory, and ${target} lacks what the move brought: it was restored from a backup older than the move's end.\nWhat is left in ${source} stays there meanwhile. Stop Postern, and restore a later backup of ${target} ${LATER_BACKUP}`;
}

type Databases = { directory: MoveSite; source: MoveSite; target: MoveSite };

async function readFault(
  { directory, source, target }: Databases,
  { tenantId }: { tenantId: TenantId },
  move: Move | null,
): Promise<{ fault: string | null; isFenced: boolean }> {
  const home = (await readHomes(directory.db, [tenantId])).get(tenantId);
  if (home === undefined) return { fault: null, isFenced: false };
  const marksOf = async ({ name, db }: MoveSite) => ({ name, marks: await readMarks(db, tenantId) });
  // First the source: its mark comes when the target is open.
  const sites = { first: directory.name, source: await marksOf(source), target: await marksOf(target) };
  return {
    fault: faultOfMarks(tenantId, move, home, sites),
    isFenced: sites.target.marks?.fenced === true,
  };
}

/** Changes nothing. @throws ConfigError where going on with the move, undoing it or beginning one could delete the only rows */
export async function requireUnrestored(
  databases: Databases,
  asked: { tenantId: TenantId },
  move: Move | null,
): Promise<void> {
  const { fault, isFenced } = await readFault(databases, asked, move);
  if (fault !== null) throw new ConfigError(fault);
  // Then all rows are in the source still, and nobody has changed any in the target.
  if (move?.switched === true && isFenced) await requireWhole(databases, asked.tenantId);
}

/** The same while a command may be at work. */
export async function faultOfRestore(databases: Databases, tenantId: TenantId): Promise<string | null> {
  const { db } = databases.directory;
  const move = await findMove(db, tenantId);
  if (move === null) return null;
  const { fault } = await readFault(databases, { tenantId }, move);
  const still = await findMove(db, tenantId);
  return still?.switched === move.switched ? fault : null;
}

/** A backup from within the copying has the fence of the target, and some of the rows. */
async function requireWhole(
  sites: { source: MoveSite; target: MoveSite },
  tenantId: TenantId,
): Promise<void> {
  const since = await readKeptByBoth(sites);
  const needed = await countRows(sites.source.db, tenantId, since);
  const found = await countRows(sites.target.db, tenantId, since);
  const names = ["endpoints", "dispatches", "events", "deliveries"] as const;
  if (names.some((name) => found[name] < needed[name]))
    throw new ConfigError(faultOfTarget(tenantId, sites.source.name, sites.target.name));
}

/**
 * Ends in the shard what a restore has brought back of a move that is over: deliveries that wait for it,
 * or its copy. For a tenant that nobody moves, and whose home knows that it lives there.
 * False where there is nothing.
 */
export async function endRestored(
  { name, db }: MoveSite,
  { tenantId, home }: { tenantId: TenantId; home: Home },
  tell: (text: string) => void,
): Promise<boolean> {
  const marks = await readMarks(db, tenantId);
  const isHome = name === home.shard;
  // An endpoint alone, where a kill came before the last step.
  if (marks?.moving !== true && !(isHome && (await hasMovingEndpoints(db, tenantId)))) return false;
  if (isHome) {
    await inTransaction(db, (transaction) => reopen(transaction, tenantId));
    await releaseWhenOpenEnd({ name, db }, tenantId, tell);
    return true;
  }
  if (marks?.fenced !== true) return false;
  await deleteAllRows(db, tenantId, (count) => tell(`deleted ${count} rows`));
  await setMoving(db, tenantId, false);
  return true;
}

/**
 * Whether these marks of the tenant's own shard were made behind the fence of a move away that was undone. Those of
 * a target, restored from within the copying, are the same from the second version on: it may lack rows.
 */
export function isFenceOfUndone(home: Home, { version, moving, fenced }: Marks): boolean {
  return fenced && moving && version === 1 && home.version === 1;
}

/** @throws ConfigError where the rows of the tenant's own shard are not those that its callers have */
export async function requireHome(
  { name, db }: MoveSite,
  { tenantId, home }: { tenantId: TenantId; home: Home },
  first: string,
): Promise<{ isFenced: boolean }> {
  const marks = await readMarks(db, tenantId);
  // One that was placed there, and has not been asked for.
  if (marks === null && home.version === 1) return { isFenced: false };
  if (marks !== null && !marks.fenced && marks.version === home.version) return { isFenced: false };
  if (marks !== null && isFenceOfUndone(home, marks)) return { isFenced: true };
  const isDirectoryOlder =
    marks !== null && (marks.version > home.version || (marks.fenced && home.version === 1));
  throw new ConfigError(
    `${tenantId} lives in ${name} by the directory alone: a database was restored from a backup older than the end of a move.\nStop Postern, and restore a later backup of ${isDirectoryOlder ? first : name} ${LATER_BACKUP}`,
  );
}

/** @throws ConfigError where this shard, which is not the tenant's own, has let it in since: the directory is older */
export async function requireNoLaterHome(
  { name, db }: MoveSite,
  { tenantId, home }: { tenantId: TenantId; home: Home },
  first: string,
): Promise<void> {
  const marks = await readMarks(db, tenantId);
  if (marks === null || marks.fenced || marks.version <= home.version) return;
  throw new ConfigError(unknownHome(tenantId, name, first));
}
