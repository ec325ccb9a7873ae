/** Who calls the service in a benchmark. */
import type { TokenClaims } from "../src/api/session-token.ts";

export const ownerOf = (tid: string): TokenClaims => ({ type: "user", tid, sub: "bench", role: "owner" });

export const producerOf = (tid: string): TokenClaims => ({
  type: "service",
  tid,
  sub: "bench",
  permissions: ["events:write"],
});
