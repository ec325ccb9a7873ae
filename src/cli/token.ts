import { defineCommand } from "citty";
import { isOfAllTenants, SERVICE_PERMISSIONS } from "../api/session.ts";
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
    permissions: {
      type: "string",
      description:
        "What a service may do, with commas, for example portal:grant,tenants:read; default: events:write",
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
        throw new ConfigError("--role is of a user: name what a service may do with --permissions");
      if (!isService && args.permissions !== undefined)
        throw new ConfigError("--permissions are of a service: name what a user may do with --role");
      const of = { tid: args.tenant, sub: args.subject };
      const claims = isService
        ? { type: "service", ...of, permissions: permissionsOf(args.permissions, args.tenant) }
        : { type: "user", ...of, role: args.role ?? "owner" };
      console.log(await issueToken(session, claims, expiresMs));
    }),
});

/** Only those of routes that a service may call: any other would do nothing. */
function permissionsOf(list = "events:write", tenant: string): string[] {
  const names = list.split(",").map((name) => name.trim());
  for (const name of names) {
    if (!SERVICE_PERMISSIONS.some((known) => known === name))
      throw new ConfigError(`--permissions ${name}: a service's are ${SERVICE_PERMISSIONS.join(", ")}`);
    if (isOfAllTenants(name) && tenant !== "*")
      throw new ConfigError(`--permissions ${name} needs --tenant *: it is of a backend of every tenant`);
  }
  return names;
}
