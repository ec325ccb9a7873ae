import { defineCommand } from "citty";
import { environment, readDatabaseConfig } from "../config.ts";
import { nameDatabase } from "../database/database-name.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { migrateDatabase, openDatabase } from "./databases.ts";
import { parseWait, WAIT_ARGUMENT } from "./run.ts";

export const migrateCommand = defineCommand({
  meta: { name: "migrate", description: "Bring the database's schema up to date" },
  args: { wait: WAIT_ARGUMENT },
  run: ({ args }) =>
    withClearErrors(async () => {
      const waitMs = parseWait(args.wait);
      const config = readDatabaseConfig(environment());
      const log = makeLog("warn");
      console.log(`Database: ${nameDatabase(config)}.`);
      const database = await openDatabase(config, log);
      try {
        const applied = await migrateDatabase(database.url, log, waitMs);
        for (const file of applied) console.log(`applied ${file}`);
        console.log(applied.length === 0 ? "The schema is up to date." : "The schema is now up to date.");
      } finally {
        await database.stop();
      }
    }),
});
