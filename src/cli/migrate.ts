import { defineCommand } from "citty";
import { environment, readDatabaseConfig } from "../config.ts";
import { nameDatabase, type DatabasePlace } from "../database/database-name.ts";
import { makeLog, type Log } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { migrateDatabase, openDatabase } from "./databases.ts";
import { parseWait } from "./parse-wait.ts";
import { ofShard } from "./prepare-shards.ts";
import { WAIT_ARGUMENT } from "./run.ts";

export const migrateCommand = defineCommand({
  meta: { name: "migrate", description: "Bring the database's schema up to date" },
  args: { wait: WAIT_ARGUMENT },
  run: ({ args }) =>
    withClearErrors(async () => {
      const waitMs = parseWait(args.wait);
      const config = readDatabaseConfig(environment());
      const log = makeLog("warn");
      console.log(`Database: ${nameDatabase(config)}.`);
      const { shards } = config;
      if (shards === undefined) return migrateOne(config, { log, waitMs, named: "" });
      // One after the other: if one fails, the earlier ones are done, and the next run continues there.
      for (const { name, url } of shards) {
        const place = { databaseUrl: url, dataDir: config.dataDir };
        const told = { log: log.child({ shard: name }), waitMs, named: `${name}: ` };
        await migrateOne(place, told).catch((error: unknown) => {
          throw ofShard(name, error);
        });
      }
    }),
});

async function migrateOne(
  place: DatabasePlace,
  { log, waitMs, named }: { log: Log; waitMs: number; named: string },
): Promise<void> {
  const database = await openDatabase(place, log);
  try {
    const applied = await migrateDatabase(database.url, log, waitMs);
    for (const file of applied) console.log(`${named}applied ${file}`);
    console.log(`${named}The schema is ${applied.length === 0 ? "" : "now "}up to date.`);
  } finally {
    await database.stop();
  }
}
