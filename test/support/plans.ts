/** The plans of the stores' statements, as PostgreSQL would run them again and again: made once, for any values. */
import assert from "node:assert/strict";
import { escapeIdentifier, escapeLiteral, type QueryConfig } from "pg";
import * as z from "zod";
import type { Db, PoolClient } from "../../src/database/pool.ts";

/** Without a name it is planned anew each time that it runs. */
export type Statement = { name: string | null; text: string; values: readonly unknown[] };

/** One node that reads a table, and the columns by which it finds rows; none where it reads the whole of it. */
export type Reading = { table: string; how: string; by: string[]; index: string; filter: string };

/** The statements that `run` asks for, each of them run too. */
export async function statementsOf(
  client: PoolClient,
  run: (db: Db) => Promise<unknown>,
): Promise<Statement[]> {
  const statements: Statement[] = [];
  await run({
    query: (text: string | QueryConfig, values: unknown[] = []) => {
      const config: QueryConfig = typeof text === "string" ? { text, values } : text;
      statements.push({ name: config.name ?? null, text: config.text, values: config.values ?? [] });
      return client.query(config);
    },
  });
  return statements;
}

/** Its plan for any values; the same name in the same session answers the plan that was made the first time. */
export async function planOf(client: PoolClient, name: string, statement: Statement): Promise<Reading[]> {
  const quoted = escapeIdentifier(name);
  const { rowCount } = await client.query("SELECT FROM pg_prepared_statements WHERE name = $1", [name]);
  if (rowCount === 0) await client.query(`PREPARE ${quoted} AS ${statement.text}`);
  const values = statement.values.map(literal).join(", ");
  const { rows } = await client.query(
    `EXPLAIN (FORMAT JSON) EXECUTE ${quoted}${values === "" ? "" : `(${values})`}`,
  );
  return answer.parse(rows).flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => readings(Plan)));
}

type Node = { [key: string]: unknown; Plans?: Node[] | undefined };
const node: z.ZodType<Node> = z.looseObject({
  get Plans() {
    return z.array(node).optional();
  },
});
const answer = z.array(z.object({ "QUERY PLAN": z.array(z.object({ Plan: node })) }));

function readings(plan: Node): Reading[] {
  const below = (plan.Plans ?? []).flatMap(readings);
  const type = String(plan["Node Type"]);
  const name = plan["Relation Name"];
  // What an UPDATE or a DELETE changes is found by a node below it.
  if (typeof name !== "string" || type === "ModifyTable" || type === "Bitmap Heap Scan") {
    return typeof name === "string" && type === "Bitmap Heap Scan"
      ? [reading(name, plan, plan["Recheck Cond"])]
      : below;
  }
  return [reading(name, plan, plan["Index Cond"] ?? plan["TID Cond"]), ...below];
}

function reading(name: string, plan: Node, condition: unknown): Reading {
  const { "Node Type": how, Filter: filter } = plan;
  return {
    table: parentOf(name),
    how: String(how),
    by: [...columns(condition), ...tinyIndexOf(plan)],
    index: indexesOf(plan).join(),
    filter: typeof filter === "string" ? filter : "",
  };
}

/** An index that has few rows, however many its table has: it may be read as a whole, and counts as a way. */
const MOVES = "shard_tenants_on_their_way";

function tinyIndexOf(plan: Node): string[] {
  return indexesOf(plan).includes(MOVES) ? [MOVES] : [];
}

function indexesOf(plan: Node): string[] {
  return [plan, ...(plan.Plans ?? [])].flatMap(({ "Index Name": name }) =>
    typeof name === "string" ? [name] : [],
  );
}

/** A day's partition stands for its table. */
function parentOf(table: string): string {
  return table.replace(/_(\d{8}|default)$/, "");
}

function columns(condition: unknown): string[] {
  const text = typeof condition === "string" ? condition : "";
  return [...text.matchAll(/\((\w+) (?:=|<|>|<=|>=) /g)].map(([, name = ""]) => name);
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  // An array in the binary format has no literal. The plan is for any values, and for none.
  if (Buffer.isBuffer(value)) return "NULL";
  if (!Array.isArray(value)) return escapeLiteral(textOf(value));
  const elements = value.map((element) => (element === null ? "NULL" : JSON.stringify(textOf(element))));
  return escapeLiteral(`{${elements.join(",")}}`);
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  assert.ok(typeof value === "string" || typeof value === "number" || typeof value === "boolean");
  return String(value);
}

/** How rows of a table are found: by these columns, all of them; or it may be read whole. */
export type Ways = Record<string, readonly string[] | "whole">;
const BY_KEY: Record<string, readonly string[]> = {
  endpoints: ["tenant_id", "id"],
  events: ["id"],
  dispatches: ["tenant_id", "endpoint_id", "id"],
  deliveries: ["tenant_id", "endpoint_id", "id"],
  idempotency_keys: ["tenant_id", "key"],
  outbox: ["id"],
  tenant_settings: ["tenant_id"],
  bodies_to_keep: ["tenant_id", "delivery_id", "kind"],
  workers: ["first_lease_id"],
  replays: ["tenant_id", "id"],
  person_sends: ["tenant_id", "endpoint_id", "id"],
  header_sets: ["tenant_id", "id"],
  exhausted_events: ["tenant_id", "endpoint_id"],
  shard_tenants: [MOVES],
};

/** Neither by key nor in a way of `also`. The table of slots has 256 rows for ever: any way will do there. */
export function isWrong({ table, how, by }: Reading, also: Ways): boolean {
  const other = also[table];
  if (table === "slots" || other === "whole") return false;
  const ways = [BY_KEY[table], other];
  return how === "Seq Scan" || !ways.some((way) => way?.every((column) => by.includes(column)));
}

export type Through = {
  /** The indexes by which it finds dispatches, where another one would do for few rows alone. */
  through?: readonly string[];
  /** It looks each dispatch's endpoint up in a hash of those given: beside thousands, it would be compared with each. */
  hashes?: true;
};

export function assertThrough(found: readonly Reading[], { through, hashes }: Through): void {
  const indexes = found.filter(({ table }) => table === "dispatches").map(({ index }) => index);
  if (through !== undefined) assert.deepEqual(indexes.toSorted(), through);
  if (hashes)
    assert.ok(
      found.some(({ filter }) => filter.includes("hashed SubPlan")),
      JSON.stringify(found),
    );
}
