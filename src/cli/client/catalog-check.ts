import { defineCommand } from "citty";
import { environment } from "../../config.ts";
import { loadCatalog } from "../../events/catalog.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { withClearErrors } from "../command.ts";

export const checkCommand = defineCommand({
  meta: { name: "check", description: "Find the faults of a catalog file; exits with 1 if there is one" },
  args: {
    file: { type: "positional", required: false, description: "The file; default: that of EVENT_CATALOG" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const file = args.file ?? environment()["EVENT_CATALOG"];
      try {
        const catalog = await loadCatalog(file);
        const { entries, types } = catalog;
        const faultyExamples = catalog.findFaultyExamples();
        if (faultyExamples.length > 0) {
          console.error(faultyExamples.join("\n"));
          process.exitCode = 1;
          return;
        }
        const versions = entries.length === types.size ? "" : ` in ${entries.length} versions`;
        console.log(
          `${file ?? "the built-in catalog"}: ${types.size} types${versions}, Postern's own included`,
        );
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        // As compilers print faults, so that editors find their way.
        console.error(
          args.file === undefined ? error.message : error.message.replace(/^EVENT_CATALOG: /, ""),
        );
        process.exitCode = 1;
      }
    }),
});
