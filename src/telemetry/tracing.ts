/** Traces of events: only types, so that a process without tracing loads nothing. */
import type { EventId } from "../shared/id.ts";

export type TracingOptions = {
  /** Of the collector; spans go to `<url>/v1/traces`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** The part of events that is traced: 0 to 1. */
  share: number;
};

/** What an event's trace says of it, and the `traceparent` of its producer, whose trace it continues. */
export type TracedEvent = {
  eventId: EventId;
  eventType: string;
  tenantId: string;
  traceparent?: string | undefined;
};

export type TracedAttempt = {
  /** To send to the receiver (https://www.w3.org/TR/trace-context/). */
  traceparent: string;
  end(outcome: { responseStatus: number | null; error: string | null }): void;
};

export type Tracing = {
  /** What a producer sent as `traceparent`, to be stored with its events; undefined if it is none. */
  continues(header: unknown): string | undefined;
  /** A committed event. */
  accepted(event: TracedEvent, startedAtMs: number): void;
  attempt(dispatch: TracedEvent & { endpointId: string; id: string; attempt: number }): TracedAttempt;
  /** Sends what is left. */
  close(): Promise<void>;
};
