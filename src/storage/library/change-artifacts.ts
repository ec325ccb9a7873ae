/** Who changes a tenant's artifacts, and by which connections: a user by the tenant's own, the operator by a worker's. */
import { NO_REQUEST, OPERATOR, type Caller } from "../../audit/audit-entry.ts";
import type { Db, Pool } from "../../database/pool.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { inTransaction } from "../../database/transaction.ts";
import type { TenantId } from "../../shared/id.ts";

export type Changing = {
  db: Db;
  transaction: <T>(work: (transaction: Db) => Promise<T>) => Promise<T>;
  by: Caller;
};

export function byUser(tenants: TenantPool, by: Caller): Changing {
  const db = tenants.of(by.tenantId);
  return { db, transaction: (work) => db.transaction(work), by };
}

export function byOperator(db: Pool, tenantId: TenantId): Changing {
  const by = { tenantId, actor: OPERATOR, ...NO_REQUEST };
  return { db, transaction: (work) => inTransaction(db, work), by };
}
