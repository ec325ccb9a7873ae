/** For commands that work on all tenants at once: a connection with the rights of the schema's owner. */
import type { Config } from "../config.ts";
import { pendingMigrations } from "../database/migrate.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { ConfigError } from "../shared/config-error.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
import { openCommandDatabase } from "./command-database.ts";
import { CONNECTION_TIMEOUT_MS, loadMigrations } from "./databases.ts";

/** Throws ConfigError when the schema is older than the program. */
export async function asOwner(
  name: string,
  work: (db: Pool, config: Config) => Promise<void>,
): Promise<void> {
  const config = await readCommandConfig();
  const database = await openCommandDatabase(config, makeLog("warn"));
  const db = createPool({
    url: database.url,
    poolSize: 1,
    applicationName: `postern ${name}`,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
  });
  try {
    const pending = await pendingMigrations(db, await loadMigrations());
    if (pending.length > 0) {
      throw new ConfigError("the database's schema is older than this program: run postern migrate first");
    }
    await work(db, config);
  } finally {
    await db.end();
    await database.stop();
  }
}
