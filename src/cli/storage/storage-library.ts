import { defineCommand } from "citty";
import { artifactKind } from "../../storage/rules/object-key.ts";
import * as z from "zod";
import { artifactObject } from "../../api/storage-schemas.ts";
import { openApiClient, printingRefusals, readAnswer, URL_ARGUMENT } from "../client/api-client.ts";
import { withClearErrors } from "../command.ts";

const page = z.object({ items: z.array(artifactObject), next: z.string().nullable() });

export const libraryCommand = defineCommand({
  meta: { name: "library", description: "List a tenant's stored artifacts, newest first" },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    kind: {
      type: "enum",
      options: artifactKind.options,
      description: "Of this kind; default: all",
    },
    limit: { type: "string", default: "50", description: "1 to 100" },
    after: { type: "string", description: "The `next` of the page before" },
    json: { type: "boolean", description: "As JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const api = await openApiClient({ type: "user", tid: args.tenant, role: "member" }, args.url);
        const query = new URLSearchParams({ limit: args.limit });
        if (args.kind !== undefined) query.set("kind", args.kind);
        if (args.after !== undefined) query.set("after", args.after);
        const text = await api.call("GET", `/api/storage/library?${query.toString()}`);
        const { items, next } = readAnswer(page, text);
        if (args.json === true) return console.log(JSON.stringify({ items, next }, null, 2));
        for (const item of items) {
          const { available_at, status, size, id, filename } = item;
          console.log(
            `${available_at}  ${status.padEnd(11)}  ${String(size).padStart(11)}  ${id}  ${filename}`,
          );
        }
        if (next !== null) console.log(`More: --after ${next}`);
      }),
    ),
});
