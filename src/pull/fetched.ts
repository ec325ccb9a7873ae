/** How attempts end that clients make by fetching: an acknowledgement, a refusal, or a lease that runs out. Pure. */
import { isServiceType } from "../events/built-in-catalog.ts";
import type { EndedLease } from "../queue/fetching.ts";
import type { BodiesToKeep, CompletedLease } from "../queue/queue.ts";

export type FetchedOutcome =
  | { kind: "delivered" }
  /** With what the client said. */
  | { kind: "refused"; reason: string }
  /** Nothing was heard of it while the lease lasted. */
  | { kind: "timeout" }
  /** Its event was gone as it was to be fetched. */
  | { kind: "gone" };

export type Circumstances = {
  now: Date;
  /** Milliseconds until the attempt after this number, or null when it was the last. */
  retryDelayMs: (attempt: number) => number | null;
  toKeep: BodiesToKeep | null;
};

/**
 * What is logged, and when the next attempt is made. A refusal and a timeout are
 * failures of the schedule, as those of a receiver are. The log keeps the time
 * of signing, from which all headers derive but the signatures and static ones.
 */
export function completeFetched(
  lease: EndedLease,
  outcome: FetchedOutcome,
  { now, retryDelayMs, toKeep }: Circumstances,
): CompletedLease {
  const isDelivered = outcome.kind === "delivered";
  const isSent = outcome.kind !== "gone";
  const mayGoOn = isSent && !isDelivered && !lease.once;
  const nextDelayMs = mayGoOn ? retryDelayMs(lease.attempt) : null;
  const { leasedAt } = lease;
  return {
    dispatch: lease,
    status: isDelivered ? "delivered" : "failed",
    sentAt: isSent ? leasedAt : null,
    requestHeaders: isSent ? { "X-Service-Timestamp": String(Math.floor(leasedAt.getTime() / 1000)) } : {},
    responseStatus: null,
    responseHeaders: null,
    responseBody: outcome.kind === "refused" ? outcome.reason : null,
    latencyMs: isSent ? Math.max(0, now.getTime() - leasedAt.getTime()) : 0,
    error: outcome.kind === "refused" || outcome.kind === "timeout" ? outcome.kind : null,
    nextDelayMs,
    // Of events of Postern's own nothing is told: that would be one more of them.
    exhausted: mayGoOn && nextDelayMs === null && !isServiceType(lease.eventType),
    toKeep: isSent ? toKeep : null,
  };
}
