import type { TenantId } from "../../shared/id.ts";

/** What waits to be stored: bodies, and bytes of answers. */
export type Waiting = { count: number; bytes: number };

/**
 * Whose bodies are too many: nobody's while all together are below `max`, and
 * otherwise the tenants' that have reached an equal part of it. So whoever fills
 * the backlog loses bodies, and those who have few beside it keep theirs.
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
