import type { EventType } from "../../api/client.ts";

/** A type with all of its versions, the newest first, and the one that stands for it. */
export type Listed = { type: string; newest: EventType; versions: readonly EventType[] };
