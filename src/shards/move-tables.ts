/**
 * What a move does with each table that has rows of tenants. The test of this
 * file compares the lists with the catalog, so a new table must be put into one.
 */

/** Copied with every change. The tenant is part of the key: PostgreSQL refuses changes of other published rows. */
export const CHANGING = [
  "deliveries",
  "delivery_stats",
  "delivery_totals",
  "endpoints",
  "exhausted_events",
  "header_sets",
  "idempotency_keys",
  "newest_attempts",
  "person_sends",
  "tenant_settings",
] as const;

/** Copied with what is added, since their keys have no tenant. Nothing changes their rows, and each shard deletes old ones by itself. */
export const GROWING = ["audit_log", "events"] as const;

/** Copied when all are held, so that no worker of the target ever meets one that it may claim. */
export const PENDING = ["dispatches"] as const;

/**
 * Few rows, which are brought over before the target is opened: workers act on
 * replays as soon as they see them. Exports are finished, or their tenant is not moved.
 */
export const AT_SWITCH = ["replays", "storage_exports"] as const;

/** All that the target gets. */
export const BROUGHT = [...CHANGING, ...GROWING, ...PENDING, ...AT_SWITCH] as const;

/**
 * Not copied. Events that wait here are handed over; sessions and watches of the
 * log begin anew; counts are folded before the switch. What storage has noted is about files
 * in the shard's own bucket that are gone: a tenant that has any is not moved.
 */
export const LEFT = [
  "bodies_to_keep",
  "delivery_counts",
  "handovers",
  "log_watches",
  "outbox",
  "portal_sessions",
  "storage_events",
  "storage_grants",
  "storage_marks",
  "stored_objects",
] as const;
