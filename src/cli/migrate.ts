import { defineCommand } from "citty";
import { environment, readConfig } from "../config.ts";
import { makeLog } from "../telemetry/log.ts";
import { withClearErrors } from "./command.ts";
import { migrateDatabase, openDatabase } from "./run.ts";

export const migrateCommand = defineCommand({
  meta: { name: "migrate", description: "Bring the database's schema up to date" },
  run: () =>
    withClearErrors(async () => {
      const config = readConfig(environment());
      const log = makeLog("warn");
      const database = await openDatabase(config, log);
      try {
        const applied = await migrateDatabase(database.url, log);
        for (const file of applied) console.log(`applied ${file}`);
        console.log(applied.length === 0 ? "The schema is up to date." : "The schema is now up to date.");
      } finally {
        await database.stop();
      }
    }),
});
