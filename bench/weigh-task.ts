/** The bytes that a delivery takes in the log: of one endpoint alone, and among many endpoints. */
import { seedDeliveries } from "./seed.ts";
import type { Program, Stand } from "./stand.ts";

const SPREAD = 500_000;
// Each endpoint's rows are entered among those of all others, so pages of two indexes split in their middle.
const AMONG_MANY = {
  tenant: "'t' || lpad((n * 7919 % 1000 % 20)::text, 4, '0')",
  endpoint: "('00000000-0000-4000-8000-' || lpad((n * 7919 % 1000)::text, 12, '0'))::uuid",
  isFailed: "false",
};

const DAYS = `FROM pg_class WHERE relnamespace = 'postern'::regnamespace AND relkind = 'r' AND relname ~ '^deliveries_'`;
const SIZES = `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal, sum(pg_table_size(oid))::bigint AS heap,
    sum(pg_indexes_size(oid))::bigint AS indexes ${DAYS}`;

type Sizes = { wal: number; heap: number; indexes: number };

/** @param deliver Publishes events to one endpoint until all are logged, and answers how many. */
export async function weigh(
  stand: Stand,
  deliver: (program: Program) => Promise<number>,
): Promise<Record<string, number>> {
  await stand.sql("TRUNCATE postern.deliveries, postern.events");
  const program = await stand.start("up");
  // No page is then written whole because of it, as between two checkpoints of a busy server most are not.
  await stand.sql("CHECKPOINT");
  const before = await sizes(stand);
  const count = await deliver(program);
  const one = perRow(before, await sizes(stand), count);
  await program.stop();

  await stand.sql("TRUNCATE postern.deliveries, postern.events");
  const empty = await sizes(stand);
  await seedDeliveries(stand, { total: SPREAD, days: 1 }, AMONG_MANY);
  const many = perRow(empty, await sizes(stand), SPREAD);
  for (const { name } of await stand.sql(`SELECT oid::regclass AS name ${DAYS}`)) {
    await stand.sql(`REINDEX TABLE CONCURRENTLY ${String(name)}`);
  }
  const rebuilt = perRow(empty, await sizes(stand), SPREAD);
  return {
    heap: one.heap,
    indexes: one.indexes,
    "heap + indexes": one.heap + one.indexes,
    WAL: one.wal,
    "indexes, 1,000 endpoints": many.indexes,
    "the same, rebuilt": rebuilt.indexes,
  };
}

async function sizes(stand: Stand): Promise<Sizes> {
  const [row = {}] = await stand.sql(SIZES);
  return { wal: Number(row["wal"]), heap: Number(row["heap"]), indexes: Number(row["indexes"]) };
}

function perRow(before: Sizes, after: Sizes, count: number): Sizes {
  const of = (name: keyof Sizes): number => Math.round((after[name] - before[name]) / count);
  return { wal: of("wal"), heap: of("heap"), indexes: of("indexes") };
}
