/** For commands that work on all tenants at once: a connection with the rights of the schema's owner. */
import type { Config } from "../config.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { makeLog } from "../telemetry/log.ts";
import { readCommandConfig } from "./command-config.ts";
import { openCommandDatabase, requireMigrated } from "./command-database.ts";
import { CONNECTION_TIMEOUT_MS } from "./databases.ts";

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
    await requireMigrated(db, "the database");
    await work(db, config);
  } finally {
    await db.end();
    await database.stop();
  }
}
