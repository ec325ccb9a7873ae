/** The operator's view of tenants, and asking for the erasure of one. A worker does it. */
import { recordDone } from "../audit/audit.ts";
import type { Db, Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import type { Granting } from "../portal/portal-sessions.ts";
import type { TenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Erasure, Tenant, TenantRows } from "./tenant.ts";
import { countTenantRows, findErasure, insertErasure, listTenants, lockHolds } from "./tenant-store.ts";

/** Rows that are counted in each part of a table. */
const MOST_COUNTED = 10_000;

export class Tenants {
  readonly #db: Pool;

  constructor(db: Pool) {
    this.#db = db;
  }

  async list(page: { prefix: string; after: string; limit: number }): Promise<Tenant[]> {
    return listTenants(this.#db, page);
  }

  async get(tenantId: TenantId | null): Promise<Tenant> {
    if (tenantId === null) throw new Refusal("not_found");
    // The first tenant whose id begins with the whole id is the tenant itself, if it has endpoints.
    const [tenant] = await listTenants(this.#db, { prefix: tenantId, after: "", limit: 1 });
    if (tenant?.id !== tenantId) throw new Refusal("not_found");
    return tenant;
  }

  /** What an erasure would delete now. */
  async count(tenantId: TenantId): Promise<TenantRows> {
    const rows = await countTenantRows(this.#db, tenantId, MOST_COUNTED);
    const { count: held } = await lockHolds(this.#db, tenantId);
    return { rows, isCapped: [...rows.values()].some((count) => count >= MOST_COUNTED), held };
  }

  /**
   * `requireSettled` fails where the tenant is being moved. It is asked in the
   * transaction that notes the erasure: a move waits for its end before it begins.
   * @throws Refusal `held` where an artifact is held: then nothing is erased.
   */
  async erase(
    by: Granting,
    tenantId: TenantId,
    requireSettled: (transaction: Db) => Promise<void> = async () => undefined,
  ): Promise<Erasure> {
    await inTransaction(this.#db, async (transaction) => {
      const isNew = await insertErasure(transaction, tenantId);
      await requireSettled(transaction);
      if (!isNew) return;
      const { count, first } = await lockHolds(transaction, tenantId);
      if (first !== null) throw heldRefusal(first, count);
      const done = { action: "tenant.erased", endpointId: null, details: {} } as const;
      await recordDone(transaction, { ...by, tenantId }, done);
    });
    return this.getErasure(tenantId);
  }

  async getErasure(tenantId: TenantId | null): Promise<Erasure> {
    const erasure = tenantId === null ? null : await findErasure(this.#db, tenantId);
    if (erasure === null) throw new Refusal("not_found");
    return erasure;
  }
}

function heldRefusal(first: string, count: number): Refusal {
  const others = count > 1 ? ` and ${count - 1} more` : "";
  const message = `${first}${others} of the tenant's artifacts are held: end the holds first`;
  return new Refusal("held", { issues: [{ path: ["tenant_id"], message, code: "held" }] });
}
