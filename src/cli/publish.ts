import { defineCommand } from "citty";
import { environment, readConfig } from "../config.ts";
import { issueToken } from "../api/session-token.ts";
import { ConfigError } from "../shared/config-error.ts";
import { withClearErrors } from "./command.ts";

const TOKEN_LIFE_MS = 60_000;

export const publish = defineCommand({
  meta: { name: "publish", description: "Publish an event through the API of a running Postern" },
  args: {
    type: { type: "positional", required: true, description: "Event type, for example invoice.paid" },
    data: { type: "string", default: "{}", description: "The event's data as JSON" },
    tenant: { type: "string", required: true, description: "Tenant id" },
    id: { type: "string", description: "Idempotency key" },
    url: {
      type: "string",
      description: "Where Postern is; default: HOST, PORT and BASE_PATH of the settings",
    },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const config = readConfig(environment());
      if (config.session.kind !== "secret") {
        throw new ConfigError("this command signs its own token and so needs SESSION_JWT_SECRET");
      }
      const claims = { type: "service", tid: args.tenant, sub: "cli", permissions: ["events:write"] };
      const url = args.url ?? `http://${hostInUrl(config.host)}:${config.port}${config.basePath}`;
      const answer = await fetch(`${url}/api/events`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${await issueToken(config.session.secret, claims, TOKEN_LIFE_MS)}`,
        },
        body: JSON.stringify({ type: args.type, data: parseData(args.data), id: args.id }),
      }).catch((error: unknown) => {
        throw new ConfigError(`no answer from ${url}: is Postern running there? (${String(error)})`);
      });
      console.log(await answer.text());
      if (!answer.ok) process.exitCode = 1;
    }),
});

/** An IPv6 address stands in brackets. */
function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError("--data is not JSON");
  }
}
