/** When does an artifact expire? */
import * as z from "zod";
import { DAY_MS, fromMs, LAST_INSTANT_MS, toMs } from "./instants.ts";
import type { InstantUpdate, OperationResult } from "./mutations.ts";
import { instant, integer, revision, uuid } from "./values.ts";

const retentionDays = integer(1, 3650);

export const deriveDeadlineInput = z.strictObject({
  object_id: uuid,
  revision,
  available_at: instant.nullable(),
  plan_days: retentionDays,
  tenant_days: retentionDays.nullable(),
  hold_until: instant.nullable(),
  previous_deadline: instant.nullable(),
});
export type DeriveDeadlineInput = z.infer<typeof deriveDeadlineInput>;

export type DeadlineSource = "plan" | "tenant" | "hold" | "announced";

/** `source` names what fixed the deadline. */
export type DeriveDeadlineOutput =
  | { code: "OK"; deadline: string; source: DeadlineSource }
  | { code: "NOT_STARTED" | "OUT_OF_RANGE"; deadline: null; source: null };

/**
 * Derives the deadline from the first moment of availability.
 *
 * A tenant may shorten what its plan grants, a hold may lengthen it, and one
 * that was announced is never shortened. One mutation, and only for a change.
 */
export function deriveDeadline(
  input: DeriveDeadlineInput,
): OperationResult<DeriveDeadlineOutput, InstantUpdate> {
  if (input.available_at === null) return none("NOT_STARTED");
  const { tenant_days, plan_days } = input;
  const isTenantShorter = tenant_days !== null && tenant_days < plan_days;
  const days = isTenantShorter ? tenant_days : plan_days;

  let source: DeadlineSource = isTenantShorter ? "tenant" : "plan";
  let deadlineMs = toMs(input.available_at) + days * DAY_MS;
  if (input.hold_until !== null && toMs(input.hold_until) > deadlineMs) {
    deadlineMs = toMs(input.hold_until);
    source = "hold";
  }
  const previous = input.previous_deadline;
  if (previous !== null && toMs(previous) > deadlineMs) {
    deadlineMs = toMs(previous);
    source = "announced";
  }
  if (deadlineMs > LAST_INSTANT_MS) return none("OUT_OF_RANGE");

  const deadline = fromMs(deadlineMs);
  const output = { code: "OK", deadline, source } as const;
  if (deadline === previous) return { output, mutations: [] };
  const update: InstantUpdate = {
    op: "update",
    target: "row",
    id: input.object_id,
    field: "deadline",
    from: previous,
    to: deadline,
    revision: input.revision,
  };
  return { output, mutations: [update] };
}

function none(code: "NOT_STARTED" | "OUT_OF_RANGE"): OperationResult<DeriveDeadlineOutput, InstantUpdate> {
  return { output: { code, deadline: null, source: null }, mutations: [] };
}
