import type { Config } from "../config.ts";
import type { Db } from "../database/pool.ts";
import { openReconciling } from "../service/service.ts";
import { readMark } from "../shards/join-store.ts";
import { withOwnBucket } from "../shards/own-bucket.ts";
import type { Log } from "../telemetry/log.ts";
import { openCommandDatabase } from "./command-database.ts";
import { loadMigrations, withDatabase } from "./databases.ts";

type Services = Awaited<ReturnType<typeof openReconciling>>["services"];

/** Opens the database and its bucket for a command, and closes both after its work. `own`: with that bucket. */
export async function withReconciling<T>(
  config: Config,
  log: Log,
  work: (services: Services, own: Config) => Promise<T>,
): Promise<T> {
  const database = await openCommandDatabase(config, log);
  try {
    const databaseUrl = database.url;
    const own = await withDatabase(databaseUrl, (db) => configOf(db, config));
    const opened = await openReconciling({
      config: own,
      databaseUrl,
      migrations: await loadMigrations(),
      log,
    });
    try {
      return await work(opened.services, own);
    } finally {
      await opened.close();
    }
  } finally {
    await database.stop();
  }
}

/** One of several databases has its objects in the folder that the service gives it. */
async function configOf(db: Db, config: Config): Promise<Config> {
  const mark = await readMark(db);
  return mark === null || mark.keepsDirectory ? config : withOwnBucket(config, mark.name);
}
