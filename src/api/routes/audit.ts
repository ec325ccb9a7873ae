import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { AUDIT_ACTIONS } from "../../audit/audit-entry.ts";
import { parseAuditId, parseEndpointId } from "../../shared/id.ts";
import { userOf } from "../access.ts";
import { auditExample } from "../examples.ts";
import { describeRoute } from "../openapi.ts";
import { firstPage } from "../../shared/first-page.ts";
import { idText, instantText, integerText, linkBefore, NEXT_PAGE } from "../page-query.ts";
import { parseQuery } from "../parse.ts";
import { auditObject, auditView } from "../schemas.ts";
import type { ApiServices } from "../services.ts";

/** What was done to a tenant's endpoints and what was refused, for the tenant's owners. */
export function auditRoutes(app: FastifyInstance, { auditLog }: ApiServices): void {
  app.get(
    "/",
    {
      config: { permission: "settings:read", ownersOnly: "forbidden" },
      schema: describeRoute({
        operationId: "listAuditEntries",
        tag: "Audit",
        summary: "List audit entries, newest first (owners only)",
        description:
          "Changes of endpoints, keys and stored artifacts, tests, retries and refusals, for one year. Refused calls (`access.refused`: 403s, and 404s of ids) and limits reached are counted: one entry per caller, route and minute, with `count`, at the latest a minute after. Owners only.",
        query: auditQuery,
        answers: { 200: z.object({ entries: z.array(auditObject) }) },
        examples: { 200: [{ entries: [auditExample] }] },
        headers: { Link: NEXT_PAGE },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const { tenantId } = userOf(request);
      const query = parseQuery(auditQuery, request.query);
      const { action, limit, before, from: fromMs, to: toMs } = query;
      const endpointId = query.endpoint_id === undefined ? undefined : parseEndpointId(query.endpoint_id);
      const filter = { action, fromMs, toMs, before };
      // No endpoint has an id that does not parse, so no entry is about one.
      const found =
        endpointId === null
          ? []
          : await auditLog.list(tenantId, { filter: { ...filter, endpointId }, limit: limit + 1 });
      const { rows, last } = firstPage(found, limit);
      if (last !== undefined) void reply.header("Link", linkBefore(request.url, last.id));
      return { entries: rows.map(auditView) };
    },
  );
}

const auditQuery = z.strictObject({
  action: z.enum(AUDIT_ACTIONS).optional(),
  endpoint_id: z.string().optional(),
  from: instantText.optional().describe("At or after, ISO 8601 with offset."),
  to: instantText.optional().describe("Before, ISO 8601 with offset."),
  limit: integerText(1, 100, 50),
  before: idText(parseAuditId, "an entry's id").describe("An entry's id: the page of entries older than it."),
});
