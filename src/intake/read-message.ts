/** Which events a message of the stream holds, or why it holds none. Pure. */
import { createHash } from "node:crypto";
import { checkEvents } from "../events/checked-events.ts";
import type { Catalog } from "../events/catalog.ts";
import { publishManySchema, publishOneSchema, withExactData } from "../events/publish-input.ts";
import type { NewEvent } from "../queue/queue.ts";
import { mayAlterNumbers, parseWithDigits } from "../shared/exact-numbers.ts";
import { eventIdFrom, parseTenantId, type EventId, type TenantId } from "../shared/id.ts";
import { Refusal, type Issue } from "../shared/refusal.ts";
import { readAccepted } from "./accepted-message.ts";
import { ACCEPTED_SUBJECT, PRODUCER_SUBJECT, STREAM, type StreamMessage } from "./stream.ts";

/**
 * `malformed`: not what the schema describes. `tenant`: neither the subject nor
 * an event names one that there can be, or they name two. `data`: an event
 * breaks its type's schema or a rule for all data.
 */
export type RefusalReason = "malformed" | "tenant" | "data" | "unknown_event_type" | "idempotency_key_reused";

export type Reading =
  | { kind: "events"; events: NewEvent[] }
  | { kind: "refused"; reason: RefusalReason; issues: readonly Issue[] }
  /** Only the catalog is against it; another worker may have a newer one. */
  | { kind: "unknown"; issues: readonly Issue[] };

type Message = Pick<StreamMessage, "subject" | "sequence" | "storedAtMs" | "traceparent" | "bytes">;

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** What the API takes in a request. Postern's own messages quote that once more. */
const LARGEST_BYTES = 1024 * 1024;
const TOO_LARGE: Issue = { path: [], message: "must be at most 1 MiB", code: "too_big" };
const UNKNOWN = new Set(["unknown_event_type", "unknown_version"]);

export function readMessage(message: Message, catalog: Catalog): Reading {
  const isOwn = message.subject === ACCEPTED_SUBJECT;
  if (!isOwn && message.bytes.length > LARGEST_BYTES) return refused("malformed", [TOO_LARGE]);
  const text = textOf(message.bytes);
  const value = text === null ? undefined : parsed(text);
  if (text === null || value === undefined) return refused("malformed");
  if (isOwn) {
    const events = readAccepted(value);
    return events === null ? refused("malformed") : { kind: "events", events };
  }
  const tenantId = message.subject.startsWith(PRODUCER_SUBJECT)
    ? parseTenantId(message.subject.slice(PRODUCER_SUBJECT.length))
    : null;
  return tenantId === null ? refused("tenant") : readOwn(message, { text, value, tenantId, catalog });
}

/** What a producer stored itself: the body of `POST /api/events`, of the tenant in its subject. */
function readOwn(
  message: Message,
  { text, value, tenantId, catalog }: { text: string; value: unknown; tenantId: TenantId; catalog: Catalog },
): Reading {
  const schema = Array.isArray(value) ? publishManySchema : publishOneSchema;
  const read = schema.safeParse(value);
  if (!read.success) return refused("malformed", read.error.issues.map(toIssue));
  const exact = mayAlterNumbers(text) ? parseWithDigits(text) : null;
  const input = exact === null ? read.data : withExactData(read.data, exact);
  try {
    const events = checkEvents(input, tenantId, catalog, (place) => derivedId(message, place));
    if (message.traceparent !== undefined)
      for (const event of events) event.traceparent = message.traceparent;
    return { kind: "events", events };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === "forbidden") return refused("tenant");
    const issues = error.issues ?? [];
    return issues.every(({ code }) => UNKNOWN.has(code))
      ? { kind: "unknown", issues }
      : refused("data", issues);
  }
}

/** The same for the same message, however often it is read and by whom. */
function derivedId({ sequence, storedAtMs }: Message, place: number): EventId {
  const seed = createHash("sha256").update(`${STREAM} ${sequence} ${storedAtMs} ${place}`).digest();
  // In the order of the stream: 1,024 places for each sequence.
  const seq = (sequence % 2 ** 21) * 1024 + place;
  return eventIdFrom(storedAtMs, seq, seed.subarray(0, 16));
}

function refused(reason: RefusalReason, issues: readonly Issue[] = []): Reading {
  return { kind: "refused", reason, issues };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toIssue({ path, message, code }: { path: PropertyKey[]; message: string; code?: string }): Issue {
  return {
    path: path.map((part) => (typeof part === "number" ? part : String(part))),
    message,
    code: code ?? "invalid",
  };
}
