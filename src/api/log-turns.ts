/**
 * Limits concurrent answers from a tenant's log in a process.
 * Each holds some MiB until its client has read it, so a caller who
 * asks for more, and reads none, would exhaust the memory. A further request
 * waits before anything is read for it. Answers that fit the sockets' buffers
 * end at once, so only slow readers of large ones keep others of their own
 * tenant waiting.
 */
import type { preHandlerHookHandler } from "fastify";
import type { TenantId } from "../shared/id.ts";
import { makeGate } from "../shared/gate.ts";
import { Refusal } from "../shared/refusal.ts";
import { userOf } from "./access.ts";
import type { HttpLimits } from "./http-limits.ts";

/** A preHandler hook: lets the request through when its turn comes, or refuses it when that takes too long. */
export function makeLogTurns({ maxLogAnswers, logTurnTimeoutMs }: HttpLimits): preHandlerHookHandler {
  const gate = makeGate<TenantId, () => void>(maxLogAnswers, (start) => start());
  return (request, { raw: response }, done) => {
    // The client has gone meanwhile, and no event would release the gate.
    if (response.closed) return;
    const { tenantId } = userOf(request);
    const start = (): void => {
      clearTimeout(timer);
      done();
    };
    const leave = (): void => {
      clearTimeout(timer);
      gate.leave(tenantId, start);
    };
    const timer = setTimeout(() => {
      response.off("close", leave);
      leave();
      done(new Refusal("too_many_requests", { retryAfterS: Math.ceil(logTurnTimeoutMs / 1000) }));
    }, logTurnTimeoutMs);
    response.once("close", leave);
    gate.enter(tenantId, start);
  };
}
