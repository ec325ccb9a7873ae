/** Tenants, for the operator's backend alone. */
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { parseTenantId } from "../../shared/id.ts";
import { Refusal } from "../../shared/refusal.ts";
import { grantingOf } from "../access.ts";
import { describeRoute } from "../openapi.ts";
import { firstPage } from "../../shared/first-page.ts";
import { linkToPage, NEXT_PAGE } from "../page-query.ts";
import { parse, parseQuery } from "../parse.ts";
import { tokenExample, tokenObject, tokenView } from "../portal-schemas.ts";
import type { ApiServices } from "../services.ts";
import {
  actInput,
  eraseBody,
  eraseQuery,
  erasureExample,
  erasureObject,
  erasureView,
  tenantExample,
  tenantObject,
  tenantRowsObject,
  tenantRowsView,
  tenantsQuery,
  tenantView,
} from "../tenant-schemas.ts";

type IdParams = { Params: { tenant_id: string } };

const erasureAnswer = z.object({ erasure: erasureObject });
const WHO = "For the operator's backend: `tid` `*` and";

export function tenantRoutes(app: FastifyInstance, services: ApiServices): void {
  const { tenants, portal } = services;
  addReading(app, services);

  app.post<IdParams>(
    "/:tenant_id/tokens",
    {
      config: { permission: "tenants:act" },
      schema: describeRoute({
        operationId: "actForTenant",
        tag: "Tenants",
        summary: "Get a token of type user for a tenant, good for 15 minutes",
        description: `${WHO} \`tenants:act\`. With it every route of the tenant can be called. The tenant need not exist yet. Its audit log records the token, and names \`sub\` as the actor of its calls. \`DELETE /api/portal/sessions\` ends it before its time.`,
        params: ["tenant_id"],
        body: actInput,
        answers: { 201: tokenObject },
        examples: { 201: [tokenExample] },
        refusals: ["not_found", "validation_failed"],
      }),
    },
    async (request, reply) => {
      const { sub: subject, role, read_only: isReadOnly } = parse(actInput, request.body);
      const tenantId = parseTenantId(request.params.tenant_id);
      if (tenantId === null) throw new Refusal("not_found");
      const token = await portal.act(grantingOf(request), { tenantId, subject, role, isReadOnly });
      return reply.code(201).send(tokenView(token));
    },
  );

  app.delete<IdParams>(
    "/:tenant_id",
    {
      config: { permission: "tenants:erase", dryRun: "query" },
      schema: describeRoute({
        operationId: "eraseTenant",
        tag: "Tenants",
        summary: "Erase every trace of a tenant; or only count it",
        description: `${WHO} \`tenants:erase\`. Endpoints, secrets, events, the log, statistics, settings, keys, sessions, the audit log and stored objects with their old versions are deleted by workers; there is no way back. While an artifact is held, it is refused with 409 that names the artifact, and nothing is erased. So it is, and its count, while the tenant is being moved to another shard: finish the move or give it up first. One entry of the audit log stays, and the job itself, which name the tenant's id. What is published or set up before the end is erased too, and what comes behind it is a new tenant's: stop the tenant's users first. Asked for again while it runs, it changes nothing.`,
        params: ["tenant_id"],
        query: eraseQuery,
        answers: { 200: tenantRowsObject, 202: erasureAnswer },
        examples: {
          200: [{ rows: { deliveries: 812, endpoints: 3, events: 640 }, is_capped: false, held: 0 }],
          202: [{ erasure: erasureExample }],
        },
        refusals: [
          "not_found",
          "held",
          "tenant_moving",
          "invalid_query",
          "validation_failed",
          "payload_too_large",
        ],
      }),
    },
    async (request, reply) => {
      const { dry_run: isDry } = parseQuery(eraseQuery, request.query);
      parse(eraseBody, request.body);
      const tenantId = parseTenantId(request.params.tenant_id);
      if (tenantId === null) throw new Refusal("not_found");
      if (isDry === "true") return tenantRowsView(await tenants.count(tenantId));
      const erasure = await tenants.erase(grantingOf(request), tenantId);
      return reply.code(202).send({ erasure: erasureView(erasure) });
    },
  );
}

function addReading(app: FastifyInstance, { tenants }: ApiServices): void {
  const config = { permission: "tenants:read" } as const;
  app.get(
    "/",
    {
      config,
      schema: describeRoute({
        operationId: "listTenants",
        tag: "Tenants",
        summary: "List tenants by their ids, with counts",
        description: `${WHO} \`tenants:read\`. Tenants with an endpoint, or with the log of a former one, in the order of the bytes of their ids.`,
        query: tenantsQuery,
        answers: { 200: z.object({ tenants: z.array(tenantObject) }) },
        examples: { 200: [{ tenants: [tenantExample] }] },
        headers: { Link: NEXT_PAGE },
        refusals: ["invalid_query"],
      }),
    },
    async (request, reply) => {
      const query = parseQuery(tenantsQuery, request.query);
      const { limit } = query;
      const { rows, last } = firstPage(await tenants.list({ ...query, limit: limit + 1 }), limit);
      if (last !== undefined) void reply.header("Link", linkToPage(request.url, { after: last.id }));
      return { tenants: rows.map(tenantView) };
    },
  );

  addReadingOne(app, tenants);
}

function addReadingOne(app: FastifyInstance, tenants: ApiServices["tenants"]): void {
  const config = { permission: "tenants:read" } as const;
  app.get<IdParams>(
    "/:tenant_id",
    {
      config,
      schema: describeRoute({
        operationId: "getTenant",
        tag: "Tenants",
        summary: "Show a tenant with its counts",
        description: `${WHO} \`tenants:read\`. As the list has it; 404 for one that the list does not have.`,
        params: ["tenant_id"],
        answers: { 200: z.object({ tenant: tenantObject }) },
        examples: { 200: [{ tenant: tenantExample }] },
        refusals: ["not_found"],
      }),
    },
    async (request) => ({
      tenant: tenantView(await tenants.get(parseTenantId(request.params.tenant_id))),
    }),
  );

  app.get<IdParams>(
    "/:tenant_id/erasure",
    {
      config,
      schema: describeRoute({
        operationId: "getTenantErasure",
        tag: "Tenants",
        summary: "Show how far the erasure of a tenant is",
        description: `${WHO} \`tenants:read\`. 404 for a tenant whose erasure was never requested. A finished erasure stays.`,
        params: ["tenant_id"],
        answers: { 200: erasureAnswer },
        examples: {
          200: [
            { erasure: { ...erasureExample, status: "finished", finished_at: "2026-01-31T10:00:41.000Z" } },
          ],
        },
        refusals: ["not_found"],
      }),
    },
    async (request) => ({
      erasure: erasureView(await tenants.getErasure(parseTenantId(request.params.tenant_id))),
    }),
  );
}
