/** Who is calling: session tokens (JWT) verified with pinned algorithms. */
import { hash } from "node:crypto";
import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from "jose";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { SessionSource } from "../config.ts";
import type { OwnTokens } from "../portal/own-tokens.ts";
import { parsePortalSessionId, parseTenantId, type PortalSessionId, type TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { isTokenFault, makeKeySet, type KeySetOptions } from "./key-set.ts";

/** Of an operator's backend; the other permissions are of a tenant's users. */
export const SERVICE_PERMISSIONS = [
  "events:write",
  "portal:grant",
  "tenants:read",
  "tenants:act",
  "tenants:erase",
] as const;
export const PERMISSIONS = [
  "settings:read",
  "settings:write",
  "storage:hold",
  ...SERVICE_PERMISSIONS,
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export type Session = {
  type: "user" | "service" | "other";
  /** Null where `tid` is absent or not a tenant id; a service session with `*` has {@link allTenants} instead. */
  tenantId: TenantId | null;
  /** A service that names the tenant in each event. */
  allTenants: boolean;
  role: string | null;
  subject: string | null;
  permissions: ReadonlySet<string>;
  /** Of a session that Postern itself gave out; null for the operator's own. */
  portalId: PortalSessionId | null;
};

/** Postern's own tokens, and whether a token's session is still open. */
export type OwnSessions = {
  tokens: Pick<OwnTokens, "claims" | "verify">;
  /** `tenantId` null: of all tenants. */
  isAlive(id: PortalSessionId, tenantId: TenantId | null): Promise<boolean>;
};

export type SessionVerifier = {
  /** Throws Refusal `unauthorized` for a missing or bad token, `unavailable` when no key can be fetched. */
  verify(authorization: string | undefined): Promise<Session>;
};

/** What a caller is told whose token's time is over. */
export const EXPIRED = "the token has expired";

const CLOCK_TOLERANCE_S = 5;
const MAX_TOKEN_LENGTH = 8192;
/** In characters, as of a portal session. Longer than an audit entry needs to name an actor. */
const MAX_SUBJECT_LENGTH = 256;
// A verified token is believed for so long without another look at its signature.
const REMEMBER_MS = 30_000;
const REMEMBERED_TOKENS = 10_000;

const claims = z.object({
  exp: z.number(),
  type: z.unknown().optional(),
  tid: z.unknown().optional(),
  role: z.string().optional().catch(undefined),
  sub: z.string().optional().catch(undefined),
  permissions: z.array(z.string()).optional(),
  jti: z.unknown().optional(),
});

export function makeSessionVerifier(
  source: SessionSource,
  own: OwnSessions | null = null,
  keySet: KeySetOptions = {},
): SessionVerifier {
  const remembered = new LRUCache<string, { session: Session; expiresAtMs: number }>({
    max: REMEMBERED_TOKENS,
    ttl: REMEMBER_MS,
  });
  const check = tokenCheck(source, keySet);

  /** The operator's tokens are good until they expire; ours end with their session. */
  function goingOn(session: Session): Session | Promise<Session> {
    const { portalId } = session;
    return own === null || portalId === null ? session : requireAlive(own, session, portalId);
  }

  return {
    async verify(authorization) {
      const token = bearerToken(authorization);
      // Kept by digest, so that the memory of the process holds no token longer than its request.
      const digest = hash("sha256", token, "base64");
      const known = remembered.get(digest);
      if (known !== undefined && Date.now() < known.expiresAtMs) return goingOn(known.session);
      const isOwn = own?.tokens.claims(token) === true;
      const parsed = claims.safeParse(await (isOwn ? checkOwn(own, token) : check(token)));
      if (!parsed.success)
        throw new Refusal("unauthorized", { reason: "the permissions of the token are no list of names" });
      const portalId = isOwn ? parsePortalSessionId(parsed.data.jti) : null;
      const session = toSession(parsed.data, portalId);
      remembered.set(digest, { session, expiresAtMs: (parsed.data.exp + CLOCK_TOLERANCE_S) * 1000 });
      return goingOn(session);
    },
  };
}

async function requireAlive(own: OwnSessions, session: Session, id: PortalSessionId): Promise<Session> {
  if (await own.isAlive(id, session.tenantId)) return session;
  throw new Refusal("unauthorized", { reason: "the session has ended" });
}

function checkOwn({ tokens }: OwnSessions, token: string): Promise<JWTPayload> {
  return verified(
    tokens.verify(token, { clockTolerance: CLOCK_TOLERANCE_S }).then((payload) => ({ payload })),
  );
}

function tokenCheck(source: SessionSource, keySet: KeySetOptions): (token: string) => Promise<JWTPayload> {
  const common: JWTVerifyOptions = {
    clockTolerance: CLOCK_TOLERANCE_S,
    requiredClaims: ["exp"],
    ...(source.issuer === undefined ? {} : { issuer: source.issuer }),
    ...(source.audience === undefined ? {} : { audience: source.audience }),
  };
  if (source.kind === "secret") {
    const key = new TextEncoder().encode(source.secret);
    const options = { ...common, algorithms: ["HS256"] };
    return (token) => verified(jwtVerify(token, key, options));
  }
  const keys = makeKeySet(source.url, keySet);
  const options = { ...common, algorithms: ["RS256", "ES256", "EdDSA"] };
  return (token) => verified(keys(token, options));
}

async function verified(verification: Promise<{ payload: JWTPayload }>): Promise<JWTPayload> {
  try {
    return (await verification).payload;
  } catch (error) {
    if (isTokenFault(error)) throw new Refusal("unauthorized", { reason: tokenFault(error) });
    throw new Refusal("unavailable", { retryAfterS: 5 });
  }
}

/** Claims are judged behind the signature, so only who holds a good token learns of them. */
function tokenFault(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return EXPIRED;
  if (error instanceof errors.JWKSNoMatchingKey) return "the key set has no key that fits the token";
  if (!(error instanceof errors.JWTClaimValidationFailed)) return "the token is not signed as it must be";
  if (error.reason === "missing") return `the token has no ${knownClaim(error.claim)}`;
  const claim = `the ${knownClaim(error.claim)} of the token`;
  if (error.reason === "invalid") return `${claim} is no number of seconds`;
  return error.claim === "nbf"
    ? `${claim} is later than this clock`
    : `${claim} is not the one that is needed`;
}

/** One of a few words, whatever the token names. */
function knownClaim(claim: string): string {
  return ["exp", "nbf", "iat", "iss", "aud"].find((known) => known === claim) ?? "claim";
}

function bearerToken(authorization: string | undefined): string {
  const match = /^Bearer +([A-Za-z0-9_.-]+)$/i.exec(authorization ?? "");
  const token = match?.[1];
  if (token === undefined) throw new Refusal("unauthorized", { reason: "a bearer token is needed" });
  if (token.length <= MAX_TOKEN_LENGTH) return token;
  throw new Refusal("unauthorized", { reason: `the token is longer than ${MAX_TOKEN_LENGTH} characters` });
}

function toSession(claim: z.infer<typeof claims>, portalId: PortalSessionId | null): Session {
  const type = claim.type === "user" || claim.type === "service" ? claim.type : "other";
  return {
    type,
    tenantId: parseTenantId(claim.tid),
    allTenants: type === "service" && claim.tid === "*",
    role: claim.role ?? null,
    subject: claim.sub === undefined ? null : Array.from(claim.sub).slice(0, MAX_SUBJECT_LENGTH).join(""),
    permissions: new Set(claim.permissions ?? permissionsOfRole(claim.role)),
    portalId,
  };
}

function permissionsOfRole(role: string | undefined): Permission[] {
  if (isOwner(role ?? null)) return ["settings:read", "settings:write", "storage:hold"];
  if (role === "admin" || role === "ADMIN") return ["settings:read", "settings:write"];
  return role === "member" || role === "MEMBER" ? ["settings:read"] : [];
}

/** Only a session of a service with `tid` `*` has such a permission. */
export function isOfAllTenants(permission: string): boolean {
  return permission.startsWith("tenants:");
}

export function givesPermissions(role: string): boolean {
  return permissionsOfRole(role).length > 0;
}

/** The two spellings that the role check of rotate-secret accepts. */
export function isOwner(role: string | null): boolean {
  return role === "owner" || role === "OWNER";
}
