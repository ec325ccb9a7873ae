import type { Config } from "../config.ts";
import { openReconciling } from "../service/service.ts";
import type { Log } from "../telemetry/log.ts";
import { loadMigrations, openDatabase } from "./databases.ts";

type Services = Awaited<ReturnType<typeof openReconciling>>["services"];

/** Opens the database and the bucket for a command, and closes both after its work. */
export async function withReconciling<T>(
  config: Config,
  log: Log,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(config, log);
  try {
    const databaseUrl = database.url;
    const opened = await openReconciling({ config, databaseUrl, migrations: await loadMigrations(), log });
    try {
      return await work(opened.services);
    } finally {
      await opened.close();
    }
  } finally {
    await database.stop();
  }
}
