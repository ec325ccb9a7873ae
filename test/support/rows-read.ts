/** Counts the rows that statements read from tables, those included that a filter removed. */
import { escapeIdentifier, escapeLiteral, type QueryConfig } from "pg";
import * as z from "zod";
import type { Db, Pool } from "../../src/database/pool.ts";
import type { TenantPool } from "../../src/database/tenant-pool.ts";
import { statementsOf } from "./plans.ts";

type Node = { [key: string]: unknown; Plans?: Node[] | undefined };
const node: z.ZodType<Node> = z.looseObject({
  get Plans() {
    return z.array(node).optional();
  },
});
const answer = z.tuple([z.object({ "QUERY PLAN": z.tuple([z.object({ Plan: node })]) })]);

/** The rows that the statements of `run` read, each planned once for all values. */
export async function rowsReadBy(pool: Pool, run: (db: Db) => Promise<unknown>): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("SET plan_cache_mode = force_generic_plan");
    let rows = 0;
    for (const { text, values } of await statementsOf(client, run)) {
      await client.query(`PREPARE asked AS ${text}`);
      const given = values.map(literal).join(", ");
      const call = given === "" ? "EXECUTE asked" : `EXECUTE asked (${given})`;
      const explained = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${call}`);
      await client.query("DEALLOCATE asked");
      rows += rowsOf(answer.parse(explained.rows)[0]["QUERY PLAN"][0].Plan, false);
    }
    return rows;
  } finally {
    client.release(true);
  }
}

/**
 * One connection of a tenant, for statements of the log: a plan is made when a
 * statement is first seen, and kept, as in the service.
 */
export async function openCounter(pool: Pool, tenantId: string, settings: string) {
  const client = await pool.connect();
  await client.query(`SET ROLE postern_tenant; ${settings.replaceAll("SET LOCAL", "SET")}`);
  await client.query("SELECT set_config('postern.tenant', $1, false)", [tenantId]);
  const prepared = new Set<string>();
  let rows = 0;
  let withParts = false;
  const db: Db = {
    async query(config: string | QueryConfig) {
      if (typeof config === "string" || config.name === undefined)
        throw new Error("not a prepared statement");
      const name = escapeIdentifier(config.name);
      if (!prepared.has(name)) await client.query(`PREPARE ${name} AS ${config.text}`);
      prepared.add(name);
      const call = `EXECUTE ${name} (${(config.values ?? []).map(literal).join(", ")})`;
      const explained = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${call}`);
      rows += rowsOf(answer.parse(explained.rows)[0]["QUERY PLAN"][0].Plan, withParts);
      return client.query(call);
    },
  };
  const only = { of: outOfTurn, reading: () => db, end: outOfTurn };
  return {
    tenants: only satisfies TenantPool,
    /**
     * The rows that `work` read from tables, those included that a filter
     * removed; with `parts` also from parts of a statement (WITH).
     */
    async count(work: () => Promise<unknown>, { parts = false } = {}): Promise<number> {
      rows = 0;
      withParts = parts;
      await work();
      return rows;
    },
    close: () => client.release(true),
  };
}

function outOfTurn(): never {
  throw new Error("the log is read in single statements, in the tenant's turns");
}

function rowsOf(plan: Node, withParts: boolean): number {
  const below = (plan.Plans ?? []).reduce((sum, child) => sum + rowsOf(child, withParts), 0);
  const isRead = plan["Relation Name"] !== undefined || (withParts && plan["CTE Name"] !== undefined);
  if (!isRead) return below;
  const perLoop = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"].reduce(
    (sum, key) => sum + Number(plan[key] ?? 0),
    0,
  );
  return below + perLoop * Number(plan["Actual Loops"] ?? 0);
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join(",")}}`);
  const text = Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : String(value);
  return value === null ? "NULL" : escapeLiteral(text);
}
