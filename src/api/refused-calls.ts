/**
 * Which refusals a tenant's audit log counts: of what a caller may not do, and
 * of ids that the tenant does not have. It shows the tenant's owners who tries
 * ids or forbidden calls. Nothing is looked up for it, least of all whether
 * an id is another tenant's: it says no more than the answer did.
 */
import type { FastifyRequest } from "fastify";
import type { CallTally } from "../audit/audit-tally.ts";
import { Refusal, type RefusalCode } from "../shared/refusal.ts";
import { knownCallerOf } from "./access.ts";
import { ANSWERS } from "./error-answers.ts";

const UNKNOWN_IDS: ReadonlySet<RefusalCode> = new Set(["not_found", "endpoint_not_found"]);
const FORBIDDEN = ANSWERS.forbidden.status;

export function countRefusedCall(error: Error, request: FastifyRequest, tally: CallTally): void {
  // A path that is no route names no id.
  if (!(error instanceof Refusal) || request.is404) return;
  const { status } = ANSWERS[error.code];
  if (status !== FORBIDDEN && !UNKNOWN_IDS.has(error.code)) return;
  const caller = knownCallerOf(request);
  const { url } = request.routeOptions;
  if (caller === null || url === undefined) return;
  // A collection is known with and without its slash.
  const route = `${request.method} ${url.replace(/(.)\/$/, "$1")}`;
  tally.accessRefused({ caller, route, status });
}
