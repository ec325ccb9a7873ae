import { SignJWT } from "jose";
import type { SharedSecret } from "../config.ts";

export type TokenClaims = { type: string; tid: string; sub: string; role?: string; permissions?: string[] };

/** A session token as an operator's own backend would issue it (HS256): for the demo, the command line and tests. */
export async function issueToken(
  { secret, issuer, audience }: SharedSecret,
  claims: TokenClaims,
  expiresMs: number,
): Promise<string> {
  const token = new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(new Date(Date.now() + expiresMs));
  if (issuer !== undefined) token.setIssuer(issuer);
  if (audience !== undefined) token.setAudience(audience);
  return token.sign(new TextEncoder().encode(secret));
}
