/** Where does an artifact stand in its life, and must it expire now? */
import * as z from "zod";
import { DAY_MS, toMs } from "./instants.ts";
import { moveState, type OperationResult, type StateUpdate } from "./mutations.ts";
import { objectState } from "./stored-object.ts";
import { instant, revision, uuid } from "./values.ts";

/** An artifact is shown as expiring during its last 24 hours, both ends included. */
const EXPIRING_MS = DAY_MS;

export const evaluateExpiryInput = z.strictObject({
  object: z.strictObject({
    id: uuid,
    state: objectState,
    deadline: instant.nullable(),
    hold: z.boolean(),
    revision,
  }),
  now: instant,
});
export type EvaluateExpiryInput = z.infer<typeof evaluateExpiryInput>;

export type EvaluateExpiryOutput =
  | { code: "INERT" | "HELD" | "NO_DEADLINE"; remaining_ms: null; download_allowed: boolean }
  | { code: "ACTIVE" | "EXPIRING" | "EXPIRED"; remaining_ms: number; download_allowed: boolean };

/**
 * The phase of an artifact that is not inert.
 *
 * @returns the phase, and the milliseconds left where a deadline runs (0 once expired).
 */
export function deadlinePhase(
  object: { deadline: string | null; hold: boolean },
  now: string,
):
  | { phase: "HELD" | "NO_DEADLINE"; remainingMs: null }
  | { phase: "ACTIVE" | "EXPIRING" | "EXPIRED"; remainingMs: number } {
  if (object.hold) return { phase: "HELD", remainingMs: null };
  if (object.deadline === null) return { phase: "NO_DEADLINE", remainingMs: null };
  const remainingMs = toMs(object.deadline) - toMs(now);
  if (remainingMs <= 0) return { phase: "EXPIRED", remainingMs: 0 };
  return { phase: remainingMs <= EXPIRING_MS ? "EXPIRING" : "ACTIVE", remainingMs };
}

/**
 * Evaluates one row. Expiring is the first of two steps: it only closes the
 * artifact to downloads. The bytes go later, when reconciling finds them due.
 */
export function evaluateExpiry(
  input: EvaluateExpiryInput,
): OperationResult<EvaluateExpiryOutput, StateUpdate> {
  const { object, now } = input;
  if (object.state !== "available" && object.state !== "missing") {
    return { output: { code: "INERT", remaining_ms: null, download_allowed: false }, mutations: [] };
  }
  const isAvailable = object.state === "available";
  const { phase, remainingMs } = deadlinePhase(object, now);
  if (remainingMs === null) {
    return { output: { code: phase, remaining_ms: null, download_allowed: isAvailable }, mutations: [] };
  }
  const isExpired = phase === "EXPIRED";
  return {
    output: { code: phase, remaining_ms: remainingMs, download_allowed: isAvailable && !isExpired },
    mutations: isExpired ? [moveState(object, "expired")] : [],
  };
}
