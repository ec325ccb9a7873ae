/** What `postern listen` does: a temporary pull endpoint, whose events go to a receiver on this machine. */
import * as z from "zod";
import { eventsAnswer } from "../../api/event-schemas.ts";
import { leaseObject } from "../../api/pull-schemas.ts";
import { endpointObject } from "../../api/schemas.ts";
import { makeForwarder, type Forwarded, type Forwarder } from "../../outbound/forward.ts";
import { isSuccess } from "../../outbound/response.ts";
import { pause } from "../../shared/every.ts";
import { ApiRefusalError, readAnswer, type ApiClient } from "./api-client.ts";
import { NoAnswerError, StrangeAnswerError } from "../command-errors.ts";
import { searchPages, type SearchPage } from "./search-pages.ts";

/** Postern asks for one, and never uses it: a temporary endpoint stays pull. */
const UNUSED_URL = "https://example.com/listen";
/** All of a lease are forwarded at once, and acknowledged together. */
const AT_ONCE = 10;
const WAIT_S = 25;
/** As long as Postern itself waits for a receiver. */
const ANSWER_LIMIT_MS = 15_000;
const PAUSE_MS = 1000;
const ONE_CTRL_C_MS = 1000;
const SHOWN_CHARACTERS = 200;

export type Listening = {
  /** Of this machine. */
  forward: URL;
  patterns: readonly string[];
  secret: string | undefined;
  /** How many past events come first. */
  replayed: number;
  isJson: boolean;
};

type FetchedEvent = z.infer<typeof leaseObject>["events"][number];

const created = z.object({ endpoint: endpointObject, secret: z.string() });

/** Ends with the first SIGINT or SIGTERM, once what was fetched is acknowledged; another one ends at once. */
export async function listenTo(api: ApiClient, listening: Listening): Promise<void> {
  const { forward, patterns, secret, replayed, isJson } = listening;
  const stopping = stopOnSignal();
  const input = { url: UNUSED_URL, mode: "pull", temporary: true, events: patterns, secret };
  const named = { ...input, description: "postern listen" };
  const made = readAnswer(created, await api.call("POST", "/api/webhooks", JSON.stringify(named)));
  const path = `/api/webhooks/${made.endpoint.id}`;
  tell(`forwarding ${patterns.join(", ")} to ${forward.href}; Ctrl-C ends`);
  if (secret === undefined) tell(`signing secret: ${made.secret}`);
  const forwarder = makeForwarder(forward, ANSWER_LIMIT_MS);
  try {
    if (replayed > 0) await sendPast(stopping, api, made.endpoint.id, { patterns, count: replayed });
    await forwardUntil(stopping, api, { path, isJson, forwarder, at: forward });
  } finally {
    forwarder.close();
    await api.call("DELETE", path).catch((error: unknown) => {
      // It was already deleted.
      if (error instanceof ApiRefusalError && error.status === 404) return;
      tell("the temporary endpoint could not be deleted; Postern does it within an hour");
    });
  }
}

type Forwarding = {
  /** The endpoint's. */
  path: string;
  isJson: boolean;
  forwarder: Forwarder;
  at: URL;
};

async function forwardUntil(signal: AbortSignal, api: ApiClient, forwarding: Forwarding): Promise<void> {
  const { path } = forwarding;
  let isAway = false;
  while (!signal.aborted) {
    try {
      const asked = JSON.stringify({ limit: AT_ONCE, wait_s: WAIT_S });
      const answer = await api.call("POST", `${path}/leases`, asked, signal);
      const { lease_id, events } = readAnswer(leaseObject, answer);
      if (isAway) tell("Postern answers again");
      isAway = false;
      const acks = await Promise.all(events.map((event) => forwardOne(event, forwarding)));
      if (acks.length > 0) await acknowledge(api, path, { lease_id, acks });
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      if (!isAway) tell(`${error.message.split("\n")[0]}; trying again each second`);
      isAway = true;
      await pause(PAUSE_MS, signal);
    }
  }
}

/** Postern is away, busy or has had enough of calls: its endpoint and events are still there. */
function isPassing(error: unknown): error is Error {
  if (error instanceof NoAnswerError) return true;
  const isAnswered = error instanceof ApiRefusalError || error instanceof StrangeAnswerError;
  return isAnswered && (error.status === 429 || error.status >= 500);
}

type Ack = { id: string; error?: string };

/** Where the lease has ended meanwhile, the events come again: to say so once more would change nothing. */
async function acknowledge(
  api: ApiClient,
  path: string,
  acks: { lease_id: string | null; acks: Ack[] },
): Promise<void> {
  await api.call("POST", `${path}/acks`, JSON.stringify(acks)).catch((error: unknown) => {
    if (!(error instanceof ApiRefusalError) || error.status !== 409) throw error;
  });
}

async function forwardOne(event: FetchedEvent, { forwarder, isJson, at }: Forwarding): Promise<Ack> {
  const startedAtMs = performance.now();
  const outcome = await forwarder.forward(event.headers, event.body);
  const ms = Math.round(performance.now() - startedAtMs);
  const isDelivered = outcome.kind === "answered" && isSuccess(outcome.status);
  console.log(isJson ? jsonLine(event, outcome, ms) : plainLine(event, outcome, ms));
  if (outcome.kind === "failed" && !isJson) tell(remedyOf(outcome.code, at));
  if (isDelivered) return { id: event.id };
  const error = outcome.kind === "failed" ? outcome.code : `${outcome.status} ${outcome.body}`;
  return { id: event.id, error: error.replaceAll("\0", "").trim().slice(0, SHOWN_CHARACTERS) };
}

/** For people; what programs read goes to standard output. */
function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

function plainLine({ event_type, event_id, id }: FetchedEvent, outcome: Forwarded, ms: number): string {
  const time = new Date().toISOString().slice(11, 23);
  const answer = outcome.kind === "failed" ? outcome.code : String(outcome.status);
  return `${time}  ${event_type}  ${event_id ?? id}  ${answer}  ${ms} ms`;
}

function jsonLine(event: FetchedEvent, outcome: Forwarded, ms: number): string {
  return JSON.stringify({
    at: new Date().toISOString(),
    type: event.event_type,
    id: event.id,
    event_id: event.event_id,
    attempt: event.attempt,
    status: outcome.kind === "failed" ? null : outcome.status,
    error: outcome.kind === "failed" ? outcome.code : null,
    ms,
  });
}

function remedyOf(code: string, at: URL): string {
  if (code === "ECONNREFUSED") return `  nothing listens at ${at.origin}: start your receiver there`;
  if (code === "timeout") return `  no answer from ${at.origin} within ${ANSWER_LIMIT_MS / 1000} s`;
  return `  ${at.origin} broke the connection off: see your receiver's log`;
}

/** The newest past events that fit, oldest first, through the queue like any that is sent again. */
async function sendPast(
  signal: AbortSignal,
  api: ApiClient,
  endpointId: string,
  { patterns, count }: { patterns: readonly string[]; count: number },
): Promise<void> {
  const newest = new Set<string>();
  for (const pattern of patterns) {
    // An event has all of its versions.
    const [type = ""] = pattern.split("@");
    const query = new URLSearchParams(type === "*" ? {} : { type });
    const found = searchPages(api, { path: "/api/events", query, limit: count, read: readPage, signal });
    for await (const id of found) newest.add(id);
  }
  // Ids sort as the times at which events were accepted.
  const chosen = [...newest].sort().slice(-count);
  for (const id of chosen) {
    if (signal.aborted) return;
    await api.call("POST", `/api/events/${id}/send`, JSON.stringify({ endpoint_id: endpointId }));
  }
}

function readPage(text: string): SearchPage<string> {
  const { events, searched_to } = readAnswer(eventsAnswer, text);
  return { found: events.map(({ id }) => id), searchedTo: searched_to };
}

/** Or when nobody reads on what is printed: such a command would not end by itself. */
function stopOnSignal(): AbortSignal {
  const stopping = new AbortController();
  let stoppedAtMs = 0;
  const stop = (): void => {
    // Under npm a Ctrl-C arrives twice.
    if (stopping.signal.aborted && performance.now() - stoppedAtMs > ONE_CTRL_C_MS) process.exit(1);
    stoppedAtMs = performance.now();
    stopping.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.stdout.once("error", stop);
  return stopping.signal;
}
