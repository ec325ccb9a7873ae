/**
 * Retries and events of a healthy tenant beside tenants with 40,000 endpoints each, whose dispatches
 * all become due at once, and hang.
 */
import assert from "node:assert/strict";
import { sealSigningSecret } from "../src/endpoints/signing-secret.ts";
import { newEndpointId, parseTenantId } from "../src/shared/id.ts";
import { makeSecretBox } from "../src/shared/secret-box.ts";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection, sendSteadily } from "./generator.ts";
import { nowMs } from "./http-stream.ts";
import { memoryMib, percentile } from "./measure.ts";
import type { Program, Stand } from "./stand.ts";

const TENANTS = [1, 2, 10];
const ENDPOINTS = 40_000;
const PER_SECOND = 10;
const SECONDS = 15;
/** So many new endpoints keep the database busy for a while, which is not what is measured. */
const SETTLE_MS = 5000;
/** Until all that is due is in the table. */
const DUE_IN_S = 5;

const SECRET = `whsec_${"A".repeat(32)}`;
const KEY = Buffer.alloc(32, 7);
const box = makeSecretBox([KEY]);

const body = (): string => `{"type":"invoice.paid","data":{"sent_at":${nowMs()}}}`;

async function addEndpoint(stand: Stand, program: Program, tid: string, url: string): Promise<string> {
  const connection = await openConnection(await stand.target(program, "/api/webhooks", ownerOf(tid)));
  const answer = await connection.post(JSON.stringify({ url }));
  connection.close();
  assert.equal(answer.status, 201, answer.body);
  return JSON.parse(answer.body).endpoint.id;
}

/** Written into the table: over the API it would take minutes. */
async function addCrowd(stand: Stand, tid: string, url: string): Promise<void> {
  const tenantId = parseTenantId(tid);
  assert.ok(tenantId !== null);
  const ids = Array.from({ length: ENDPOINTS }, () => newEndpointId());
  const secrets = ids.map((endpointId) => sealSigningSecret(box, SECRET, { tenantId, endpointId }));
  await stand.sql(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      SELECT $1, id, $2, '{*}', secret, now(), now() FROM unnest($3::uuid[], $4::bytea[]) AS given (id, secret)`,
    [tid, url, ids, secrets],
  );
}

async function addDue(stand: Stand, tenants: number): Promise<void> {
  await stand.sql(
    `WITH event AS (
        INSERT INTO postern.events (id, tenant_id, type, body, dispatch_count)
        SELECT postern.uuid_v7(), 'crowd-' || n, 'invoice.paid', '{"type":"invoice.paid","data":{"note":"' || repeat('x', 370) || '"}}', $2 FROM generate_series(0, $1 - 1) n
        RETURNING id, tenant_id
      )
      INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT tenant_id, e.id, postern.uuid_v7(), event.id, 'invoice.paid', 2, due.at, due.at
      FROM event JOIN postern.endpoints e USING (tenant_id), (SELECT clock_timestamp() + $3 * interval '1 s' AS at) AS due`,
    [tenants, ENDPOINTS, DUE_IN_S],
  );
}

/** A retry that becomes due now; its event is of no matter. */
async function addRetry(stand: Stand, endpointId: string): Promise<void> {
  await stand.sql(
    `WITH event AS (
        INSERT INTO postern.events (id, tenant_id, type, body, dispatch_count)
        VALUES (postern.uuid_v7(), 'well', 'invoice.paid', '{"type":"invoice.paid","data":{}}', 1) RETURNING id
      )
      INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT 'well', $1, postern.uuid_v7(), id, 'invoice.paid', 2, now(), now() FROM event`,
    [endpointId],
  );
}

async function beside(stand: Stand, tenants: number) {
  const program = await stand.start("up", { INTEGRATION_ENCRYPTION_KEY: KEY.toString("base64") });
  const { httpsPort } = await stand.receiver("reset");
  const url = `https://127.0.0.1:${httpsPort}`;
  const well = await addEndpoint(stand, program, "well", `${url}/ok/well`);
  const target = await stand.target(program, "/api/events", producerOf("well"));
  for (let n = 0; n < tenants; n++) await addCrowd(stand, `crowd-${n}`, `${url}/hang/${n}`);
  await sendSteadily(target, { perSecond: 50, seconds: 2, body });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  await stand.receiver("reset");
  await addDue(stand, tenants);
  const retries = setInterval(() => void addRetry(stand, well), 1000 / PER_SECOND);
  await sendSteadily(target, { perSecond: PER_SECOND, seconds: SECONDS, body });
  clearInterval(retries);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const { latenciesMs } = await stand.receiver("look");
  // An id's first half is when its row was made, in milliseconds.
  const sent = await stand.sql(
    `SELECT (extract(epoch FROM sent_at) * 1000 - ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint)::float8 AS ms
      FROM postern.deliveries WHERE tenant_id = 'well' AND trigger = 'auto_retry'`,
  );
  const waits = sent.map(({ ms }) => Number(ms));
  const peakMib = memoryMib(program.pid).peak;
  await program.stop("SIGKILL");
  await stand.sql("TRUNCATE postern.dispatches, postern.endpoints, postern.deliveries");
  return { latenciesMs, waits, peakMib };
}

const spread = (waits: readonly number[]): string =>
  `${[0.5, 0.99, 1].map((share) => percentile(waits, share).toFixed(0)).join(", ")} of ${waits.length}`;

/** For each number of tenants: p50, p99 and the longest. */
export async function dueAtOnce(stand: Stand) {
  const figures: Record<string, string> = {};
  for (const tenants of TENANTS) {
    const { latenciesMs, waits, peakMib } = await beside(stand, tenants);
    figures[`ms beside ${tenants}`] =
      `retries ${spread(waits)}; events ${spread(latenciesMs)}; ${peakMib} MiB`;
  }
  return { task: "ND healthy beside 40,000 endpoints that are due at once", ...figures };
}
