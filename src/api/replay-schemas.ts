/** Replays as callers ask for them and see them. */
import * as z from "zod";
import type { ReplayCount } from "../replays/count-candidates.ts";
import { REPLAY_SELECTIONS, REPLAY_STATUSES, type Replay } from "../replays/replay.ts";
import type { ReplayRequest } from "../replays/replays.ts";
import { parseEndpointId, parseReplayId } from "../shared/id.ts";
import { chosenTypes } from "./delivery-query.ts";
import { idText, integerText, instantText } from "./page-query.ts";

const instant = z.iso.datetime();

export const replayInput = z
  .strictObject({
    endpoint_id: z.string().describe("An endpoint's id."),
    from: instantText.describe("Accepted at or after, ISO 8601 with offset."),
    to: instantText.describe("Accepted before; a time to come means now. At most 31 days after `from`."),
    select: z
      .enum(REPLAY_SELECTIONS)
      .default("failed")
      .describe(
        "`failed`: events whose newest attempt there failed. `missed`: events that the endpoint is subscribed to and that never had an attempt there, as they were accepted before it existed or while it was disabled; not those older than the log. `all`: both, and the delivered. Never one that is pending there.",
      ),
    event_type: chosenTypes.describe(
      "A type, or with `.*` at its end every type below it. Absent: all types.",
    ),
    cause: z
      .string()
      .max(256)
      .regex(
        /^(?:http_[1-9][0-9]{2}|[a-z]+(?:_[a-z]+)*)$/,
        "must be an error as timeout, or a status as http_500",
      )
      .meta({ examples: ["timeout", "http_500"] })
      .optional()
      .describe("Why the newest attempt failed: its `error`, or `http_` and the status."),
    dry_run: z.boolean().optional().describe("True: count what would be sent, and send nothing."),
  })
  .refine(({ select, cause }) => select !== "missed" || cause === undefined, {
    path: ["cause"],
    message: "missed events have no cause",
  });

export function replayRequest(input: z.output<typeof replayInput>): ReplayRequest {
  return {
    endpointId: parseEndpointId(input.endpoint_id),
    from: new Date(input.from),
    to: new Date(input.to),
    selection: input.select,
    eventType: input.event_type ?? null,
    cause: input.cause ?? null,
  };
}

export const replaysQuery = z.strictObject({
  endpoint_id: idText(parseEndpointId, "an endpoint's id").describe("To this endpoint alone."),
  before: idText(parseReplayId, "a replay id").describe("The last replay of the page before."),
  limit: integerText(1, 100, 50),
});

export const replayObject = z
  .object({
    id: z.uuid(),
    endpoint_id: z.uuid(),
    from: instant,
    to: instant,
    select: z.enum(REPLAY_SELECTIONS),
    event_type: z.string().nullable(),
    cause: z.string().nullable(),
    status: z.enum(REPLAY_STATUSES),
    error: z.string().nullable().describe("Of a failed one: `endpoint_deleted`."),
    total: z
      .int()
      .min(0)
      .describe(
        "Events that it sends, without skipped ones: events that could be sent when it was requested, as far as counted; once finished, `sent`.",
      ),
    is_capped: z.boolean().describe("More than `total` may have fitted."),
    sent: z.int().min(0).describe("Given to the endpoint's queue so far, the pending ones included."),
    delivered: z.int().min(0),
    failed: z.int().min(0),
    skipped: z.int().min(0).describe("Passed over: pending there already by then, or their body was gone."),
    created_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: "Replay" });

export function replayView(replay: Replay): z.infer<typeof replayObject> {
  const { sent, status } = replay;
  return {
    id: replay.id,
    endpoint_id: replay.endpointId,
    from: replay.from.toISOString(),
    to: replay.to.toISOString(),
    select: replay.selection,
    event_type: replay.eventType,
    cause: replay.cause,
    status,
    error: replay.error,
    // What fits may have changed since it was counted. The count leaves out what would be skipped.
    total: status === "finished" ? sent : Math.max(replay.counted, sent),
    is_capped: replay.isCapped && status !== "finished",
    sent,
    delivered: replay.delivered,
    failed: replay.failed,
    skipped: replay.skipped,
    created_at: replay.createdAt.toISOString(),
    finished_at: replay.finishedAt?.toISOString() ?? null,
  };
}

export const replayCountObject = z
  .object({
    count: z.int().min(0).describe("Events that would be sent now: to 100,000, among as many looked at."),
    is_capped: z.boolean().describe("There may be more."),
    oldest: instant.nullable(),
    newest: instant.nullable(),
    by_cause: z.record(z.string(), z.int()).describe("Of those whose newest attempt there failed."),
  })
  .meta({ id: "ReplayCount" });

export function replayCountView(counted: ReplayCount): z.infer<typeof replayCountObject> {
  return {
    count: counted.count,
    is_capped: counted.isCapped,
    oldest: counted.oldest?.toISOString() ?? null,
    newest: counted.newest?.toISOString() ?? null,
    by_cause: Object.fromEntries(counted.byCause),
  };
}
