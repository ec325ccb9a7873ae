import { defineCommand } from "citty";
import { describeSettings, readConfig } from "../config.ts";
import { commandEnvironment } from "./command-config.ts";
import { withClearErrors } from "./command.ts";

export const config = defineCommand({
  meta: { name: "config", description: "List every setting with its value, secrets masked" },
  args: { json: { type: "boolean", description: "As JSON" } },
  run: ({ args }) =>
    withClearErrors(async () => {
      const env = await commandEnvironment();
      const settings = describeSettings(env);
      if (args.json === true) {
        console.log(JSON.stringify(settings, null, 2));
      } else {
        const width = Math.max(...settings.map(({ name }) => name.length));
        for (const { name, value, isDefault, about } of settings) {
          console.log(
            `${name.padEnd(width)}  ${value === "" ? "-" : value}${isDefault ? "  (default)" : ""}`,
          );
          console.log(`${" ".repeat(width)}  ${about}`);
        }
      }
      // Last, so that the list can be read beside the complaint.
      readConfig(env);
    }),
});
