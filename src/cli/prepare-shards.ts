/** The shards of a process: opened, migrated, and found to be those of one installation. */
import type { Config } from "../config.ts";
import { requireCertificateFiles } from "../database/certificate-files.ts";
import { isAway } from "../database/passing-errors.ts";
import { joinShards } from "../shards/join.ts";
import type { Shard } from "../shards/shard-list.ts";
import { ConfigError } from "../shared/config-error.ts";
import { together } from "../shared/ending.ts";
import { makeRepeated } from "../shared/every.ts";
import type { Log } from "../telemetry/log.ts";
import {
  checkKeys,
  migrateDatabase,
  openDatabase,
  withDatabases,
  type RunningDatabase,
} from "./databases.ts";
import { describeMistake } from "./mistakes.ts";

const LOOK_AGAIN_MS = 5000;

type ShardedConfig = Config & { shards: readonly Shard[] };

export type PreparedShards = RunningDatabase & {
  /** Shards that were away, each until it is back and found to be this installation's. */
  absent: ReadonlyMap<string, Promise<void>>;
};

/**
 * The first shard, which keeps the directory, must be there. Another that is
 * away does not keep the process from starting for the others' tenants: it is
 * prepared when it is back.
 */
export async function prepareShards(
  config: ShardedConfig,
  log: Log,
  waitMs: number,
): Promise<PreparedShards> {
  const [first, ...others] = config.shards;
  if (first === undefined) throw new Error("there is no shard");
  for (const { name, url } of config.shards) {
    requireCertificateFiles(url, `the URL of the shard ${name} in SHARDS`);
    await openDatabase({ databaseUrl: url, dataDir: config.dataDir }, log.child({ shard: name }));
  }
  await prepare(config, first, { log, waitMs });
  const results = await Promise.allSettled(others.map((shard) => prepare(config, shard, { log, waitMs })));
  const away: Away[] = [];
  const there: Shard[] = [];
  for (const [place, shard] of others.entries()) {
    const result = results[place];
    if (result?.status !== "rejected") there.push(shard);
    else if (isAway(result.reason)) away.push({ shard, back: Promise.withResolvers() });
    else throw result.reason;
  }
  await join(config, first, there);
  for (const { shard } of away) {
    log.warn(
      { shard: shard.name },
      "this shard cannot be reached: its tenants wait, and the others' are served",
    );
  }
  const absent = new Map(away.map(({ shard, back }) => [shard.name, back.promise]));
  return { url: first.url, absent, stop: lookAgain(config, first, { away, log }) };
}

type Away = { shard: Shard; back: PromiseWithResolvers<void> };

/** Looks at each by itself until it is back. Answers how to end it. */
function lookAgain(
  config: ShardedConfig,
  first: Shard,
  { away, log }: { away: readonly Away[]; log: Log },
): () => Promise<void> {
  const looks = away.map(({ shard, back }) => {
    let isBack = false;
    const look = async (): Promise<void> => {
      if (isBack) return;
      await prepare(config, shard, { log, waitMs: 0 });
      await join(config, first, [shard]);
      isBack = true;
      log.info({ shard: shard.name }, "this shard is back");
      back.resolve();
    };
    return makeRepeated(LOOK_AGAIN_MS, look, (error) => {
      if (isAway(error)) return;
      log.error(
        { err: error, shard: shard.name },
        "a shard that is back cannot be used: nothing works on it",
      );
    });
  });
  for (const look of looks) look.start();
  return () => together(looks, (look) => look.stop());
}

async function prepare(
  config: ShardedConfig,
  { name, url }: Shard,
  { log, waitMs }: { log: Log; waitMs: number },
): Promise<void> {
  try {
    await migrateDatabase(url, log.child({ shard: name }), waitMs);
    await checkKeys(config, url);
  } catch (error) {
    throw isAway(error) ? error : ofShard(name, error);
  }
}

/** An operator's mistake with the shard's name; any other fault as it is. */
export function ofShard(name: string, error: unknown): unknown {
  const words = describeMistake(error);
  return words === null ? error : new ConfigError(`Shard ${name}: ${words}`);
}

async function join(config: ShardedConfig, first: Shard, others: readonly Shard[]): Promise<void> {
  const names = config.shards.map(({ name }) => name);
  await withDatabases([first, ...others], (shards) => joinShards(shards, names));
}
