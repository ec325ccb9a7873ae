/** Sessions for people who come from the operator's application: a code for them, and what they swap it for. */
import type { FastifyInstance } from "fastify";
import * as z from "zod";
import { ALL_TENANTS, type PortalGrant } from "../../portal/portal-session.ts";
import type { OwnToken } from "../../portal/portal-sessions.ts";
import { Refusal } from "../../shared/refusal.ts";
import { grantingOf, portalSessionOf, requirePortalSession, requireTenant, serviceOf } from "../access.ts";
import { callerAddress } from "../caller-address.ts";
import { describeRoute } from "../openapi.ts";
import { parse } from "../parse.ts";
import {
  codeAnswer,
  codeInput,
  grantOf,
  openInput,
  portalTokenExample,
  portalTokenObject,
  tokenView,
} from "../portal-schemas.ts";
import type { ApiServices } from "../services.ts";
import { sessionView } from "../session-schemas.ts";
import type { Session } from "../session.ts";

export function portalCodeRoutes(app: FastifyInstance, { portal, publicBase }: ApiServices): void {
  app.post(
    "/",
    {
      config: { permission: "portal:grant" },
      schema: describeRoute({
        operationId: "createPortalCode",
        tag: "Portal",
        summary: "Make a URL that opens the portal for one person, once",
        description:
          "For the operator's backend. Send the person's browser to the URL within 60 seconds: its code opens one " +
          "session and is then used up. The base of the URL is `PUBLIC_URL`. Works however the installation verifies " +
          "session tokens. The tenant's audit log records it.",
        body: codeInput,
        answers: { 201: codeAnswer },
        examples: {
          body: [
            { tenant_id: "acme", sub: "jo@acme.example", role: "admin", path: "/endpoints", minutes: 60 },
          ],
        },
        refusals: ["validation_failed"],
      }),
    },
    async (request, reply) => {
      const input = parse(codeInput, request.body);
      const grant = grantOf(input);
      if (grant === null) throw new Refusal("validation_failed");
      requireMayGrant(serviceOf(request), grant);
      const { code, expiresAt } = await portal.grant(grantingOf(request), grant, input.minutes);
      const url = `${publicBase()}/portal${input.path}#code=${code}`;
      return reply.code(201).send({ url, expires_at: expiresAt.toISOString() });
    },
  );
}

/** A session of the portal opens tenants for its own person alone, so that it neither prolongs itself nor poses as another. */
function requireMayGrant(session: Session, { tenantId, subject }: PortalGrant): void {
  if (session.portalId !== null && (tenantId === ALL_TENANTS || subject !== session.subject))
    throw new Refusal("forbidden", { reason: "a session of the portal opens tenants for its own sub alone" });
  if (tenantId !== ALL_TENANTS) return requireTenant(session, tenantId);
  if (session.allTenants && session.permissions.has("tenants:read")) return undefined;
  throw new Refusal("forbidden", { reason: "tid * and the permission tenants:read are needed" });
}

export function portalSessionRoutes(
  app: FastifyInstance,
  { portal, sessions, installation }: ApiServices,
): void {
  const answer = async (own: OwnToken): Promise<z.infer<typeof portalTokenObject>> => {
    const { tenantId, ...session } = await sessions.verify(`Bearer ${own.token}`);
    return {
      ...tokenView(own),
      session: tenantId === null ? null : sessionView({ ...session, tenantId }, installation),
    };
  };

  app.post(
    "/",
    {
      schema: describeRoute({
        operationId: "openPortalSession",
        tag: "Portal",
        summary: "Swap the code of a portal's URL for a session token",
        description:
          "A code can be swapped once, within 60 seconds. The token is good for 15 minutes and can be renewed until " +
          "the session ends. Wrong codes are counted as failed authentications of the address.",
        body: openInput,
        answers: { 201: portalTokenObject },
        examples: { 201: [portalTokenExample] },
        isPublic: true,
        refusals: ["validation_failed", "unauthorized", "too_many_requests", "unavailable"],
      }),
    },
    async (request, reply) => {
      const { code } = parse(openInput, request.body);
      const own = await portal.open(code, { requestId: request.id, address: callerAddress(request) });
      return reply.code(201).send(await answer(own));
    },
  );

  const onRequest = requirePortalSession(sessions);
  app.post(
    "/renew",
    {
      onRequest,
      schema: describeRoute({
        operationId: "renewPortalSession",
        tag: "Portal",
        summary: "Get the next token of the session",
        description:
          "For a token that the portal's sessions gave. No token is good for longer than the session; the one before stays good until it expires.",
        answers: { 200: portalTokenObject },
        examples: { 200: [portalTokenExample] },
        refusals: ["payload_too_large"],
      }),
    },
    async (request) => answer(await portal.renew(portalSessionOf(request))),
  );

  app.delete(
    "/",
    {
      onRequest,
      schema: describeRoute({
        operationId: "endPortalSession",
        tag: "Portal",
        summary: "End the session; its tokens are no good any more",
        description:
          "At once in the process that answers, and within a second in others. For tokens that the portal's sessions gave.",
        answers: { 200: z.object({ ok: z.literal(true) }) },
        examples: { 200: [{ ok: true }] },
        refusals: ["payload_too_large"],
      }),
    },
    async (request) => {
      await portal.end(portalSessionOf(request));
      return { ok: true };
    },
  );
}
