/** Reading the delivery log when it is long, and sending while it is. */
import assert from "node:assert/strict";
import { idTimeMs, parseEventId } from "../src/shared/id.ts";
import { ownerOf } from "./callers.ts";
import { openConnection } from "./generator.ts";
import { percentile } from "./measure.ts";
import { seedDeliveries } from "./seed.ts";
import type { Program, Stand } from "./stand.ts";

const OWNER = ownerOf("reader");
const OTHER = ownerOf("tenant_1");
const READERS = 8;
const ALL = "/api/deliveries";
/** Uses up the rows that one request may look at. */
const IN_VAIN = "search in vain";
const READS = 500;
const SEED_DAYS = 20;

/**
 * Fills the log: of `total` rows over twenty days, a tenth belongs to one
 * endpoint of the reading tenant, a tenth to its 99 others, the rest to 800
 * other tenants. Of the reading tenant's rows one in ten failed. Answers the
 * id of the one endpoint.
 */
export async function seedLog(stand: Stand, program: Program, total: number): Promise<string> {
  const endpoint = await addEndpoints(stand, program);
  await seedDeliveries(
    stand,
    { total, days: SEED_DAYS },
    {
      tenant: `CASE WHEN n % 5 = 0 THEN 'reader' ELSE 'tenant_' || (n % 1000) END`,
      endpoint: `CASE WHEN n % 10 = 0 THEN '${endpoint}'::uuid WHEN n % 10 = 5 THEN ${otherEndpoint("n / 10 % 99")}
        ELSE md5('e' || n % 1000)::uuid END`,
      isFailed: "n % 100 IN (0, 15)",
    },
  );
  return endpoint;
}

const otherEndpoint = (number: string): string => `md5('r' || ${number})::uuid`;

/** The reading tenant's endpoints: one that the service made, and 99 copies of it, to which nothing can be sent. */
async function addEndpoints(stand: Stand, program: Program): Promise<string> {
  const connection = await openConnection(await stand.target(program, "/api/webhooks", OWNER));
  const { status, body } = await connection.post('{"url":"https://127.0.0.1:8443/"}');
  connection.close();
  assert.equal(status, 201, body);
  const { id } = JSON.parse(body).endpoint;
  await stand.sql(
    `INSERT INTO postern.endpoints SELECT (jsonb_populate_record(e, jsonb_build_object('id', ${otherEndpoint("n")}))).*
      FROM postern.endpoints e, generate_series(0, 98) n WHERE e.id = $1`,
    [id],
  );
  return id;
}

/** 500 requests of each kind, one after another: milliseconds as the caller sees them. */
export async function readLog(stand: Stand, program: Program, endpoint: string) {
  const path = `/api/webhooks/${endpoint}/deliveries`;
  const connection = await openConnection(await stand.target(program, "/api/replays", OWNER));
  const first = await connection.get(`${path}?limit=100&page=10`);
  const rows: { id: string; event_id: string }[] = JSON.parse(first.body).deliveries;
  const ids = rows.map(({ id }) => id);
  assert.equal(ids.length, 100);
  const kinds: [string, (n: number) => string][] = [
    ["all endpoints", () => ALL],
    ["all endpoints, status=failed", () => `${ALL}?status=failed`],
    [IN_VAIN, () => `${ALL}?error=nothing&limit=100`],
    ["delivery by id", (n) => `${ALL}/${ids[n % ids.length]}`],
    ["first page", () => path],
    ["status=failed", () => `${path}?status=failed`],
    ["page=500", () => `${path}?page=500`],
    ["keyset page", (n) => `${path}?before=${ids[n % ids.length]}`],
    ["one delivery", (n) => `${path}/${ids[n % ids.length]}`],
    ["event", (n) => `/api/events/${rows[n % rows.length]?.event_id}`],
    ["statistics of 100 endpoints, 24 h", () => "/api/stats/endpoints?window=24h"],
    ["statistics of 100 endpoints, 30 d", () => "/api/stats/endpoints?window=30d"],
  ];
  const figures: Record<string, string> = {};
  const time = async (name: string, count: number, ask: (n: number) => Promise<Answer>) => {
    const timesMs: number[] = [];
    for (let n = 0; n < count; n++) {
      const startedAt = performance.now();
      const answer = await ask(n);
      timesMs.push(performance.now() - startedAt);
      assert.equal(answer.status, 200, answer.body);
      assert.ok(answer.body.length > 100 || name === IN_VAIN, `${name} found nothing`);
    }
    figures[`${name} p50/p99 ms`] = milliseconds(timesMs);
  };
  for (const [name, pathOf] of kinds) await time(name, READS, (n) => connection.get(pathOf(n)));
  const failures = await daysWithFailures(stand, endpoint);
  const dryRun = { endpoint_id: endpoint, select: "failed", ...failures.span, dry_run: true };
  await time(`dry run of ${failures.count} failures`, READS / 10, () =>
    connection.post(JSON.stringify(dryRun)),
  );
  connection.close();
  return { ...figures, ...(await readBesideReaders(stand, program)) };
}

type Answer = { status: number; body: string };

const milliseconds = (timesMs: readonly number[]): string =>
  `${percentile(timesMs, 0.5).toFixed(1)}/${percentile(timesMs, 0.99).toFixed(1)}`;

/** The span of the endpoint's newest failures, 10,000 at most. */
async function daysWithFailures(stand: Stand, endpoint: string) {
  const [row] = await stand.sql(
    `SELECT count(*)::int AS count, min(event_id::text) AS first FROM (
        SELECT event_id FROM postern.deliveries WHERE endpoint_id = $1 AND status = 'failed'
        ORDER BY id DESC LIMIT 10000) AS newest`,
    [endpoint],
  );
  const first = parseEventId(row?.["first"]);
  assert.ok(first !== null);
  const [from, to] = [new Date(idTimeMs(first)).toISOString(), new Date().toISOString()];
  return { count: Number(row?.["count"]), span: { from, to } };
}

/** The first page of one tenant, alone, and while another tenant has eight readers of a filter without hits. */
async function readBesideReaders(stand: Stand, program: Program) {
  const connection = await openConnection(await stand.target(program, ALL, OTHER));
  const read = async (): Promise<number[]> => {
    const timesMs: number[] = [];
    for (let n = 0; n < READS; n++) {
      const startedAt = performance.now();
      const { status, body } = await connection.get(ALL);
      timesMs.push(performance.now() - startedAt);
      assert.equal(status, 200, body);
    }
    return timesMs;
  };
  const alone = await read();
  const busy = { isOver: false };
  const target = await stand.target(program, ALL, OWNER);
  const readers = Array.from({ length: READERS }, async () => {
    const reader = await openConnection(target);
    // Too many at once are refused with 429, and ask again at once.
    while (!busy.isOver) await reader.get(`${ALL}?error=nothing&limit=100`);
    reader.close();
  });
  const beside = await read();
  busy.isOver = true;
  await Promise.all(readers);
  connection.close();
  return {
    "another tenant's first page p50/p99 ms": milliseconds(alone),
    [`the same beside ${READERS} readers in vain p50/p99 ms`]: milliseconds(beside),
  };
}
