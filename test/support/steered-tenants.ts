import type { QueryConfig } from "pg";
import type { Db } from "../../src/database/pool.ts";
import type { TenantPool } from "../../src/database/tenant-pool.ts";
import type { TenantId } from "../../src/shared/id.ts";

export type Statement = { name: string; values: unknown[]; tenantId: TenantId };

/** A tenant's connections, where a test sees each statement and transaction and steps in before it. */
export class SteeredTenants implements TenantPool {
  statements: Statement[] = [];
  before: (statement: Statement) => Promise<unknown> | undefined = () => undefined;
  readonly #tenants: TenantPool;

  constructor(tenants: TenantPool) {
    this.#tenants = tenants;
  }

  reset(): void {
    this.statements = [];
    this.before = () => undefined;
  }

  names(): string[] {
    return this.statements.map(({ name }) => name);
  }

  of(tenantId: TenantId): ReturnType<TenantPool["of"]> {
    const db = this.#tenants.of(tenantId);
    return {
      ...this.#steered(db, tenantId),
      transaction: async (work) => {
        await this.#note({ name: "transaction", values: [], tenantId });
        return db.transaction(work);
      },
    };
  }

  reading(tenantId: TenantId): Db {
    return this.#steered(this.#tenants.reading(tenantId), tenantId);
  }

  #steered(db: Db, tenantId: TenantId): Db {
    return {
      query: async (text: string | QueryConfig, values?: unknown[]) => {
        const { name = "", values: given = values ?? [] } = typeof text === "string" ? {} : text;
        await this.#note({ name, values: given, tenantId });
        return db.query(text, values);
      },
    };
  }

  async #note(statement: Statement): Promise<void> {
    this.statements.push(statement);
    await this.before(statement);
  }

  end(): Promise<void> {
    return this.#tenants.end();
  }
}
