/**
 * Makes databases the shards of one installation, or says why they are not.
 *
 * Each carries a mark with its name and its directory's id, which it gets at the
 * first start. So a list that was mixed up, a database of another installation,
 * or one that was taken away, is found before anything is written.
 */
import type { Db } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import {
  countHomes,
  hasTenants,
  insertShardIdentity,
  readDatabaseIdentity,
  readSchemaVersion,
  readShardIdentity,
} from "./join-store.ts";

/** One that could be reached and is migrated; the first of SHARDS keeps the directory. */
export type Joining = { name: string; db: Db };

/** `names` are all that SHARDS has, reachable or not. Throws {@link ConfigError}. */
export async function joinShards(
  first: Joining,
  others: readonly Joining[],
  names: readonly string[],
): Promise<void> {
  const all = [first, ...others];
  await requireDifferent(all);
  await requireOneVersion(all);
  const directory = await joinFirst(first);
  for (const shard of others) await joinOther(shard, { directory, first: first.name });
  await requireEveryHome(first.db, names);
}

/** For a process that has one database and no shards. */
export async function requireNoShard(db: Db): Promise<void> {
  const identity = await readShardIdentity(db);
  if (identity === null) return;
  throw new ConfigError(
    `This database is the shard ${identity.name} of several.\nSet SHARDS to all of them, and remove DATABASE_URL.`,
  );
}

async function requireDifferent(shards: readonly Joining[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const { name, db } of shards) {
    const identity = await readDatabaseIdentity(db);
    const other = seen.get(identity);
    if (other !== undefined) {
      throw new ConfigError(
        `SHARDS names one database twice, as ${other} and as ${name}.\nGive each shard a database of its own.`,
      );
    }
    seen.set(identity, name);
  }
}

async function requireOneVersion(shards: readonly Joining[]): Promise<void> {
  const versions = await Promise.all(
    shards.map(async ({ name, db }) => ({ name, version: await readSchemaVersion(db) })),
  );
  const newest = Math.max(...versions.map(({ version }) => version));
  const behind = versions.filter(({ version }) => version < newest).map(({ name }) => name);
  if (behind.length === 0) return;
  const ahead = versions.filter(({ version }) => version === newest).map(({ name }) => name);
  throw new ConfigError(
    `The shards have different versions of the schema: ${ahead.join(", ")} is at ${newest}, and ${behind.join(", ")} is behind.\n` +
      "A newer release began to upgrade them: run `postern migrate` of that release, and start that one.",
  );
}

/** Answers the directory's id. */
async function joinFirst({ name, db }: Joining): Promise<string> {
  if ((await readShardIdentity(db)) === null) await insertShardIdentity(db, { name, directory: null });
  const identity = await readShardIdentity(db);
  if (identity === null) throw new Error("the first shard has no mark");
  requireName(name, identity.name);
  if (!identity.keepsDirectory) {
    throw new ConfigError(
      `The shard ${name} stands first in SHARDS, but another keeps the directory of tenants.\nPut the shards back into their order: the first keeps the directory.`,
    );
  }
  return identity.directory;
}

async function joinOther(
  { name, db }: Joining,
  { directory, first }: { directory: string; first: string },
): Promise<void> {
  if ((await readShardIdentity(db)) === null) {
    if (await hasTenants(db)) {
      throw new ConfigError(
        `The database of the shard ${name} holds tenants already, of which the directory in ${first} does not know.\nGive a new shard an empty database.`,
      );
    }
    await insertShardIdentity(db, { name, directory });
  }
  const identity = await readShardIdentity(db);
  if (identity === null) throw new Error("a shard has no mark");
  requireName(name, identity.name);
  if (identity.directory === directory) return;
  throw new ConfigError(
    `The database of the shard ${name} belongs to another installation's shards.\nName the database that it had, or give a new shard an empty one.`,
  );
}

function requireName(configured: string, found: string): void {
  if (configured === found) return;
  throw new ConfigError(
    `The database that SHARDS calls ${configured} is the shard ${found}.\nGive each database its former name in SHARDS.`,
  );
}

async function requireEveryHome(db: Db, names: readonly string[]): Promise<void> {
  const missing = [...(await countHomes(db))].filter(([shard]) => !names.includes(shard));
  if (missing.length === 0) return;
  const told = missing.map(([shard, count]) => `${shard} (${count} tenants)`).join(", ");
  throw new ConfigError(
    `Tenants live in shards that SHARDS does not name: ${told}.\nAdd these shards again; with *0 behind its name a shard takes no new tenants.`,
  );
}
