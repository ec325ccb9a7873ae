import { defineCommand } from "citty";
import * as z from "zod";
import { replayCountObject, replayObject } from "../../api/replay-schemas.ts";
import { openApiClient, printingRefusals, readAnswer, URL_ARGUMENT, type ApiClient } from "./api-client.ts";
import { withClearErrors } from "../command.ts";
import { instantOf } from "../instants.ts";
import type { Progress } from "../progress.ts";
import { waitForWork } from "./wait-for-work.ts";

type Replay = z.infer<typeof replayObject>;
const answered = z.object({ replay: replayObject });

export const replay = defineCommand({
  meta: {
    name: "replay",
    description: "Send an endpoint its failed or missed events again, and wait until they are sent",
  },
  args: {
    tenant: { type: "string", required: true, description: "Tenant id" },
    endpoint: { type: "string", required: true, description: "Endpoint id" },
    from: {
      type: "string",
      required: true,
      description: "Accepted at or after, for example 2026-01-31 or 2026-01-31T08:00Z",
    },
    to: { type: "string", description: "Accepted before; default: now" },
    select: { type: "string", default: "failed", description: "failed, missed or all" },
    type: { type: "string", description: "An event type, or one as invoice.* for all below; default: all" },
    cause: { type: "string", description: "Why they failed: an error such as timeout, or http_500" },
    "dry-run": { type: "boolean", description: "Only count what would be sent" },
    json: { type: "boolean", description: "As JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const api = await openApiClient({ type: "user", tid: args.tenant, role: "owner" }, args.url);
        const isJson = args.json === true;
        const isDryRun = args["dry-run"] === true;
        const answer = await api.call(
          "POST",
          "/api/replays",
          JSON.stringify({
            endpoint_id: args.endpoint,
            from: instantOf("--from", args.from),
            to: instantOf("--to", args.to),
            select: args.select,
            event_type: args.type,
            cause: args.cause,
            dry_run: isDryRun,
          }),
        );
        if (isDryRun) {
          const counted = readAnswer(replayCountObject, answer);
          console.log(isJson ? JSON.stringify(counted, null, 2) : describeCount(counted));
          return;
        }
        const { id } = readAnswer(answered, answer).replay;
        const ended = await waitForWork(`replay ${id}`, isJson, (show) => lookAt(api, id, show));
        console.log(isJson ? JSON.stringify(ended, null, 2) : describeEnd(ended));
        if (ended.status !== "finished") process.exitCode = 1;
      }),
    ),
});

/** Null while it runs. */
async function lookAt(api: ApiClient, id: string, show: Progress["show"]): Promise<Replay | null> {
  const found = readAnswer(answered, await api.call("GET", `/api/replays/${id}`)).replay;
  const { status, total, is_capped, delivered, failed } = found;
  const all = is_capped ? `${total} or more` : `${total}`;
  show(`${status}: ${delivered + failed} of ${all} events`);
  return status === "running" ? null : found;
}

function describeCount({
  count,
  is_capped,
  oldest,
  newest,
  by_cause,
}: z.infer<typeof replayCountObject>): string {
  if (oldest === null || newest === null)
    return is_capped
      ? "no event among the first that were examined: choose a shorter time from --from to --to"
      : "no event: an event with an attempt still to come is not counted; --select, --from and --to choose others";
  const head = `${count}${is_capped ? " or more" : ""} events, accepted from ${oldest} to ${newest}`;
  const causes = Object.entries(by_cause).sort(([, one], [, other]) => other - one);
  return [head, ...causes.map(([cause, many]) => `  ${cause}: ${many}`)].join("\n");
}

function describeEnd({ id, status, error, sent, delivered, failed, skipped }: Replay): string {
  const counts = `${sent} sent, ${delivered} delivered, ${failed} failed, ${skipped} skipped`;
  return `replay ${id} ${status}${error === null ? "" : ` (${error})`}: ${counts}`;
}
