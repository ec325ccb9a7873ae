/** What a replay is, and which events it sends. Pure; the statements are in the stores. */
import type { DeliveryStatus } from "../deliveries/delivery.ts";
import { versionFor, type TypeVersions } from "../events/subscription.ts";
import type { EndpointId, EventId, ReplayId, TenantId } from "../shared/id.ts";

export const REPLAY_SELECTIONS = ["failed", "missed", "all"] as const;
export type ReplaySelection = (typeof REPLAY_SELECTIONS)[number];

export const REPLAY_STATUSES = ["running", "finished", "canceled", "failed"] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

export const MAX_REPLAY_RANGE_MS = 31 * 86_400_000;
export const MAX_RUNNING_REPLAYS = 5;
/** A count ends here, of events that fit and of those looked at. */
export const MOST_COUNTED = 100_000;

/** Which events of a tenant a replay sends to an endpoint. */
export type ReplayFilter = {
  tenantId: TenantId;
  endpointId: EndpointId;
  /** When they were accepted: inclusive, exclusive. */
  from: Date;
  to: Date;
  /**
   * `failed`: their newest attempt there failed. `missed`: the endpoint is
   * subscribed to them, and they never had a dispatch there; none older than the log.
   * `all`: both, and those delivered.
   */
  selection: ReplaySelection;
  /** A type, or with `.*` at its end every type below it. Null: any. */
  eventType: string | null;
  /** Why the newest attempt failed: an error, or `http_500`. Null: any. */
  cause: string | null;
};

export type Replay = ReplayFilter & {
  id: ReplayId;
  status: ReplayStatus;
  error: string | null;
  /** Of events that fitted when it was asked for. */
  counted: number;
  isCapped: boolean;
  /** Dispatches made so far. */
  sent: number;
  /** Events that fitted, but were pending there already or have no body any more. */
  skipped: number;
  /** Of those sent. */
  delivered: number;
  failed: number;
  createdAt: Date;
  finishedAt: Date | null;
};

/** An event that a replay may send, and what became of it at the endpoint. */
export type Candidate = {
  eventId: EventId;
  /** Null where the event, and with it its body, is gone. */
  event: TypeVersions | null;
  isPending: boolean;
  newest: {
    status: DeliveryStatus;
    attempt: number;
    version: number;
    error: string | null;
    responseStatus: number | null;
  } | null;
};

/** What of a candidate decides whether it is sent. */
export type Judged = Pick<Candidate, "event" | "isPending"> & {
  newest: Pick<NonNullable<Candidate["newest"]>, "status" | "error" | "responseStatus"> | null;
};

/** A subscription's patterns. */
export type Subscription = readonly string[];

/** Whether an event is sent, or was to be and can't, or does not fit. */
export function judge(
  candidate: Judged,
  { selection, eventType, cause }: Pick<ReplayFilter, "selection" | "eventType" | "cause">,
  subscription: Subscription,
): "send" | "skip" | "other" {
  if (!isOfType(candidate.event?.type ?? null, eventType)) return "other";
  if (!isSelected(candidate, selection, subscription)) return "other";
  if (cause !== null && causeOf(candidate) !== cause) return "other";
  return candidate.isPending || candidate.event === null ? "skip" : "send";
}

/** The version to send: that of its newest attempt there, or else what the endpoint would have got. */
export function versionToSend(
  { newest, event }: Pick<Candidate, "newest" | "event">,
  subscription: Subscription,
): number {
  if (newest !== null) return newest.version;
  return event === null ? 1 : (versionFor(subscription, event) ?? event.newest);
}

function isOfType(type: string | null, wanted: string | null): boolean {
  if (wanted === null) return true;
  if (type === null) return false;
  return wanted.endsWith(".*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

function isSelected(
  { newest, isPending, event }: Judged,
  selection: ReplaySelection,
  subscription: Subscription,
): boolean {
  const isMissed =
    newest === null && !isPending && event !== null && versionFor(subscription, event) !== null;
  if (selection === "missed") return isMissed;
  if (selection === "failed") return newest?.status === "failed";
  return newest !== null || isMissed;
}

/** Why the newest attempt failed; null where it did not, or no attempt was made. */
export function causeOf({ newest }: Pick<Judged, "newest">): string | null {
  if (newest?.status !== "failed") return null;
  return newest.error ?? (newest.responseStatus === null ? "unknown" : `http_${newest.responseStatus}`);
}
