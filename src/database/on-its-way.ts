/**
 * SQL for work across tenants: not the rows of a tenant that is being moved into
 * this database, or out of it. The copy would fail on what was changed here, and
 * both databases would tell or end the same thing. PostgreSQL asks once for each
 * statement, by an index that has only the moves that are under way.
 */
export function notOnItsWay(tenantId: string): string {
  return /* sql */ `${tenantId} <> ALL (ARRAY(
    SELECT way.tenant_id FROM postern.shard_tenants way WHERE way.moving AND way.fenced))`;
}
