/** Traces of events, for whoever sends them: only types, so that nobody who does not trace loads anything. */
import type { EventId } from "../shared/id.ts";

export type TracingOptions = {
  /** Of the collector; spans go to `<url>/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** The part of events that is traced: 0 to 1. */
  share: number;
};

/** What an event's trace says of it. */
export type TracedEvent = { eventId: EventId; eventType: string; tenantId: string };

export type TracedAttempt = {
  /** To send to the receiver (https://www.w3.org/TR/trace-context/). */
  traceparent: string;
  end(outcome: { responseStatus: number | null; error: string | null }): void;
};

export type Tracing = {
  /** A committed event, with the `traceparent` that its producer sent: anything that is none counts as absent. */
  accepted(event: TracedEvent, request: { startedAtMs: number; traceparent?: unknown }): void;
  attempt(dispatch: TracedEvent & { endpointId: string; id: string; attempt: number }): TracedAttempt;
  /** Sends what is left. */
  close(): Promise<void>;
};
