/** The shards of a process: opened, migrated, and found to be those of one installation. */
import type { Config } from "../config.ts";
import { isPassing } from "../database/passing-errors.ts";
import { joinShards } from "../shards/join.ts";
import type { Shard } from "../shards/shard-list.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeRepeated } from "../shared/every.ts";
import type { Log } from "../telemetry/log.ts";
import {
  checkKeys,
  migrateDatabase,
  openDatabase,
  withDatabases,
  type RunningDatabase,
} from "./databases.ts";

const LOOK_AGAIN_MS = 5000;

type ShardedConfig = Config & { shards: readonly Shard[] };

/**
 * The first shard, which keeps the directory, must be there. Another that is
 * away does not keep the process from starting for the others' tenants: it is
 * prepared when it is back.
 */
export async function prepareShards(config: ShardedConfig, log: Log, waitMs = 0): Promise<RunningDatabase> {
  const [first, ...others] = config.shards;
  if (first === undefined) throw new Error("there is no shard");
  for (const { url } of config.shards) {
    await openDatabase({ databaseUrl: url, dataDir: config.dataDir }, log);
  }
  await prepare(config, first, { log, waitMs });
  const results = await Promise.allSettled(others.map((shard) => prepare(config, shard, { log, waitMs })));
  const away: Shard[] = [];
  const there: Shard[] = [];
  for (const [place, shard] of others.entries()) {
    const result = results[place];
    if (result?.status !== "rejected") there.push(shard);
    else if (isPassing(result.reason)) away.push(shard);
    else throw result.reason;
  }
  await join(config, first, there);
  for (const { name } of away) {
    log.warn({ shard: name }, "this shard cannot be reached: its tenants wait, and the others' are served");
  }
  return { url: first.url, stop: lookAgain(config, first, { away, log }) };
}

/** Answers how to end it. */
function lookAgain(
  config: ShardedConfig,
  first: Shard,
  { away, log }: { away: Shard[]; log: Log },
): () => Promise<void> {
  const failed = (error: unknown): void => {
    if (!isPassing(error)) log.error({ err: error }, "a shard that is back cannot be used");
  };
  const repeated = makeRepeated(
    LOOK_AGAIN_MS,
    async () => {
      for (const shard of away.slice()) {
        await prepare(config, shard, { log, waitMs: 0 });
        await join(config, first, [shard]);
        away.splice(away.indexOf(shard), 1);
        log.info({ shard: shard.name }, "this shard is back");
      }
    },
    failed,
  );
  if (away.length > 0) repeated.start();
  return () => repeated.stop();
}

async function prepare(
  config: ShardedConfig,
  { name, url }: Shard,
  { log, waitMs }: { log: Log; waitMs: number },
): Promise<void> {
  try {
    await migrateDatabase(url, log, waitMs);
    await checkKeys(config, url);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`Shard ${name}: ${error.message}`) : error;
  }
}

async function join(config: ShardedConfig, first: Shard, others: readonly Shard[]): Promise<void> {
  const names = config.shards.map(({ name }) => name);
  await withDatabases([first, ...others], (shards) => joinShards(shards, names));
}
