import { defineCommand } from "citty";
import * as z from "zod";
import { erasureObject, tenantObject, tenantRowsObject } from "../../api/tenant-schemas.ts";
import {
  ApiRefusalError,
  openApiClient,
  printingRefusals,
  readAnswer,
  URL_ARGUMENT,
  type ApiClient,
} from "../client/api-client.ts";
import { parseTenantId } from "../../shared/id.ts";
import { closedOutput } from "../closed-output.ts";
import { readCommandConfig } from "../command-config.ts";
import { sayDatabase } from "../command-database.ts";
import { withClearErrors } from "../command.ts";
import { confirm } from "../confirm.ts";
import type { Progress } from "../progress.ts";
import { describeHome, readHome, type TenantHome } from "./tenant-home.ts";
import { moveCommand } from "./tenants-move.ts";
import { waitForWork } from "../client/wait-for-work.ts";

const PAGE = 100;

const listAnswer = z.object({ tenants: z.array(tenantObject) });
const showAnswer = z.object({ tenant: tenantObject });
const erasureAnswer = z.object({ erasure: erasureObject });

const TENANT = { type: "string", required: true, description: "Tenant id" } as const;
const JSON_ARGUMENT = { type: "boolean", description: "As JSON" } as const;

const listCommand = defineCommand({
  meta: { name: "list", description: "List tenants by their ids, with counts" },
  args: {
    prefix: { type: "string", default: "", description: "What the ids begin with" },
    json: { type: "boolean", description: "Each tenant as a line of JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    asOperator(args.url, async (api) => {
      for (let after = ""; !closedOutput.aborted;) {
        const query = new URLSearchParams({ prefix: args.prefix, after, limit: `${PAGE}` });
        const { tenants } = readAnswer(listAnswer, await api.call("GET", `/api/tenants?${query.toString()}`));
        for (const tenant of tenants)
          console.log(args.json === true ? JSON.stringify(tenant) : lineOf(tenant));
        if (tenants.length < PAGE) return;
        after = tenants.at(-1)?.id ?? "";
      }
    }),
});

const showCommand = defineCommand({
  meta: { name: "show", description: "Show a tenant with its counts" },
  args: { tenant: TENANT, json: JSON_ARGUMENT, url: URL_ARGUMENT },
  run: ({ args }) =>
    asOperator(args.url, async (api) => {
      const answer = await api.call("GET", pathOf(args.tenant)).catch(async (error: unknown) => {
        // A move that was killed as it switched leaves the API without an answer: just then its step is needed.
        if (args.json === true || !(error instanceof ApiRefusalError)) throw error;
        const home = await homeOf(args.tenant).catch(() => null);
        if (home !== null) console.log(describeHome(home));
        throw error;
      });
      const { tenant } = readAnswer(showAnswer, answer);
      const home = tenant.shard === undefined ? null : await homeOf(tenant.id);
      if (args.json === true) console.log(JSON.stringify({ ...tenant, ...home }, null, 2));
      else console.log([lineOf(tenant), ...(home === null ? [] : [describeHome(home)])].join("\n"));
    }),
});

const eraseCommand = defineCommand({
  meta: { name: "erase", description: "Erase every trace of a tenant, and wait until it is done" },
  args: {
    tenant: TENANT,
    "dry-run": { type: "boolean", description: "Only count what would be deleted" },
    yes: { type: "boolean", description: "Do not ask" },
    json: JSON_ARGUMENT,
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    asOperator(args.url, async (api) => {
      const isJson = args.json === true;
      const path = pathOf(args.tenant);
      if (args["dry-run"] === true) {
        const counted = readAnswer(tenantRowsObject, await api.call("DELETE", `${path}?dry_run=true`));
        console.log(isJson ? JSON.stringify(counted, null, 2) : describeRows(counted));
        return;
      }
      if (args.yes !== true) await confirm(`Erase all of ${args.tenant}? It cannot be undone.`);
      await api.call("DELETE", path);
      const { rows, objects } = await waitForWork(`the erasure of ${args.tenant}`, isJson, (show) =>
        lookAt(api, path, show),
      );
      if (isJson) console.log(JSON.stringify({ rows, objects }));
      else console.log(`${args.tenant} is erased: ${rows} rows, ${objects} versions of stored objects`);
    }),
});

export const tenants = defineCommand({
  meta: { name: "tenants", description: "All tenants: list, show, move, erase" },
  subCommands: { list: listCommand, show: showCommand, move: moveCommand, erase: eraseCommand },
});

function asOperator(url: string | undefined, work: (api: ApiClient) => Promise<void>): Promise<void> {
  const permissions = ["tenants:read", "tenants:erase"];
  return withClearErrors(() =>
    printingRefusals(async () => work(await openApiClient({ type: "service", tid: "*", permissions }, url))),
  );
}

/** With several databases, and where this command has their addresses. */
async function homeOf(id: string): Promise<TenantHome | null> {
  const config = await readCommandConfig();
  const tenantId = parseTenantId(id);
  if (config.shards === undefined || tenantId === null) return null;
  sayDatabase(config);
  return readHome(config.shards, tenantId);
}

function pathOf(tenant: string): string {
  return `/api/tenants/${encodeURIComponent(tenant)}`;
}

/** Null while it runs. */
async function lookAt(api: ApiClient, path: string, show: Progress["show"]) {
  const { erasure } = readAnswer(erasureAnswer, await api.call("GET", `${path}/erasure`));
  const { status, rows, objects, waiting_for: why } = erasure;
  show(`${rows} rows, ${objects} objects${why === null ? "" : `; waits: ${why}`}`);
  return status === "finished" ? erasure : null;
}

function lineOf({
  id,
  endpoints,
  enabled,
  failing,
  delivered,
  failed,
  shard,
}: z.infer<typeof tenantObject>): string {
  const place = shard === undefined ? "" : `  ${shard}`;
  return `${id}${place}  ${endpoints} endpoints (${enabled} enabled, ${failing} failing)  last day: ${delivered} delivered, ${failed} failed`;
}

function describeRows({ rows, is_capped, held }: z.infer<typeof tenantRowsObject>): string {
  const lines = Object.entries(rows).map(([name, count]) => `${name}: ${count}`);
  if (is_capped) lines.push("There are more: not all were counted.");
  if (held > 0) lines.push(`${held} artifacts are held: end the holds first (postern storage hold --end).`);
  return lines.length === 0 ? "nothing" : lines.join("\n");
}
