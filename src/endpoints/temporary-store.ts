/** Temporary endpoints: each is deleted after an hour without a call of its client. */
import { notOnItsWay } from "../database/on-its-way.ts";
import type { Db } from "../database/pool.ts";
import type { EndpointKey } from "../shared/id.ts";

/** SQL: until when one is kept that was created, or called for, now. */
export const TEMPORARY_UNTIL = /* sql */ `now() + interval '1 hour'`;
const FOUND_AT_ONCE = 100;

/** Its client called. */
export async function extendTemporary(db: Db, { tenantId, endpointId }: EndpointKey): Promise<void> {
  await db.query(
    /* sql */ `UPDATE postern.endpoints SET temporary_until = ${TEMPORARY_UNTIL}
      WHERE tenant_id = $1 AND id = $2 AND temporary_until IS NOT NULL AND deleted_at IS NULL`,
    [tenantId, endpointId],
  );
}

/** Some whose clients are gone: some of each tenant before more of any. */
export async function findAbandoned(db: Db): Promise<EndpointKey[]> {
  const { rows } = await db.query<EndpointKey>(
    /* sql */ `SELECT tenant_id AS "tenantId", id AS "endpointId" FROM postern.endpoints
      WHERE temporary_until < now() AND deleted_at IS NULL AND ${notOnItsWay("tenant_id")}
      ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY temporary_until), temporary_until LIMIT $1`,
    [FOUND_AT_ONCE],
  );
  return rows;
}

/** Locks one until the transaction ends; false where its client has called meanwhile, or another transaction has it. */
export async function lockAbandoned(db: Db, { tenantId, endpointId }: EndpointKey): Promise<boolean> {
  const { rowCount } = await db.query(
    /* sql */ `SELECT FROM postern.endpoints
      WHERE tenant_id = $1 AND id = $2 AND temporary_until < now() AND deleted_at IS NULL
      FOR NO KEY UPDATE SKIP LOCKED`,
    [tenantId, endpointId],
  );
  return rowCount === 1;
}
