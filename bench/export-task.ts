/** Exporting a long log: how long it takes, and how much memory. */
import assert from "node:assert/strict";
import type { TokenClaims } from "../src/api/session-token.ts";
import { openConnection } from "./generator.ts";
import { memoryMib } from "./measure.ts";
import { costOf, type Program, type Stand } from "./stand.ts";

const OWNER: TokenClaims = { type: "user", tid: "exporter", sub: "bench", role: "owner" };
const DAYS = 20;
const STEP = 100_000;

/** Rows of one tenant over twenty days and ten endpoints, each with an event of about 400 bytes and the usual headers. */
export async function seedExportLog(stand: Stand, total: number): Promise<void> {
  await stand.sql(
    `SELECT postern.ensure_partitions((now() AT TIME ZONE 'UTC')::date - $1::int, (now() AT TIME ZONE 'UTC')::date)`,
    [DAYS + 1],
  );
  for (let from = 0; from < total; from += STEP) {
    await stand.sql(
      `WITH row AS MATERIALIZED (
          SELECT n, md5('e' || n % 10)::uuid AS endpoint_id,
            overlay(postern.lowest_id_at(now() - make_interval(secs => (1 - n::float8 / $3) * 86400 * ${DAYS}))::text
              placing right(gen_random_uuid()::text, 21) from 16)::uuid AS id
          FROM generate_series($1::bigint, $2::bigint) n
        ), event AS (
          INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count)
          SELECT 'exporter', id, 'invoice.paid', '{"id":"' || id || '","event":"invoice.paid","data":{"n":' || n
            || ',"note":"' || repeat(md5(n::text), 9) || '"}}', 1 FROM row
        )
        INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
          request_headers, response_status, response_headers, response_body, latency_ms)
        SELECT 'exporter', endpoint_id, id, id, 'invoice.paid', 'event', 'delivered', 1,
          json_build_object('Content-Type', 'application/json', 'User-Agent', 'Postern/0.1.0', 'webhook-id', id,
            'webhook-signature', 'v1,' || md5(id::text) || md5(n::text)), 200,
          '{"content-type":"text/plain","content-length":"2"}', 'ok', 12
        FROM row`,
      [from, Math.min(from + STEP, total) - 1, total],
    );
  }
  await stand.sql("VACUUM ANALYZE postern.deliveries, postern.events");
}

/** From asking to the archive that can be downloaded, and what it cost. */
export async function exportLog(stand: Stand, program: Program) {
  const path = "/api/storage/exports";
  const connection = await openConnection(await stand.target(program, path, OWNER));
  const before = memoryMib(program.pid).now;
  const startedAt = performance.now();
  let found = { status: "", progress: { rows_done: 0, bytes: 0 }, error: "" };
  const cost = await costOf(stand, [program], async () => {
    const day = 86_400_000;
    const [from, to] = [Date.now() - (DAYS + 1) * day, Date.now()].map((ms) => new Date(ms).toISOString());
    const asked = await connection.post(JSON.stringify({ from, to }));
    assert.equal(asked.status, 202, asked.body);
    const { id } = JSON.parse(asked.body);
    while (found.status !== "ready") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      found = JSON.parse((await connection.get(`${path}/${id}`)).body);
      assert.notEqual(found.status, "failed", found.error);
    }
  });
  const seconds = (performance.now() - startedAt) / 1000;
  connection.close();
  return {
    deliveries: found.progress.rows_done,
    s: Number(seconds.toFixed(1)),
    "archive bytes": found.progress.bytes,
    "MiB before": before,
    "peak MiB": cost.peakMib,
    "postern CPU s": Number(cost.posternCpuS.toFixed(1)),
    "postgres CPU s": Number(cost.postgresCpuS.toFixed(1)),
  };
}
