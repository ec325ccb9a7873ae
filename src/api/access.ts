/** The checks that come before a route's own: a session, its kind, its permission. In this order, before the body is read. */
import type { FastifyRequest } from "fastify";
import { UNKNOWN, type Caller } from "../audit/audit-entry.ts";
import type { Granting } from "../portal/portal-sessions.ts";
import type { NamedSession } from "../portal/portal-session.ts";
import type { TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { callerAddress } from "./caller-address.ts";
import {
  givesPermissions,
  isOfAllTenants,
  isOwner,
  type Permission,
  type Session,
  type SessionVerifier,
} from "./session.ts";

export type UserSession = Session & { tenantId: TenantId };

const userSessions = new WeakMap<FastifyRequest, UserSession>();
const serviceSessions = new WeakMap<FastifyRequest, Session>();
const portalSessions = new WeakMap<FastifyRequest, NamedSession>();

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the caller must be allowed to do; absent on routes that only say that they do not exist. */
    permission?: Permission;
    /** On routes for owners alone: how others are refused. */
    ownersOnly?: "owner_required" | "forbidden";
  }
}

/** An onRequest hook: a user of a tenant, with the route's permission. */
export function requireUser(verifier: SessionVerifier) {
  return async (request: FastifyRequest): Promise<void> => {
    const session = await verifier.verify(request.headers.authorization);
    const { tenantId } = session;
    if (session.type !== "user") throw refusedSession("a token of type user is needed here");
    if (tenantId === null) throw refusedSession("the tid of the token is absent or no tenant id");
    // Before the permission: the audit log names callers who lack it.
    userSessions.set(request, { ...session, tenantId });
    requirePermission(request, session);
  };
}

/** An onRequest hook: the operator's own backend, with the route's permission. */
export function requireService(verifier: SessionVerifier) {
  return async (request: FastifyRequest): Promise<void> => {
    const session = await verifier.verify(request.headers.authorization);
    if (session.type !== "service") throw refusedSession("a token of type service is needed here");
    if (session.tenantId === null && !session.allTenants)
      throw refusedSession("the tid of the token is absent or no tenant id");
    serviceSessions.set(request, session);
    requirePermission(request, session);
  };
}

/** An onRequest hook: requires a session that Postern itself issued. */
export function requirePortalSession(verifier: SessionVerifier) {
  return async (request: FastifyRequest): Promise<void> => {
    const { portalId: id, tenantId } = await verifier.verify(request.headers.authorization);
    if (id === null) throw refusedSession("the token is not of a session of the portal");
    portalSessions.set(request, { id, tenantId });
  };
}

/**
 * An onRequest hook where both kinds of session have routes: who publishes is a
 * service, who reads or sends is a user. What is no route takes either.
 */
export function requireEither(verifier: SessionVerifier) {
  const [user, service] = [requireUser(verifier), requireService(verifier)];
  return async (request: FastifyRequest): Promise<void> => {
    const { permission } = request.routeOptions.config;
    const isOfService =
      permission === undefined
        ? (await verifier.verify(request.headers.authorization)).type === "service"
        : permission === "events:write";
    await (isOfService ? service(request) : user(request));
  };
}

/** Why a token has no permission at all: a service's names them, a user's may have them by its role. */
function lackOfAll({ type, role, permissions }: Session): string {
  if (permissions.size > 0) return "";
  if (type === "service") return ": the token names no permissions";
  if (role === null) return ": the token has no role";
  return givesPermissions(role) ? "" : ": the token's role is none of owner, admin and member";
}

function requirePermission(request: FastifyRequest, session: Session): void {
  const { permission, ownersOnly } = request.routeOptions.config;
  if (permission !== undefined && !session.permissions.has(permission)) {
    throw new Refusal("forbidden", { reason: `the permission ${permission} is needed${lackOfAll(session)}` });
  }
  if (permission !== undefined && isOfAllTenants(permission) && !session.allTenants)
    throw new Refusal("forbidden", { reason: "tid * is needed" });
  if (ownersOnly !== undefined && !isOwner(session.role))
    throw new Refusal(ownersOnly, { reason: "the role owner is needed" });
}

function refusedSession(reason: string): Refusal {
  return new Refusal("unauthorized", { reason });
}

export function userOf(request: FastifyRequest): UserSession {
  const session = userSessions.get(request);
  if (session === undefined) throw new Error("a user route ran without its session check");
  return session;
}

export function portalSessionOf(request: FastifyRequest): NamedSession {
  const session = portalSessions.get(request);
  if (session === undefined) throw new Error("a route of the portal's sessions ran without its check");
  return session;
}

/** Refuses a backend whose token is for another tenant. */
export function requireTenant(session: Session, tenantId: TenantId): void {
  if (!session.allTenants && session.tenantId !== tenantId)
    throw new Refusal("forbidden", { reason: "the tenant is not the tid of the token" });
}

/** The operator's backend as the audit log of a tenant names it. */
export function grantingOf(request: FastifyRequest): Granting {
  const { subject } = serviceOf(request);
  return {
    actor: { type: "operator", sub: subject },
    requestId: request.id,
    address: callerAddress(request),
  };
}

/** The user as the audit log names him. */
export function callerOf(request: FastifyRequest): Caller {
  const { tenantId, subject } = userOf(request);
  return {
    tenantId,
    actor: { type: "user", sub: subject },
    requestId: request.id,
    address: callerAddress(request),
  };
}

/** The actor of the request's session, as in the audit log; null without a session, or for a backend of every tenant. */
export function knownCallerOf(request: FastifyRequest): Caller | null {
  if (userSessions.has(request)) return callerOf(request);
  const tenantId = serviceSessions.get(request)?.tenantId ?? null;
  if (tenantId === null) return null;
  return { tenantId, actor: UNKNOWN, requestId: request.id, address: callerAddress(request) };
}

export function serviceOf(request: FastifyRequest): Session {
  const session = serviceSessions.get(request);
  if (session === undefined) throw new Error("a service route ran without its session check");
  return session;
}
