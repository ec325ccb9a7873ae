/**
 * How often a caller may call: changes, tests and retries, leases and their
 * acknowledgements, of a tenant;
 * failed authentications of an address. Counted in the memory of this process.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallTally } from "../audit/audit-tally.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { userOf } from "./access.ts";
import { addressKey, callerAddress } from "./caller-address.ts";
import { TokenBuckets, type Taken } from "./token-buckets.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Which of a tenant's limits the route counts towards. */
    limit?: TenantLimit;
  }
}

type TenantLimit = "writes" | "dispatches" | "fetches";
type LimitName = TenantLimit | "authentications";

/** How many a minute; 0 is off. */
export type RateLimits = Readonly<Record<LimitName, number>>;

/** Some megabytes for each limit, however many callers come. */
const MAX_KEYS = 50_000;

export type CallerLimits = {
  /** An onRequest hook after the session checks: counts, sets the limit's headers, refuses. */
  limitRoute(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a failed authentication. Gives the error to answer: 429 in its place when there were too many. */
  judge(error: Error, request: FastifyRequest, reply: FastifyReply): Error;
};

export function makeCallerLimits(
  limits: RateLimits,
  { tally, metrics }: { tally: CallTally; metrics: Metrics },
): CallerLimits {
  const buckets = {
    writes: bucketsFor(limits.writes),
    dispatches: bucketsFor(limits.dispatches),
    fetches: bucketsFor(limits.fetches),
    authentications: bucketsFor(limits.authentications),
  };

  /** Null when there is no such limit, or it lets the call through. */
  function refusalOf(limit: LimitName, key: string, reply: FastifyReply): Refusal | null {
    const taken = buckets[limit]?.take(key, performance.now());
    if (taken === undefined) return null;
    const told = describeLimit(limit, limits[limit], taken);
    void reply.header("RateLimit-Policy", told.policy).header("RateLimit", told.state);
    if (taken.allowed) return null;
    metrics.rateLimited.inc({ limit });
    return new Refusal("too_many_requests", { retryAfterS: told.waitS });
  }

  return {
    async limitRoute(request, reply) {
      const { limit } = request.routeOptions.config;
      if (limit === undefined) return;
      const { tenantId } = userOf(request);
      const refusal = refusalOf(limit, tenantId, reply);
      if (refusal === null) return;
      tally.limitReached({ limit, tenantId, address: callerAddress(request), requestId: request.id });
      throw refusal;
    },
    judge(error, request, reply) {
      if (!(error instanceof Refusal) || error.code !== "unauthorized") return error;
      const address = addressKey(callerAddress(request));
      const by = { address, requestId: request.id };
      tally.failedAuthentication(by);
      const limit = "authentications";
      const refusal = refusalOf(limit, address, reply);
      if (refusal === null) return error;
      tally.limitReached({ limit, tenantId: null, ...by });
      return refusal;
    },
  };
}

function bucketsFor(perMinute: number): TokenBuckets | null {
  return perMinute === 0 ? null : new TokenBuckets({ perMinute, maxKeys: MAX_KEYS });
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers (-11), and for a refused
 * call the seconds to wait. `t` is when the bucket is full again, and for one
 * that is empty when it has its next token: there it says the same as Retry-After.
 */
export function describeLimit(
  name: string,
  perMinute: number,
  taken: Taken,
): { policy: string; state: string; waitS: number } {
  const remaining = taken.allowed ? taken.remaining : 0;
  const waitS = Math.max(wholeSeconds(taken.nextInMs), 1);
  const resetS = taken.allowed && remaining > 0 ? wholeSeconds(taken.fullInMs) : waitS;
  return { policy: `"${name}";q=${perMinute};w=60`, state: `"${name}";r=${remaining};t=${resetS}`, waitS };
}

/** Rounds up so a caller who waits this long succeeds. A floating-point rest adds no second. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - 1e-9);
}
