/** A session of a tenant's user, as its owner sees it. */
import * as z from "zod";
import type { UserSession } from "./access.ts";
import { PERMISSIONS } from "./session.ts";
import type { ApiServices } from "./services.ts";

export const sessionAnswer = z
  .object({
    tenant: z.string(),
    sub: z.string().nullable(),
    role: z.string().nullable(),
    permissions: z.array(z.enum(PERMISSIONS)),
    limits: z.object({
      endpoints: z.int().describe("Endpoints that the tenant may have."),
      writes_per_minute: z.int().describe("Changes; 0: any number."),
      dispatches_per_minute: z.int().describe("Tests, retries and checks of URLs; 0: any number."),
      fetches_per_minute: z.int().describe("Leases and acknowledgements of clients; 0: any number."),
      retention_days: z.int().describe("How long deliveries are kept."),
    }),
    features: z.object({
      private_targets: z.boolean().describe("Some endpoints may be in private networks."),
      public_links: z.boolean().describe("Links to stored artifacts lead here from other machines."),
    }),
  })
  .meta({ id: "Session" });

export const sessionExample: z.infer<typeof sessionAnswer> = {
  tenant: "acme",
  sub: "jo@acme.example",
  role: "admin",
  permissions: ["settings:read", "settings:write"],
  limits: {
    endpoints: 100,
    writes_per_minute: 1200,
    dispatches_per_minute: 300,
    fetches_per_minute: 12_000,
    retention_days: 30,
  },
  features: { private_targets: false, public_links: true },
};

/** What the token says as Postern reads it, the tenant's limits and what this installation offers. */
export function sessionView(
  { tenantId, subject, role, permissions }: UserSession,
  installation: ApiServices["installation"],
): z.infer<typeof sessionAnswer> {
  const known = PERMISSIONS.filter((permission) => permissions.has(permission));
  return { tenant: tenantId, sub: subject, role, permissions: known, ...installation };
}
