/**
 * `npm run bench:crash [-- rounds]`: under a steady load, kills Postern with
 * SIGKILL at a random moment of each round, and in every fifth round PostgreSQL
 * too. Afterwards every accepted event must have been delivered, the log must
 * account for each request that the receiver saw, the statistics must count
 * what the log holds, and nothing may stay leased.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection, type Target } from "./generator.ts";
import { openStand, type Program, type Stand } from "./stand.ts";

const ROUNDS = Number(process.argv[2] ?? 50);
const SENDERS = 8;
const PRODUCER = producerOf("bench");
const OWNER = ownerOf("bench");

/** Ten minutes of an endpoint that the log and the statistics count otherwise. */
const MISCOUNTED = `WITH counted AS (
    SELECT endpoint_id, at, cause, sum(count) AS count FROM (
      SELECT endpoint_id, at, cause, count FROM postern.delivery_stats
      WHERE grain = 10 AND endpoint_id <> '00000000-0000-0000-0000-000000000000'
      UNION ALL
      SELECT endpoint_id, at, cause, count FROM postern.delivery_counts
    ) AS rows GROUP BY 1, 2, 3
  ), logged AS (
    SELECT endpoint_id,
      date_bin('10 minutes', to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), 'epoch') AS at,
      CASE status WHEN 'delivered' THEN '' ELSE coalesce(error, 'http_' || response_status) END AS cause,
      count(*) AS count
    FROM postern.deliveries WHERE status <> 'test' GROUP BY 1, 2, 3
  )
  (TABLE counted EXCEPT TABLE logged) UNION ALL (TABLE logged EXCEPT TABLE counted)`;

process.env["BENCH_KEEP_IDS"] = "1";
const stand = await openStand();
try {
  await crashAgainAndAgain(stand);
} finally {
  await stand.close();
}

async function crashAgainAndAgain(stand: Stand): Promise<void> {
  const { httpsPort } = await stand.receiver("reset");
  const accepted: string[] = [];
  let program = await stand.start("up");
  const setUp = await openConnection(await stand.target(program, "/api/webhooks", OWNER));
  await setUp.post(JSON.stringify({ url: `https://127.0.0.1:${httpsPort}/ok` }));
  setUp.close();
  for (let round = 1; round <= ROUNDS; round++) {
    const target = await stand.target(program, "/api/events", PRODUCER);
    const sending = Array.from({ length: SENDERS }, () => sendUntilCutOff(target, accepted));
    await delay(100 + Math.random() * 900);
    const killsDatabase = round % 5 === 0;
    if (killsDatabase) await stand.crashPostgres();
    await program.stop("SIGKILL");
    await Promise.all(sending);
    program = await stand.start("up");
    process.stderr.write(`\rround ${round} of ${ROUNDS}, ${accepted.length} events accepted `);
  }
  await settle(stand, program, accepted);
}

/** Posts one event after another and notes each whose acceptance was answered, until the connection breaks. */
async function sendUntilCutOff(target: Target, accepted: string[]): Promise<void> {
  try {
    const connection = await openConnection(target);
    for (;;) {
      const answer = await connection.post('{"type":"invoice.paid","data":{"n":1}}');
      if (answer.status === 202) accepted.push(JSON.parse(answer.body).id);
      await delay(2);
    }
  } catch {
    // The process is gone.
  }
}

async function settle(stand: Stand, program: Program, accepted: readonly string[]): Promise<void> {
  process.stderr.write("\nwaiting for the dead processes' leases to end (a minute) …\n");
  for (;;) {
    const [row] = await stand.sql("SELECT count(*)::int AS pending FROM postern.dispatches");
    if (row?.["pending"] === 0) break;
    await delay(500);
  }
  await program.stop();
  const report = await stand.receiver("look");
  const received = new Set(report.eventIds);
  const logged = new Set(
    (await stand.sql("SELECT id FROM postern.deliveries")).map((row) => String(row["id"])),
  );
  const lost = accepted.filter((id) => !received.has(id));
  const unaccounted = report.deliveryIds.filter((id) => !logged.has(id));
  const miscounted = await stand.sql(MISCOUNTED);
  const repeated = report.deliveryIds.length - new Set(report.deliveryIds).size;
  console.log(
    JSON.stringify({
      rounds: ROUNDS,
      accepted: accepted.length,
      requests: report.deliveryIds.length,
      lost: lost.length,
      unaccounted: unaccounted.length,
      miscounted: miscounted.length,
      repeatedAfterACrash: repeated,
    }),
  );
  assert.deepEqual([lost, unaccounted, miscounted], [[], [], []]);
}
