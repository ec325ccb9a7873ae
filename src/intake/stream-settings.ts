/** What the settings of the stream and of its consumer do to events, where an operator chose them. Pure. */
import { ACCEPTED_SUBJECT } from "./stream.ts";

type StreamSettings = {
  subjects?: readonly string[];
  retention: string;
  storage: string;
  discard: string;
  max_age: number;
  max_msgs_per_subject: number;
  persist_mode?: string;
  no_ack?: boolean;
  sealed: boolean;
  max_msgs: number;
  max_bytes: number;
};

type ConsumerSettings = {
  ack_policy: string;
  max_deliver?: number;
  max_ack_pending?: number;
  filter_subject?: string;
  filter_subjects?: readonly string[];
  headers_only?: boolean;
  deliver_subject?: string;
  max_batch?: number;
  max_expires?: number;
};

/** Requests that share a message may need so much, but a small stream is not full from the start. */
const LARGEST_ROOM_BYTES = 256 * 1024;

/** With these, what the stream took may be dropped. */
export function unsafeStream(found: StreamSettings): string[] {
  const { retention, storage, discard, max_age, max_msgs_per_subject } = found;
  const persist_mode = found.persist_mode || "default";
  return differences(
    { retention, storage, discard, max_age, max_msgs_per_subject, persist_mode },
    {
      retention: "workqueue",
      storage: "file",
      discard: "new",
      max_age: 0,
      max_msgs_per_subject: -1,
      persist_mode: "default",
    },
  );
}

/** With these, messages are never handed out, are handed out without their events, or end before these are stored. */
export function unsafeConsumer(found: ConsumerSettings, { isPaused }: { isPaused: boolean }): string[] {
  const { ack_policy, max_deliver = -1, max_ack_pending = -1, filter_subject, filter_subjects } = found;
  const { headers_only = false, max_batch = 0, max_expires = 0 } = found;
  const filter = [filter_subject, ...(filter_subjects ?? [])].filter(Boolean).join(" ") || "none";
  const deliver_subject = found.deliver_subject || "none";
  const settings = differences(
    {
      ack_policy,
      max_deliver,
      max_ack_pending,
      filter,
      headers_only,
      deliver_subject,
      max_batch,
      max_expires,
    },
    {
      ack_policy: "explicit",
      max_deliver: -1,
      max_ack_pending: -1,
      filter: "none",
      headers_only: false,
      deliver_subject: "none",
      max_batch: 0,
      max_expires: 0,
    },
  ).map((text) => `the consumer's ${text}`);
  return isPaused ? [...settings, "the consumer is paused"] : settings;
}

/** Why it takes no event from Postern; null where it does. */
export function whyNoneTaken(
  found: StreamSettings,
  state: { messages: number; bytes: number },
): string | null {
  const { subjects = [], no_ack = false, sealed, discard, max_msgs, max_bytes } = found;
  if (sealed) return "it is sealed";
  if (no_ack) return "its no_ack is true, so it answers nobody";
  if (!subjects.some((pattern) => covers(pattern, ACCEPTED_SUBJECT)))
    return `its subjects are without ${ACCEPTED_SUBJECT}`;
  // Otherwise it drops old messages in place of refusing new ones.
  if (discard !== "new") return null;
  const room = Math.min(LARGEST_ROOM_BYTES, max_bytes / 10);
  if (max_msgs > 0 && state.messages >= max_msgs) return `it is full: max_msgs is ${max_msgs}`;
  if (max_bytes > 0 && state.bytes + room > max_bytes) return `it is full: max_bytes is ${max_bytes}`;
  return null;
}

function covers(pattern: string, subject: string): boolean {
  const wanted = subject.split(".");
  const tokens = pattern.split(".");
  const rest = tokens.at(-1) === ">" ? tokens.length - 1 : null;
  if (rest === null ? tokens.length !== wanted.length : wanted.length <= rest) return false;
  return tokens.slice(0, rest ?? undefined).every((token, place) => token === "*" || token === wanted[place]);
}

type Setting = string | number | boolean;

function differences(found: Record<string, Setting>, wanted: Record<string, Setting>): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => found[name] !== value)
    .map(([name, value]) => `${name} is ${found[name]} instead of ${value}`);
}
