import { userInfo } from "node:os";
import { defineCommand } from "citty";
import { codeAnswer } from "../../api/portal-schemas.ts";
import { PORTAL_ROLES } from "../../portal/portal-session.ts";
import { openApiClient, printingRefusals, readAnswer, URL_ARGUMENT } from "./api-client.ts";
import { ConfigError } from "../../shared/config-error.ts";
import { withClearErrors } from "../command.ts";

const PERMISSIONS = ["portal:grant", "tenants:read"];

export const portal = defineCommand({
  meta: {
    name: "portal",
    description: "Print a link that opens the operator's portal, or a tenant's, once within 60 seconds",
  },
  args: {
    tenant: { type: "string", description: "Tenant id; default: the operator's list of tenants" },
    role: {
      type: "enum",
      options: [...PORTAL_ROLES],
      description: "What the session may do at the tenant; default: owner",
    },
    "read-only": { type: "boolean", description: "A session that changes nothing at the tenant" },
    subject: { type: "string", description: "Who it is for; default: the user of this machine" },
    minutes: { type: "string", default: "60", description: "For how long the session lasts" },
    url: URL_ARGUMENT,
  },
  run: ({ args }) =>
    withClearErrors(() =>
      printingRefusals(async () => {
        requireTenantFor(args);
        const api = await openApiClient({ type: "service", tid: "*", permissions: PERMISSIONS }, args.url);
        const of = { sub: args.subject ?? userInfo().username, minutes: Number(args.minutes) };
        const json =
          args.tenant === undefined
            ? { ...of, tenant_id: "*", path: "/tenants" }
            : {
                ...of,
                tenant_id: args.tenant,
                role: args.role ?? "owner",
                path: "/endpoints",
                read_only: args["read-only"] === true,
              };
        const { url } = readAnswer(
          codeAnswer,
          await api.call("POST", "/api/portal/codes", JSON.stringify(json)),
        );
        console.log(url);
      }),
    ),
});

/** Dropped, they would leave a link that does more than was asked for: the operator's pages open tenants as their owner. */
function requireTenantFor(args: Record<"tenant" | "role" | "read-only", string | boolean | undefined>): void {
  if (args.tenant !== undefined) return;
  for (const name of ["role", "read-only"] as const) {
    if (args[name] !== undefined && args[name] !== false)
      throw new ConfigError(
        `--${name} needs --tenant: without it the link opens the operator's pages, and these open tenants as their owner`,
      );
  }
}
