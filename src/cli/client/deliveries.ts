import { defineCommand } from "citty";
import * as z from "zod";
import { deliveryObject, listedDeliveryObject } from "../../api/schemas.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { openApiClient, printingRefusals, readAnswer, URL_ARGUMENT, type ApiClient } from "./api-client.ts";
import { closedOutput } from "../closed-output.ts";
import { withClearErrors } from "../command.ts";
import { instantOf } from "../instants.ts";
import { printable } from "../printable.ts";
import { searchPages, type SearchPage } from "./search-pages.ts";

const MOST = 100_000;
const LATER_MS = 1000;

const page = z.object({ deliveries: z.array(listedDeliveryObject), searched_to: z.string().nullable() });
const one = z.object({ delivery: deliveryObject });
type Listed = z.infer<typeof page>["deliveries"][number];

/** Options that narrow the list, and the API's names for them. */
const FILTERS = [
  ["endpoint", "endpoint_id"],
  ["status", "status"],
  ["type", "event_type"],
  ["event", "event_id"],
  ["response", "response_status"],
  ["error", "error"],
  ["text", "q"],
] as const;
const TIMES = ["from", "to"] as const;
const NARROWING = [...FILTERS.map(([name]) => name), ...TIMES, "limit" as const];

export const deliveries = defineCommand({
  meta: { name: "deliveries", description: "List a tenant's deliveries, newest first, or show one whole" },
  args: {
    id: { type: "positional", required: false, description: "Show this delivery, with request and answer" },
    tenant: { type: "string", required: true, description: "Tenant id" },
    endpoint: { type: "string", description: "Of one endpoint, by its id; default: all" },
    status: { type: "string", description: "delivered, failed, pending or test; default: all" },
    type: { type: "string", description: "An event type, or one as invoice.* for all below; default: all" },
    event: { type: "string", description: "Of one event, by its id" },
    response: { type: "string", description: "Answered with a status as 500, a class as 5xx, or none" },
    error: { type: "string", description: "Without an answer for this reason, for example timeout" },
    text: { type: "string", description: "With this text in the body of the request or the answer" },
    from: { type: "string", description: "Created at or after, for example 2026-01-31 or 2026-01-31T08:00Z" },
    to: { type: "string", description: "Created before; default: now" },
    limit: { type: "string", description: `How many, 1 to ${MOST}; default: 50` },
    json: { type: "boolean", description: "As JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        if (args.id === "") throw new ConfigError("the delivery's id is empty: without it they are listed");
        const given = NARROWING.filter((name) => args[name] !== undefined);
        if (args.id !== undefined && given.length > 0)
          throw new ConfigError(`an id shows one delivery: leave out --${given.join(" and --")}`);
        const limit = limitOf(args.limit);
        const query = new URLSearchParams();
        for (const [name, parameter] of FILTERS) {
          const value = args[name];
          if (value !== undefined) query.set(parameter, value);
        }
        for (const name of TIMES)
          if (args[name] !== undefined) query.set(name, instantOf(`--${name}`, args[name]));
        const api = await openApiClient({ type: "user", tid: args.tenant, role: "member" }, args.url);
        if (args.id !== undefined) return await show(api, args.id);
        const isQuiet = args.json === true;
        const search = {
          path: "/api/deliveries",
          query,
          limit,
          read: readPage,
          isQuiet,
          signal: closedOutput,
        };
        const found = searchPages(api, search);
        if (args.json === true) return printJson(await Array.fromAsync(found));
        let count = 0;
        for await (const delivery of found) {
          count++;
          console.log(printable(lineOf(delivery)));
        }
        if (count === 0) console.log("no deliveries");
      }),
    ),
});

function limitOf(text = "50"): number {
  const limit = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : Infinity;
  if (limit > MOST) throw new ConfigError(`--limit ${text} is not a number of 1 to ${MOST}`);
  return limit;
}

async function show(api: ApiClient, id: string): Promise<void> {
  const answer = await api.call("GET", `/api/deliveries/${encodeURIComponent(id)}`);
  printJson(readAnswer(one, answer).delivery);
}

function printJson(value: unknown): void {
  console.log(printable(JSON.stringify(value, null, 2), "\n"));
}

function readPage(text: string): SearchPage<Listed> {
  const { deliveries: found, searched_to } = readAnswer(page, text);
  return { found, searchedTo: searched_to };
}

function lineOf(delivery: Listed): string {
  const { created_at, status, attempt, event_type, id } = delivery;
  const parts = [created_at, status.padEnd(9), outcomeOf(delivery).padEnd(20), `attempt ${attempt}`];
  return [...parts, event_type, id].join("  ");
}

function outcomeOf(delivery: Listed): string {
  const { status, next_attempt_at, response_status, error, latency_ms } = delivery;
  if (status === "pending") return next_attempt_at === null ? "" : `due ${next_attempt_at}`;
  return `${response_status ?? error ?? "no answer"} in ${latency_ms} ms${sentLater(delivery)}`;
}

/** A repeated attempt is made long after its row, by whose time the list is ordered. */
function sentLater({ created_at, sent_at }: Listed): string {
  if (sent_at === null || Date.parse(sent_at) - Date.parse(created_at) < LATER_MS) return "";
  return `, sent ${sent_at}`;
}
