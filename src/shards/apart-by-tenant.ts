/** For a database that may refuse a tenant, because it moves or lives elsewhere by now. */
import { isPassing } from "../database/passing-errors.ts";
import { isMisrouted } from "../database/residence.ts";
import type { Taken, TakenEvents } from "../events/taken-events.ts";
import type { TenantId } from "../shared/id.ts";

/**
 * An event that the database refuses, or whose tenant it refuses, fails its group;
 * then each of the group is tried alone. One event of a tenant at a time: what
 * refuses the tenant to the first refuses it to all that wait. So hundreds of a
 * fenced tenant take one turn, and keep no other tenant's waiting.
 */
export function apartByTenant(taken: TakenEvents): TakenEvents {
  const trying = new Map<TenantId, Promise<Taken>>();

  async function alone(tenantId: TenantId, take: () => Promise<Taken>): Promise<Taken> {
    for (let earlier = trying.get(tenantId); earlier !== undefined; earlier = trying.get(tenantId)) {
      await earlier.catch((error: unknown) => {
        if (isMisrouted(error)) throw error;
      });
    }
    const taking = take().finally(() => trying.delete(tenantId));
    trying.set(tenantId, taking);
    return taking;
  }

  return {
    async accept(event, how) {
      const first = how === "alone" ? null : await inGroup(() => taken.accept(event, "grouped"));
      return first ?? alone(event.tenantId, () => taken.accept(event, "alone"));
    },
  };
}

/** Null where the group failed by one of its events or tenants, which may be another's. */
async function inGroup(take: () => Promise<Taken>): Promise<Taken | null> {
  try {
    return await take();
  } catch (error) {
    if (isPassing(error) && !isMisrouted(error)) throw error;
    return null;
  }
}
