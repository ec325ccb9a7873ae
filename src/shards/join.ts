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
  insertMark,
  readDatabaseIdentity,
  readSchemaVersion,
  readMark,
} from "./join-store.ts";
import { shardFaults, type ShardFacts } from "./shard-faults.ts";

/** One that can be reached and is migrated. */
export type Joining = { name: string; db: Db };

/** The first keeps the directory. `names` are all that SHARDS has, reachable or not. Throws {@link ConfigError}. */
export async function joinShards(shards: readonly Joining[], names: readonly string[]): Promise<void> {
  requireFaultless(await judgeShards(shards, names));
  let directory: string | null = null;
  for (const { name, db } of shards) {
    if ((await readMark(db)) === null) await insertMark(db, { name, directory });
    directory ??= (await readMark(db))?.directory ?? null;
  }
  // Another process may have marked them as others meanwhile.
  requireFaultless(await judgeShards(shards, names));
}

/** What is wrong with these shards, each with what to do in the last line; changes nothing. */
export async function judgeShards(shards: readonly Joining[], names: readonly string[]): Promise<string[]> {
  const facts = await Promise.all(shards.map(readFacts));
  const [first] = shards;
  return shardFaults(facts, { homes: first === undefined ? new Map() : await countHomes(first.db), names });
}

/** For a process that has one database and no shards. */
export async function requireNoShard(db: Db): Promise<void> {
  const mark = await readMark(db);
  if (mark === null) return;
  throw new ConfigError(
    `This database is the shard ${mark.name} of several.\nSet SHARDS to all of them, and remove DATABASE_URL.`,
  );
}

async function readFacts({ name, db }: Joining): Promise<ShardFacts> {
  const [database, version, mark] = [
    await readDatabaseIdentity(db),
    await readSchemaVersion(db),
    await readMark(db),
  ];
  return { name, database, version, mark, hasTenants: await hasTenants(db) };
}

function requireFaultless(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
}
