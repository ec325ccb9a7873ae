/**
 * Finds tenants of whom a shard and the directory tell differently. Moves and new
 * tenants never leave one. A database that was restored from a backup older than
 * a move does, and so does a directory older than a tenant.
 */
import type { Db } from "../database/pool.ts";
import type { TenantId } from "../shared/id.ts";
import { readHomes, readKnownVersions, readMovedTo, readResidents } from "./directory-store.ts";

const PAGE = 1000;

export type Misplaced = {
  tenantId: TenantId;
  shard: string;
  /** By the directory; null: it does not know the tenant. */
  home: string | null;
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
    for (const { tenantId } of others) {
      if (still.has(tenantId))
        found.push({ tenantId, shard: name, home: homes.get(tenantId)?.shard ?? null });
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
