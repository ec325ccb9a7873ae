/**
 * Finds tenants of whom a shard and the directory tell differently. Moves and new
 * tenants never leave one. A database that was restored from a backup older than
 * a move does, and so does a directory older than a tenant.
 */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import {
  readHomes,
  readKnownVersions,
  readMarksOfMoves,
  readMovedTo,
  readMoves,
  readResidents,
  type Home,
  type KnownMarks,
} from "./directory-store.ts";
import { isFenceOfUndone } from "./restored-move.ts";

const PAGE = 1000;

export type Misplaced = {
  tenantId: TenantId;
  shard: string;
  /** By the directory; null: it does not know the tenant. */
  home: string | null;
  /** Else the shard is the one that was restored. */
  isDirectoryOlder: boolean;
};

/** Who lives in the shard by its own rows, and not by the directory. */
export async function findMisplaced(
  directory: Db,
  { name, db }: { name: string; db: Db },
): Promise<Misplaced[]> {
  const found: Misplaced[] = [];
  for (let after = ""; ;) {
    const page = await readResidents(db, after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return found;
    // The directory is asked after the shard: a new tenant is in the directory first.
    const homes = await readHomes(
      directory,
      page.map(({ tenantId }) => tenantId),
    );
    const others = page.filter(({ tenantId, version }) => {
      const home = homes.get(tenantId);
      return home?.shard !== name || home.version !== version;
    });
    // A tenant whose move switched between the two questions is fenced here by now, and no resident.
    const still = new Set(
      others.length === 0 ? [] : (await readResidents(db, after, PAGE)).map(({ tenantId }) => tenantId),
    );
    for (const { tenantId, version } of others) {
      const home = homes.get(tenantId);
      if (still.has(tenantId))
        found.push({
          tenantId,
          shard: name,
          home: home?.shard ?? null,
          isDirectoryOlder: home === undefined || version >= home.version,
        });
    }
    after = last.tenantId;
  }
}

/** Who lives in the shard by the directory since a move whose end the shard does not know. */
export async function findAbsent(directory: Db, { name, db }: { name: string; db: Db }): Promise<TenantId[]> {
  const found: TenantId[] = [];
  for (let after = ""; ;) {
    const read = (): Promise<Known[]> => readMovedTo(directory, name, { after, most: PAGE });
    const page = await read();
    const last = page.at(-1);
    if (last === undefined) return found;
    // The shard is asked after the directory: a move lets the tenant into its target before it ends.
    const absent = new Set(await absentOf(db, page));
    // One that begins to move away between the two questions is fenced here as well.
    const still = absent.size === 0 ? [] : await absentOf(db, await read());
    found.push(...still.filter((tenantId) => absent.has(tenantId)));
    after = last.tenantId;
  }
}

type Known = { tenantId: TenantId; version: number };

async function absentOf(db: Db, page: readonly Known[]): Promise<TenantId[]> {
  const known = await readKnownVersions(
    db,
    page.map(({ tenantId }) => tenantId),
  );
  return page
    .filter(({ tenantId, version }) => (known.get(tenantId) ?? 0) < version)
    .map(({ tenantId }) => tenantId);
}

/**
 * What a restore has brought back of a move that is over.
 * - `gone`: the directory has the tenant here, and it has moved on since;
 * - `held`: it lives here, and its deliveries wait for the move, behind its fence its callers too;
 * - `rest`: its rows here are those of the move, and nobody asks for them.
 */
export type Left = { tenantId: TenantId; what: "gone" | "held" | "rest" };

export async function findLeft(directory: Db, { name, db }: { name: string; db: Db }): Promise<Left[]> {
  const found: Left[] = [];
  for (let after = ""; ;) {
    const page = await readMarksOfMoves(db, after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return found;
    const left = await leftOf(directory, name, page);
    if (left.length > 0) {
      // A move that has ended, or was undone, between the questions leaves no such marks.
      const again = await leftOf(directory, name, await readMarksOfMoves(db, after, PAGE));
      found.push(...left.filter((one) => again.some((other) => isSame(one, other))));
    }
    after = last.tenantId;
  }
}

const isSame = (one: Left, other: Left): boolean =>
  one.tenantId === other.tenantId && one.what === other.what;

async function leftOf(directory: Db, shard: string, page: readonly KnownMarks[]): Promise<Left[]> {
  const homes = await readHomes(
    directory,
    page.map(({ tenantId }) => tenantId),
  );
  const moving = new Set((await readMoves(directory)).map(({ tenantId }) => tenantId));
  return page.flatMap((marks) => {
    const { tenantId } = marks;
    const home = homes.get(tenantId);
    const what = home === undefined || moving.has(tenantId) ? null : judgeLeft(shard, home, marks);
    return what === null ? [] : [{ tenantId, what }];
  });
}

function judgeLeft(shard: string, home: Home, marks: KnownMarks): Left["what"] | null {
  const { version, moving, fenced } = marks;
  // Not fenced, it is taken for a resident: see findMisplaced.
  if (home.shard !== shard) return moving && fenced ? "rest" : null;
  if (isFenceOfUndone(home, marks)) return "held";
  // Of one that was moved here since, see findAbsent.
  if (fenced) return home.version === 1 || version > home.version ? "gone" : null;
  return moving ? "held" : null;
}
