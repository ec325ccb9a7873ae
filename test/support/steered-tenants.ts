import type { QueryConfig } from "pg";
import type { Db } from "../../src/database/pool.ts";
import type { TenantPool } from "../../src/database/tenant-pool.ts";
import type { TenantId } from "../../src/shared/id.ts";

export type Statement = { name: string; values: unknown[]; tenantId: TenantId };

/** Reads through a tenant's connections, where a test sees each statement and steps in before it. */
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
    return this.#tenants.of(tenantId);
  }

  reading(tenantId: TenantId): Db {
    const db = this.#tenants.reading(tenantId);
    return {
      query: async (text: string | QueryConfig, values?: unknown[]) => {
        const { name = "", values: given = values ?? [] } = typeof text === "string" ? {} : text;
        const statement = { name, values: given, tenantId };
        this.statements.push(statement);
        await this.before(statement);
        return db.query(text, values);
      },
    };
  }

  end(): Promise<void> {
    return this.#tenants.end();
  }
}
