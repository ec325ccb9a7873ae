import type { Config } from "../../config.ts";
import { openReconciling } from "../../service/service.ts";
import { readMark } from "../../shards/join-store.ts";
import { withOwnBucket } from "../../shards/own-bucket.ts";
import type { Mark } from "../../shards/shard-faults.ts";
import type { TenantId } from "../../shared/id.ts";
import type { Log } from "../../telemetry/log.ts";
import { openCommandDatabase, requireMigrated } from "../command-database.ts";
import { loadMigrations, withDatabase } from "../databases.ts";
import { describeElsewhere } from "../tenants/tenant-home.ts";

export type Services = Awaited<ReturnType<typeof openReconciling>>["services"];

/**
 * Opens the database and its bucket for a command, and closes both after its work. `own`: with that bucket.
 *
 * @param tenants that the command names: it says which of them live in another of several databases.
 */
export async function withReconciling<T>(
  config: Config,
  log: Log,
  work: (services: Services, own: Config) => Promise<T>,
  tenants: readonly TenantId[] = [],
): Promise<T> {
  const database = await openCommandDatabase(config, log);
  try {
    const databaseUrl = database.url;
    const own = await withDatabase(databaseUrl, async (db) => {
      await requireMigrated(db, "the database");
      const mark = await readMark(db);
      for (const tenantId of tenants) {
        const told = mark === null ? null : await describeElsewhere(db, mark, tenantId);
        if (told !== null) console.error(told);
      }
      return configOf(mark, config);
    });
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
function configOf(mark: Mark | null, config: Config): Config {
  return mark === null || mark.keepsDirectory ? config : withOwnBucket(config, mark.name);
}
