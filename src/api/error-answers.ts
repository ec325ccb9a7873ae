/** The one place where a refusal or an unexpected error becomes an answer, or ends one. */
import { LogController, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";
import { isPassing } from "../database/passing-errors.ts";
import { Refusal, type RefusalCode } from "../shared/refusal.ts";
import { SecretBoxError } from "../shared/secret-box.ts";
import { StoreUnavailableError } from "../storage/bytes/bucket.ts";

type Answer = { status: number; error: string };

export const ANSWERS: Readonly<Record<RefusalCode, Answer>> = {
  unauthorized: { status: 401, error: "Unauthorized" },
  forbidden: { status: 403, error: "Forbidden" },
  owner_required: { status: 403, error: "Owner role required to rotate secret" },
  validation_failed: { status: 400, error: "Validation failed" },
  invalid_query: { status: 400, error: "Invalid query" },
  unsafe_url: { status: 400, error: "Webhook URL must be a public HTTPS endpoint" },
  unknown_event_type: { status: 400, error: "Unknown event type" },
  not_found: { status: 404, error: "Not found" },
  endpoint_not_found: { status: 404, error: "Endpoint not found" },
  endpoint_disabled: { status: 409, error: "Endpoint is disabled" },
  endpoint_not_pull: { status: 409, error: "Endpoint is not of mode pull" },
  endpoint_temporary: { status: 409, error: "A temporary endpoint cannot become push" },
  lease_ended: { status: 409, error: "The lease has ended" },
  delivery_not_failed: { status: 409, error: "Only failed deliveries can be retried" },
  endpoint_not_subscribed: { status: 422, error: "Endpoint not subscribed to this event" },
  endpoint_limit_reached: { status: 409, error: "Endpoint limit reached" },
  idempotency_key_reused: { status: 409, error: "Idempotency key reused with different content" },
  export_limit_reached: { status: 409, error: "Export limit reached" },
  replay_running: { status: 409, error: "A replay to this endpoint is running" },
  replay_limit_reached: { status: 409, error: "Replay limit reached" },
  replay_not_running: { status: 409, error: "The replay is not running" },
  not_available: { status: 409, error: "Not available" },
  held: { status: 409, error: "The artifact is held" },
  tenant_moving: { status: 409, error: "The tenant is being moved" },
  gone: { status: 410, error: "Gone" },
  payload_too_large: { status: 413, error: "Payload too large" },
  unsupported_encoding: {
    status: 415,
    error: "Content-Encoding is not supported: send the body as plain JSON, not compressed",
  },
  range_not_satisfiable: { status: 416, error: "Range not satisfiable" },
  method_not_allowed: { status: 405, error: "Method not allowed" },
  secret_unusable: { status: 500, error: "The endpoint's signing secret cannot be decrypted" },
  too_many_requests: { status: 429, error: "Too many requests" },
  unavailable: { status: 503, error: "Service unavailable" },
};

/** A body of 1 MiB can break a rule a hundred thousand times; the answer names the first. */
const MAX_ISSUES = 100;

/** How long a caller should wait for a database or an object store that is out of reach, and where nobody knows. */
export const OUTAGE_RETRY_AFTER_S = 2;

export function answerError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = toRefusal(error);
  if (refusal === null) {
    request.log.error({ err: error, requestId: request.id }, "a request failed unexpectedly");
    return reply.code(500).send({ error: "Internal server error" });
  }
  if (error instanceof SecretBoxError) {
    // It names the endpoint and the reason, for the operator, who alone can fix it.
    request.log.error({ err: error, requestId: request.id }, "a signing secret cannot be decrypted");
  }
  const answer = ANSWERS[refusal.code];
  const retryAfterS = refusal.retryAfterS ?? (refusal.code === "unavailable" ? OUTAGE_RETRY_AFTER_S : null);
  if (retryAfterS !== null) void reply.header("Retry-After", String(retryAfterS));
  if (refusal.reason !== undefined) tellWhy(refusal.reason, answer.status, { request, reply });
  const body =
    refusal.issues === undefined
      ? { error: answer.error }
      : { error: answer.error, issues: refusal.issues.slice(0, MAX_ISSUES) };
  return reply.code(answer.status).send(body);
}

/** As RFC 6750 section 3 has it; a request without any token is told the scheme alone. */
function tellWhy(
  reason: string,
  status: number,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): void {
  request.log.info({ reason, status, requestId: request.id }, "a caller was refused");
  const error = status === ANSWERS.forbidden.status ? "insufficient_scope" : "invalid_token";
  const hasToken = request.headers.authorization !== undefined;
  const why = hasToken ? `, error="${error}", error_description="${reason}"` : "";
  void reply.header("WWW-Authenticate", `Bearer realm="postern"${why}`);
}

/** For the operator: logs why a started answer broke off. Clients that hung up are not logged. */
export class BrokenAnswerLog extends LogController {
  override streamError(error: FastifyError, request: FastifyRequest): void {
    if (error.code === "ERR_STREAM_PREMATURE_CLOSE") return;
    request.log.error({ err: error, requestId: request.id }, "an answer broke off");
  }
}

/** Of the database or the object store: the caller may try again, and the operator has to look. */
export function isOutage(error: Error): boolean {
  return isPassing(error) || error instanceof StoreUnavailableError;
}

function toRefusal(error: FastifyError | Error): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof SecretBoxError) return new Refusal("secret_unusable");
  if (isOutage(error)) return new Refusal("unavailable");
  const code = "code" in error ? error.code : undefined;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return new Refusal("payload_too_large");
  return null;
}
