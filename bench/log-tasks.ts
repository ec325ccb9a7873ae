/** Reading the delivery log when it is long, and sending while it is. */
import assert from "node:assert/strict";
import type { TokenClaims } from "../src/api/session-token.ts";
import { openConnection } from "./generator.ts";
import { percentile } from "./measure.ts";
import { seedDeliveries } from "./seed.ts";
import type { Program, Stand } from "./stand.ts";

const OWNER: TokenClaims = { type: "user", tid: "reader", sub: "bench", role: "owner" };
const ENDPOINT = "01900000-0000-7000-8000-000000000001";
const ALL = "/api/deliveries";
/** Uses up the rows that one request may look at. */
const IN_VAIN = "search in vain";
const READS = 500;
const SEED_DAYS = 20;

/**
 * Fills the log: of `total` rows over twenty days, a tenth belongs to one
 * endpoint of the reading tenant, the rest to 1,000 other tenants. One in a hundred failed.
 */
export async function seedLog(stand: Stand, total: number): Promise<void> {
  await seedDeliveries(
    stand,
    { total, days: SEED_DAYS },
    {
      tenant: `CASE WHEN n % 10 = 0 THEN 'reader' ELSE 'tenant_' || (n % 1000) END`,
      endpoint: `CASE WHEN n % 10 = 0 THEN '${ENDPOINT}'::uuid ELSE md5('e' || n % 1000)::uuid END`,
      isFailed: "n % 100 = 0",
    },
  );
}

/** 500 requests of each kind, one after another: milliseconds as the caller sees them. */
export async function readLog(stand: Stand, program: Program) {
  const path = `/api/webhooks/${ENDPOINT}/deliveries`;
  const connection = await openConnection(await stand.target(program, path, OWNER));
  const first = await connection.get(`${path}?limit=100&page=10`);
  const ids: string[] = JSON.parse(first.body).deliveries.map((delivery: { id: string }) => delivery.id);
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
  ];
  const figures: Record<string, string> = {};
  for (const [name, pathOf] of kinds) {
    const timesMs: number[] = [];
    for (let n = 0; n < READS; n++) {
      const startedAt = performance.now();
      const answer = await connection.get(pathOf(n));
      timesMs.push(performance.now() - startedAt);
      assert.equal(answer.status, 200, answer.body);
      assert.ok(answer.body.length > 100 || name === IN_VAIN, `${name} found nothing`);
    }
    figures[`${name} p50/p99 ms`] =
      `${percentile(timesMs, 0.5).toFixed(1)}/${percentile(timesMs, 0.99).toFixed(1)}`;
  }
  connection.close();
  return figures;
}
