import type { TenantId } from "../../shared/id.ts";

/** What waits to be stored: bodies, and bytes of answers. */
export type Waiting = { count: number; bytes: number };

/**
 * The tenants that have too many bodies waiting. There are none while all bodies
 * together are below `max`. Then each tenant may have an equal part of `max`: who
 * fills the backlog loses bodies, and who has few in it keeps them.
 */
export function tenantsBeyond(
  waiting: readonly (Waiting & { tenantId: TenantId })[],
  max: Waiting,
): ReadonlySet<TenantId> {
  const beyond = new Set<TenantId>();
  for (const kind of ["count", "bytes"] as const) {
    if (waiting.reduce((sum, one) => sum + one[kind], 0) < max[kind]) continue;
    for (const one of waiting) if (one[kind] >= max[kind] / waiting.length) beyond.add(one.tenantId);
  }
  return beyond;
}
