/** Dispatches that a person requests, in the terms of their callers: one attempt each. */
import type { EndpointKey, EventId, ReplayId } from "../shared/id.ts";

export type OnceEvent = { eventId: EventId; eventType: string; version: number; attempt: number };

export type OnceDispatch = EndpointKey & OnceEvent;

/** Events of a replay that follow each other. */
export type ReplayPage = EndpointKey & { replayId: ReplayId; events: readonly OnceEvent[] };
