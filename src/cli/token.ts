import { defineCommand } from "citty";
import { issueToken } from "../api/session-token.ts";
import { ConfigError } from "../shared/config-error.ts";
import { parseDurationMs } from "../shared/duration.ts";
import { readCommandConfig } from "./command-config.ts";
import { withClearErrors } from "./command.ts";
import { requireTenantId } from "./require-tenant-id.ts";

const SHORTEST_MS = 1000;
const LONGEST_MS = 36_500 * 86_400_000;

export const token = defineCommand({
  meta: { name: "token", description: "Issue a session token, signed with SESSION_JWT_SECRET" },
  args: {
    tenant: {
      type: "string",
      required: true,
      description: "Tenant id; * lets a service name it in each event",
    },
    type: {
      type: "enum",
      options: ["user", "service"],
      default: "user",
      description: "Of a user or a service",
    },
    role: {
      type: "enum",
      options: ["owner", "admin", "member"],
      description: "What a user may do; default: owner",
    },
    subject: { type: "string", default: "cli", description: "Who it is for" },
    expires: { type: "string", default: "1h", description: "For how long, for example 30m or 12h" },
  },
  run: ({ args }) =>
    withClearErrors(async () => {
      const { session } = await readCommandConfig();
      if (session.kind !== "secret") {
        throw new ConfigError("SESSION_JWKS_URL is set: tokens come from the issuer that owns its keys");
      }
      const expiresMs = parseDurationMs(args.expires);
      if (expiresMs === null)
        throw new ConfigError(`--expires ${args.expires} is not a duration such as 30m or 12h`);
      // A token counts whole seconds, and a date has an end.
      if (expiresMs < SHORTEST_MS || expiresMs > LONGEST_MS)
        throw new ConfigError(`--expires ${args.expires} is not from 1s to 36500d`);
      const isService = args.type === "service";
      if (!(isService && args.tenant === "*")) requireTenantId(args.tenant);
      if (isService && args.role !== undefined)
        throw new ConfigError("--role is of a user: a service publishes events, and nothing else");
      const claims = isService
        ? { type: "service", tid: args.tenant, sub: args.subject, permissions: ["events:write"] }
        : { type: "user", tid: args.tenant, sub: args.subject, role: args.role ?? "owner" };
      console.log(await issueToken(session, claims, expiresMs));
    }),
});
