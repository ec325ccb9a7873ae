/** One attempt: signs the event with the endpoint's present settings, sends it, and judges the outcome. */
import type { SendTarget } from "../endpoints/send-target.ts";
import { isServiceType } from "../events/built-in-catalog.ts";
import { longBodyOf } from "../outbound/response.ts";
import { buildRequestHeaders, maskHeaders, withoutDerived } from "../outbound/request-headers.ts";
import type { Sender } from "../outbound/send.ts";
import type { ArtifactKeeper } from "../storage/artifacts/artifact-keeper.ts";
import { VERSION } from "../shared/version.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { judgeAttempt, type AttemptVerdict } from "./verdict.ts";
import type { CompletedAttempt, LeasedDispatch } from "../queue/queue.ts";

export type AttemptResult = {
  completed: CompletedAttempt;
  isGone: boolean;
};

export type AttemptServices = {
  sender: Pick<Sender, "send">;
  artifacts: Pick<ArtifactKeeper, "choose">;
  scheduleMs: readonly number[];
  tracing: Tracing | null;
};

export async function makeAttempt(
  dispatch: LeasedDispatch,
  target: SendTarget,
  services: AttemptServices,
): Promise<AttemptResult> {
  const sentAt = new Date();
  const traced = services.tracing?.attempt(dispatch);
  const headers = buildRequestHeaders({
    version: VERSION,
    eventType: dispatch.eventType,
    deliveryLabel: dispatch.id,
    webhookId: dispatch.eventId,
    timestampSeconds: Math.floor(sentAt.getTime() / 1000),
    body: dispatch.body,
    signingKeys: target.signingKeys,
    staticHeaders: target.headers,
    traceparent: traced?.traceparent,
  });
  const outcome = await services.sender.send({
    url: target.url,
    headers,
    body: dispatch.body,
    keepsWholeBody: target.keeps !== null && target.keeps.responseBodies,
  });
  const verdict = judgeAttempt(outcome, dispatch.attempt, {
    scheduleMs: dispatch.once ? [] : services.scheduleMs,
    random: Math.random(),
    now: new Date(),
  });
  traced?.end(verdict);
  const { isGone, ...recorded } = verdict;
  const toKeep = services.artifacts.choose(target.keeps, {
    tenantId: dispatch.tenantId,
    attempt: dispatch.attempt,
    longResponseBody: longBodyOf(outcome),
  });
  const requestHeaders = withoutDerived(maskHeaders(headers, target.masked));
  const exhausted = exhausts(dispatch, verdict);
  return { completed: { dispatch, sentAt, requestHeaders, ...recorded, exhausted, toKeep }, isGone };
}

/** Of events of Postern's own nothing is told: that would be one more of them. */
function exhausts({ once, eventType }: LeasedDispatch, { status, nextDelayMs }: AttemptVerdict): boolean {
  return status === "failed" && nextDelayMs === null && !once && !isServiceType(eventType);
}

/** For an endpoint that was deleted after its dispatch was leased: the attempt ends without a request. */
export function endpointDeleted(dispatch: LeasedDispatch): CompletedAttempt {
  return failedUnsent(dispatch, "endpoint_deleted");
}

/** For an event that is gone: there is no body to send, now or later. */
export function eventGone(dispatch: LeasedDispatch): CompletedAttempt {
  return failedUnsent(dispatch, null);
}

function failedUnsent(dispatch: LeasedDispatch, error: "endpoint_deleted" | null): CompletedAttempt {
  const nothing: Omit<AttemptVerdict, "isGone"> = {
    status: "failed",
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    latencyMs: 0,
    error,
    nextDelayMs: null,
  };
  return { dispatch, sentAt: null, requestHeaders: {}, ...nothing, exhausted: false, toKeep: null };
}
