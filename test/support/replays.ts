/** What tests of replays do again and again: a log to replay, asking, and waiting for the end. */
import assert from "node:assert/strict";
import * as z from "zod";
import { replayCountObject, replayObject } from "../../src/api/replay-schemas.ts";
import type { Pool } from "../../src/database/pool.ts";
import { OWNER, type ApiAnswer, type CallOptions } from "./calls.ts";
import { eventually } from "./eventually.ts";

export type Replay = z.infer<typeof replayObject>;
type Caller = { call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer> };

const answered = z.strictObject({ replay: replayObject.strict() });
const listed = z.strictObject({ replays: z.array(replayObject.strict()) });

/** The last hour. */
export function range(): { from: string; to: string } {
  const now = Date.now();
  return { from: new Date(now - 3_600_000).toISOString(), to: new Date(now + 3_600_000).toISOString() };
}

/**
 * Events of a tenant half an hour ago, a millisecond apart, and a failed attempt
 * of each at an endpoint; `endpoint` null: none. Answers their ids, oldest first.
 */
export async function seedEvents(
  pool: Pool,
  given: {
    tenant?: string;
    endpoint: string | null;
    count: number;
    type?: string;
    status?: number;
    minutesAgo?: number;
  },
): Promise<string[]> {
  const { tenant = "acme", endpoint, count, type = "invoice.paid", status = 500, minutesAgo = 30 } = given;
  const { rows } = await pool.query<{ id: string }>(
    `WITH made AS (
        SELECT n, overlay(postern.lowest_id_at(now() - make_interval(mins => $6) + n * interval '1 ms')::text
          placing '7' || right(gen_random_uuid()::text, 21) from 15)::uuid AS id
        FROM generate_series(1, $1::int) n
      ), events AS (
        INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
        SELECT $2, id, $3, '{"n":' || n || '}', 1 FROM made RETURNING id
      ), failed AS (
        INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, response_status, latency_ms)
        SELECT $2, $4, postern.uuid_v7(), id, $3, 'event', 'failed', 1, '{}', $5, 1 FROM made WHERE $4::uuid IS NOT NULL
      )
      SELECT id FROM made ORDER BY id`,
    [count, tenant, type, endpoint, status, minutesAgo],
  );
  return rows.map(({ id }) => id);
}

export function replaysOf(service: Caller, as = OWNER) {
  const call = (method: string, path: string, options: CallOptions = {}) =>
    service.call(method, `/api/replays${path}`, { as, ...options });

  async function expect(status: number, method: string, path: string, json?: unknown): Promise<unknown> {
    const answer = await call(method, path, { json });
    assert.equal(answer.status, status, answer.text);
    return answer.body;
  }

  async function get(id: string): Promise<Replay> {
    return answered.parse(await expect(200, "GET", `/${id}`)).replay;
  }

  return {
    call,
    get,
    async create(json: Record<string, unknown>): Promise<Replay> {
      return answered.parse(await expect(202, "POST", "", { ...range(), ...json })).replay;
    },
    async count(json: Record<string, unknown>): Promise<z.infer<typeof replayCountObject>> {
      const body = await expect(200, "POST", "", { ...range(), ...json, dry_run: true });
      return replayCountObject.strict().parse(body);
    },
    async list(query = ""): Promise<Replay[]> {
      return listed.parse(await expect(200, "GET", query)).replays;
    },
    async cancel(id: string): Promise<Replay> {
      return answered.parse(await expect(200, "POST", `/${id}/cancel`)).replay;
    },
    waitForEnd(id: string): Promise<Replay> {
      return eventually(async () => {
        const found = await get(id);
        return found.status !== "running" && found;
      });
    },
  };
}

export type Replays = ReturnType<typeof replaysOf>;
