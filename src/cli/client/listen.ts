import { defineCommand } from "citty";
import { parseLoopbackUrl } from "../../outbound/forward.ts";
import { ConfigError } from "../../shared/config-error.ts";
import {
  openApiClient,
  openGivenClient,
  printingRefusals,
  TOKEN_VARIABLE,
  URL_ARGUMENT,
  type ApiClient,
} from "./api-client.ts";
import { withClearErrors } from "../command.ts";
import { listenTo } from "./listen-loop.ts";

const MAX_REPLAYED = 100;

export const listen = defineCommand({
  meta: {
    name: "listen",
    description: "Forward a tenant's events to a receiver on this machine, until Ctrl-C",
  },
  args: {
    forward: {
      type: "string",
      required: true,
      description: "Where the receiver listens, for example http://localhost:3000/hooks",
    },
    events: { type: "string", default: "*", description: "Types or patterns, separated by commas" },
    tenant: {
      type: "string",
      description: `Tenant id; without it ${TOKEN_VARIABLE} is the token of a user of the tenant`,
    },
    secret: {
      type: "string",
      description: "The receiver's signing secret; default: a new one, which is printed",
    },
    replay: { type: "string", description: "Begin with past events: last:10 for the last ten" },
    json: { type: "boolean", description: "Each event as a line of JSON" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        const forward = parseLoopbackUrl(args.forward);
        if (forward === null)
          throw new ConfigError(
            `--forward ${args.forward} is no http URL of this machine, such as http://localhost:3000/hooks`,
          );
        const replayed = replayedOf(args.replay);
        await listenTo(await openClient(args.tenant, args.url), {
          forward,
          patterns: args.events.split(",").map((pattern) => pattern.trim()),
          secret: args.secret,
          replayed,
          isJson: args.json === true,
        });
      }),
    ),
});

async function openClient(tenant: string | undefined, url: string | undefined): Promise<ApiClient> {
  if (tenant !== undefined) return openApiClient({ type: "user", tid: tenant, role: "owner" }, url);
  const client = openGivenClient(url);
  if (client === null)
    throw new ConfigError(
      `Whose events?\nName the tenant with --tenant where SESSION_JWT_SECRET is set, or set ${TOKEN_VARIABLE} to a user's token.`,
    );
  return client;
}

function replayedOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const count = Number(/^last:([0-9]+)$/.exec(text)?.[1]);
  if (!(count >= 1 && count <= MAX_REPLAYED))
    throw new ConfigError(
      `--replay ${text} is not last: and a number from 1 to ${MAX_REPLAYED}, such as last:10`,
    );
  return count;
}
