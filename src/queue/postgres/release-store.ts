/** Releases leases, and makes the arrays that every statement on leased dispatches takes. */
import { textArray, uuidArray } from "../../database/binary-arrays.ts";
import type { Db } from "../../database/pool.ts";
import { DEFER_MS, type LeasedDispatch } from "../queue.ts";
import { isRowOf, withLeased } from "./key-look-up.ts";

/** Locks in the order of the key, as every statement on several dispatches does. */
export async function releaseDispatches(
  db: Db,
  dispatches: readonly LeasedDispatch[],
  to: "claimable" | "parked",
  whenLocked: "skip" | "wait" = "wait",
): Promise<void> {
  await db.query({
    name: `release-dispatches-${whenLocked}`,
    text: /* sql */ `WITH given AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[])
          AS given (tenant_id, endpoint_id, id, lease_id)
        ORDER BY tenant_id, endpoint_id, id
      ), locked AS MATERIALIZED (
        ${withLeased("given", whenLocked)}
      )
      -- Since when it is due, so that it comes before younger ones.
      UPDATE postern.dispatches d SET lease_owner = NULL, claimable_at = least(d.due_at, now()), parked = $5
      FROM locked WHERE ${isRowOf("locked")}`,
    values: [...leaseArrays(dispatches), to === "parked"],
  });
}

/**
 * Releases a lease and makes the dispatch claimable again after as long as it
 * has been due, so that each delay is about twice the one before.
 */
export async function deferDispatch(db: Db, dispatch: LeasedDispatch): Promise<void> {
  const { tenantId, endpointId, id, leaseId } = dispatch;
  await db.query(
    /* sql */ `UPDATE postern.dispatches SET lease_owner = NULL,
        claimable_at = now() + least(greatest(now() - due_at, $5 * interval '1 ms'), $6 * interval '1 ms')
      WHERE tenant_id = $1 AND endpoint_id = $2 AND id = $3 AND lease_owner = $4`,
    [tenantId, endpointId, id, leaseId, DEFER_MS.shortest, DEFER_MS.longest],
  );
}

/** Tenant, endpoint, dispatch and lease ids. */
export function leaseArrays(
  dispatches: readonly Pick<LeasedDispatch, "tenantId" | "endpointId" | "id" | "leaseId">[],
): Buffer[] {
  return [
    textArray(dispatches.map((dispatch) => dispatch.tenantId)),
    uuidArray(dispatches.map((dispatch) => dispatch.endpointId)),
    uuidArray(dispatches.map((dispatch) => dispatch.id)),
    uuidArray(dispatches.map((dispatch) => dispatch.leaseId)),
  ];
}
