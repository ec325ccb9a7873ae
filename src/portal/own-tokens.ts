/**
 * Tokens that Postern itself signs, beside those of the operator's application.
 * Their key is derived from the encryption key ring, so they work where session
 * tokens are verified by a key set, with which Postern can sign nothing.
 */
import { hkdfSync } from "node:crypto";
import { decodeJwt, errors, jwtVerify, SignJWT, type JWTPayload } from "jose";
import { ALL_TENANTS, type PortalGrant, type PortalSession } from "./portal-session.ts";

/** The `iss` of these tokens; one of the operator's that has it is verified as ours, and refused. */
export const OWN_ISSUER = "urn:postern:portal";

const PURPOSE = "postern portal tokens 1";
const KEY_BYTES = 32;

export type OwnTokens = {
  /** Whether the token says that it is one of ours; nothing is verified. */
  claims(token: string): boolean;
  /** Throws an error of jose for one that is not ours, or no good any more. */
  verify(token: string, options: { clockTolerance: number }): Promise<JWTPayload>;
  sign(session: PortalSession, expiresAt: Date): Promise<string>;
};

/** `keys`: the service's key ring; the first signs, all verify. */
export function makeOwnTokens(keys: readonly Buffer[]): OwnTokens {
  const ring = keys.map((key) => Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), PURPOSE, KEY_BYTES)));
  const [first] = ring;
  if (first === undefined) throw new Error("tokens need at least one key");
  return {
    claims(token) {
      try {
        return decodeJwt(token).iss === OWN_ISSUER;
      } catch {
        return false;
      }
    },
    async verify(token, { clockTolerance }) {
      const options = { algorithms: ["HS256"], issuer: OWN_ISSUER, requiredClaims: ["exp"], clockTolerance };
      for (const key of ring) {
        try {
          return (await jwtVerify(token, key, options)).payload;
        } catch (error) {
          if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    },
    async sign({ id, grant }, expiresAt) {
      return new SignJWT({ ...claimsOf(grant), jti: id, iss: OWN_ISSUER })
        .setProtectedHeader({ alg: "HS256" })
        .setExpirationTime(expiresAt)
        .sign(first);
    },
  };
}

function claimsOf({ tenantId, subject: sub, role, isReadOnly }: PortalGrant) {
  if (tenantId === ALL_TENANTS)
    return { type: "service", tid: tenantId, sub, permissions: ["tenants:read", "portal:grant"] };
  const permissions = isReadOnly ? { permissions: ["settings:read"] } : {};
  return { type: "user", tid: tenantId, sub, role, ...permissions };
}
