/** One rule that the caller's input broke: where, what, and a stable name of the rule. */
export type Issue = { path: (string | number)[]; message: string; code: string };

/** Of a rule that has no name of its own. */
export function issueAt(member: string, message: string): Issue {
  return { path: [member], message, code: "custom" };
}

/**
 * Every way in which Postern says no to a caller. The answers that belong to
 * them (status and text) stand together in `api/error-answers.ts`.
 */
export type RefusalCode =
  | "unauthorized"
  | "forbidden"
  | "owner_required"
  | "validation_failed"
  | "invalid_query"
  | "unsafe_url"
  | "unknown_event_type"
  | "not_found"
  | "endpoint_not_found"
  | "endpoint_disabled"
  | "endpoint_not_pull"
  | "endpoint_temporary"
  | "lease_ended"
  | "delivery_not_failed"
  | "endpoint_not_subscribed"
  | "endpoint_limit_reached"
  | "idempotency_key_reused"
  | "export_limit_reached"
  | "replay_running"
  | "replay_limit_reached"
  | "replay_not_running"
  | "not_available"
  | "gone"
  | "held"
  | "tenant_moving"
  | "payload_too_large"
  | "unsupported_encoding"
  | "range_not_satisfiable"
  | "method_not_allowed"
  | "too_many_requests"
  | "secret_unusable"
  | "unavailable";

/** Thrown by a slice to refuse a caller's request; turned into an answer in one place. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly issues: Issue[] | undefined;
  /** Whole seconds after which the caller may try again. */
  readonly retryAfterS: number | undefined;
  /** Of a 401 or 403: why, in plain ASCII without quotes; it reveals nothing but the token's own content. */
  readonly reason: string | undefined;

  /** `details.cause`, for the operator alone: what did not serve the caller. */
  constructor(
    code: RefusalCode,
    details: { issues?: Issue[]; retryAfterS?: number; reason?: string; cause?: Error } = {},
  ) {
    super(code, details);
    this.name = "Refusal";
    this.code = code;
    this.issues = details.issues;
    this.retryAfterS = details.retryAfterS;
    this.reason = details.reason;
  }
}
