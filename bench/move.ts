/**
 * How long it takes to move a tenant between two servers while it publishes:
 * `node bench/move.ts [rows of its log] [dispatches that wait]`, by default
 * 1,000,000 and 100,000, alone on the machine.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { createEndpoint } from "../test/support/api.ts";
import { runProgram, sharedSettings, startProgram } from "../test/support/program.ts";
import { startReplicated } from "../test/support/replicated-postgres.ts";
import { issueTestToken } from "../test/support/calls.ts";
import { eventually } from "../test/support/eventually.ts";
import { owner, producer } from "../test/support/shard-programs.ts";
import { newTenants } from "../test/support/shards.ts";
import { startReceiver } from "../test/support/tls-receiver.ts";
import { POSTGRES_SETTINGS } from "./database.ts";
import { openConnection, type Target } from "./generator.ts";
import { seedDeliveries } from "./seed.ts";

const [rows = 1_000_000, waiting = 100_000] = process.argv.slice(2).map(Number);
const NAMES = ["eu1", "eu2"];
const PAUSE_MS = 5;
/** Of a log that is moved in parts, day by day. */
const DAYS = 5;

const settings = { ...POSTGRES_SETTINGS, autovacuum: "on", wal_level: "logical" };
const clusters = [await startReplicated(1, settings), await startReplicated(1, settings)];
const receiver = await startReceiver();
try {
  const { DATABASE_URL: _, ...shared } = await sharedSettings("", receiver.caPem);
  const env = { ...shared, SHARDS: clusters.map(({ url }, n) => `${NAMES[n]}=${url}`).join("|") };
  const program = await startProgram(["up"], env);
  const tid = newTenants(NAMES, "tenant")("eu1");
  const { endpoint } = await createEndpoint(program, { url: receiver.url }, { as: owner(tid) });
  await seed(tid, endpoint.id);

  const { hostname, port } = new URL(program.url);
  const token = await issueTestToken(env, producer(tid));
  const load = publish({ host: hostname, port: Number(port), path: "/api/events", token });
  await delay(2000);
  const begunAt = performance.now();
  const { code, output, errors } = await runProgram(["tenants", "move", tid, "--to", "eu2"], env);
  const seconds = (performance.now() - begunAt) / 1000;
  assert.equal(code, 0, `${output}\n${errors}`);
  await delay(2000);
  const { accepted, longestMs, refused } = await load.stop();
  await eventually(async () => new Set(receiver.requests.map(idOf)).size >= accepted);
  console.log(
    JSON.stringify({
      rows,
      waiting,
      seconds: Number(seconds.toFixed(1)),
      longestWithoutAnAcceptedEventS: Number((longestMs / 1000).toFixed(2)),
      accepted,
      refused,
      requests: receiver.requests.length,
    }),
  );
  await program.end("SIGKILL");
} finally {
  await receiver.close();
  for (const cluster of clusters) await cluster.close();
}

function idOf({ headers }: { headers: Record<string, unknown> }): string {
  return String(headers["webhook-id"]);
}

/** The log, and retries that are due in an hour. */
async function seed(tid: string, endpointId: string): Promise<void> {
  const [server] = clusters[0]?.servers ?? [];
  assert.ok(server !== undefined);
  const pool = server.openPool();
  const sql = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
  const row = { tenant: `'${tid}'`, endpoint: `'${endpointId}'::uuid`, isFailed: "n % 50 = 0" };
  await seedDeliveries({ sql }, { total: rows, days: DAYS }, row);
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT tenant_id, $1, postern.uuid_v7(), id, type, 2, now() + interval '1 hour', now() + interval '1 hour'
      FROM postern.events WHERE tenant_id = $2 ORDER BY id DESC LIMIT $3`,
    [endpointId, tid, waiting],
  );
  await sql("VACUUM ANALYZE postern.dispatches");
  await pool.end();
}

/** One event after the other. An answer other than 202 is counted, and the next event is sent. */
function publish(target: Target) {
  const over = new AbortController();
  let accepted = 0;
  let refused = 0;
  let longestMs = 0;
  const work = (async () => {
    const connection = await openConnection(target);
    let acceptedAt = performance.now();
    while (!over.signal.aborted) {
      const { status } = await connection.post('{"type":"invoice.paid","data":{"n":1}}');
      if (status === 202) {
        longestMs = Math.max(longestMs, performance.now() - acceptedAt);
        acceptedAt = performance.now();
        accepted++;
      } else refused++;
      await delay(PAUSE_MS);
    }
    connection.close();
  })();
  return {
    async stop() {
      over.abort();
      await work;
      return { accepted, refused, longestMs };
    },
  };
}
