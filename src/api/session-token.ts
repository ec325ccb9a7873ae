import { SignJWT } from "jose";

export type TokenClaims = { type: string; tid: string; sub: string; role?: string; permissions?: string[] };

/** A session token as an operator's own backend would issue it (HS256): for the demo, the command line and tests. */
export async function issueToken(secret: string, claims: TokenClaims, expiresMs: number): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(new Date(Date.now() + expiresMs))
    .sign(new TextEncoder().encode(secret));
}
