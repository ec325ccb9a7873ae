/** Tenants as the operator sees them, and the erasure of one. */
import * as z from "zod";
import { PORTAL_ROLES } from "../portal/portal-session.ts";
import { ERASURE_STATUSES, type Erasure, type Tenant, type TenantRows } from "../tenants/tenant.ts";
import { integerText } from "./page-query.ts";
import { subjectText } from "./portal-schemas.ts";

const instant = z.iso.datetime();
const idText = z.string().regex(/^[A-Za-z0-9_-]{0,64}$/, "must be a part of a tenant's id");

export const tenantsQuery = z.strictObject({
  prefix: idText.default("").describe("What the ids begin with."),
  after: idText.default("").describe("The last tenant of the page before."),
  limit: integerText(1, 100, 100),
});

export const tenantObject = z
  .object({
    id: z.string(),
    endpoints: z.int().min(0),
    enabled: z.int().min(0).describe("Of its endpoints."),
    failing: z.int().min(0).describe("Of the enabled ones: their last attempts failed."),
    delivered: z.int().min(0).describe("Attempts of the last 24 hours and the present one."),
    failed: z.int().min(0),
    shard: z.string().optional().describe("The database that it lives in. Only with several (`SHARDS`)."),
  })
  .meta({ id: "Tenant" });

export const tenantExample: z.infer<typeof tenantObject> = {
  id: "acme",
  endpoints: 3,
  enabled: 2,
  failing: 1,
  delivered: 10_412,
  failed: 17,
};

export function tenantView(tenant: Tenant): z.infer<typeof tenantObject> {
  const { id, endpoints, enabled, failing, delivered, failed, shard } = tenant;
  return { id, endpoints, enabled, failing, delivered, failed, ...(shard === undefined ? {} : { shard }) };
}

export const actInput = z
  .strictObject({
    sub: subjectText,
    role: z.enum(PORTAL_ROLES).default("owner"),
    read_only: z.boolean().default(false).describe("True: `settings:read` alone, whatever the role."),
  })
  .meta({ examples: [{ sub: "sam@operator.example", role: "owner" }] });

export const eraseQuery = z.strictObject({
  dry_run: z
    .enum(["true", "false"])
    .default("false")
    .describe("`true`: count what would be deleted, and delete nothing."),
});

/** `dry_run` is a member of other routes' bodies: ignored in this one, it would erase the tenant. */
export const eraseBody = z.strictObject({}, "must be empty: dry_run is a query parameter").nullable();

export const tenantRowsObject = z
  .object({
    rows: z.record(z.string(), z.int()).describe("By table; those without a row are left out."),
    is_capped: z
      .boolean()
      .describe("There are more: 10,000 rows of a table, or of its part of a day, are counted."),
    held: z.int().min(0).describe("Artifacts that are held: while there is one, the erasure is refused."),
  })
  .meta({ id: "TenantRows" });

export function tenantRowsView({ rows, isCapped, held }: TenantRows): z.infer<typeof tenantRowsObject> {
  return { rows: Object.fromEntries(rows), is_capped: isCapped, held };
}

export const erasureObject = z
  .object({
    tenant_id: z.string(),
    status: z.enum(ERASURE_STATUSES),
    rows: z.int().min(0).describe("Deleted so far."),
    objects: z.int().min(0).describe("Versions of stored objects deleted so far, the trash included."),
    waiting_for: z.string().nullable().describe("Why it cannot go on for now."),
    requested_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: "TenantErasure" });

export const erasureExample: z.infer<typeof erasureObject> = {
  tenant_id: "acme",
  status: "running",
  rows: 105_000,
  objects: 0,
  waiting_for: null,
  requested_at: "2026-01-31T10:00:00.000Z",
  finished_at: null,
};

export function erasureView(erasure: Erasure): z.infer<typeof erasureObject> {
  return {
    tenant_id: erasure.tenantId,
    status: erasure.status,
    rows: erasure.rows,
    objects: erasure.objects,
    waiting_for: erasure.trouble,
    requested_at: erasure.requestedAt.toISOString(),
    finished_at: erasure.finishedAt?.toISOString() ?? null,
  };
}
