import { defineCommand } from "citty";
import * as z from "zod";
import { environment } from "../../config.ts";
import { loadCatalog } from "../../events/catalog.ts";
import { compareCatalogs, breaks, type TypeChange } from "../../events/catalog-changes.ts";
import { catalogEntrySchema, type CatalogEntry } from "../../events/catalog-entry.ts";
import { openApiClient, printingRefusals, readAnswer, URL_ARGUMENT } from "./api-client.ts";
import { withClearErrors } from "../command.ts";

export const diffCommand = defineCommand({
  meta: {
    name: "diff",
    description: "Show what a new catalog file changes; exits with 1 if a change breaks receivers",
  },
  args: {
    file: { type: "positional", required: true, description: "The new catalog file" },
    tenant: {
      type: "string",
      description:
        "Compare with the types that a running Postern shows this tenant; default: with EVENT_CATALOG",
    },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const { entries } = await loadCatalog(args.file);
        const before = args.tenant === undefined ? await configured() : await running(args.tenant, args.url);
        const changes = compareCatalogs(before, entries);
        for (const change of changes) console.log(describe(change));
        if (changes.some(breaks)) process.exitCode = 1;
      }),
    ),
});

async function configured(): Promise<readonly CatalogEntry[]> {
  return (await loadCatalog(environment()["EVENT_CATALOG"])).entries;
}

async function running(tid: string, url: string | undefined): Promise<readonly CatalogEntry[]> {
  const api = await openApiClient({ type: "user", tid, role: "member" }, url);
  return readAnswer(z.array(catalogEntrySchema), await api.call("GET", "/api/webhooks/events"));
}

function describe(change: TypeChange): string {
  const head = `${change.kind.padEnd(12)}${change.type}`;
  const lines = "effects" in change ? change.effects.map(({ path, text }) => `  ${path} ${text}`) : [];
  return [breaks(change) ? `${head}: breaks receivers` : head, ...lines].join("\n");
}
