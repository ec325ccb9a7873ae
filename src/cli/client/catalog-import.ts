import { defineCommand } from "citty";
import { stringify } from "yaml";
import { readLinedFile } from "../../events/catalog-file.ts";
import { importWebhooks } from "../../events/catalog-import.ts";
import { withClearErrors } from "../command.ts";

export const importCommand = defineCommand({
  meta: { name: "import", description: "Print the webhooks of an OpenAPI document as entries of a catalog" },
  args: {
    file: { type: "positional", required: true, description: "An OpenAPI 3.1 document, JSON or YAML" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const { entries, notes } = importWebhooks(readLinedFile(args.file, "the OpenAPI document"));
      console.log(stringify(entries, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd());
      for (const note of notes) console.error(note);
    }),
});
