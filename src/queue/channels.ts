/** The channels of PostgreSQL's NOTIFY that tell of dispatches. */

/** Workers hear that a dispatch is due or an event is in the outbox. `postern.publish` names it too. */
export const WAKE_CHANNEL = "postern_dispatch";
/** On that channel: slots are free, or wanted. */
export const SLOTS_CHANGED = "slots changed";
/**
 * API processes hear of what clients fetch: the id of a pull endpoint that has
 * something new, or of a person's send that a client has acknowledged.
 */
export const FETCH_CHANNEL = "postern_fetch";
