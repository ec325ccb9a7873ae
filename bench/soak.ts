/**
 * `node bench/soak.ts [minutes]`: Postern beside every hostile receiver and a
 * healthy one. Prints memory and open files (sockets among them) as they go,
 * what the healthy receiver got, and what the log says of the others. The
 * status is 1 when something grew, was lost, or ended in another way than it must.
 */
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { BEHAVIOURS, startHostileReceiver } from "../test/support/hostile-receivers.ts";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection } from "./generator.ts";
import { nowMs } from "./http-stream.ts";
import { median, memoryMib, percentile } from "./measure.ts";
import { openStand, type Program, type Stand } from "./stand.ts";

const MINUTES = Number(process.argv[2] ?? 5);
const WARM_UP_MS = 60_000;
const SAMPLE_EVERY_MS = 5_000;
const OWNER = ownerOf("bench");
const PRODUCER = producerOf("bench");

/** Which events each kind of endpoint gets, and how often: what hangs takes fewer than it is given otherwise. */
const LOADS = {
  healthy: { type: "invoice.paid", everyMs: 20 },
  fast: { type: "invoice.overdue", everyMs: 500 },
  slow: { type: "document.signed", everyMs: 10_000 },
} as const;

type Sample = { memoryMib: number; openFiles: number };

const stand = await openStand();
try {
  process.exitCode = (await soak(stand)) ? 0 : 1;
} finally {
  await stand.close();
}

async function soak(stand: Stand): Promise<boolean> {
  const hostile = await startHostileReceiver({ certificate: stand.certificate });
  const { httpsPort } = await stand.receiver("reset");
  const program = await stand.start("up", { RETRY_SCHEDULE: "0s,5s" });
  try {
    await createEndpoints(stand, program, { hostile: hostile.port, healthy: httpsPort });
    const atStart = sample(program);
    const published = { healthy: 0, fast: 0, slow: 0 };
    const endsAtMs = nowMs() + MINUTES * 60_000;
    const senders = (["healthy", "fast", "slow"] as const).map(async (kind) => {
      published[kind] = await publishUntil(stand, program, LOADS[kind], endsAtMs);
    });
    const samples = await sampleUntil(program, endsAtMs);
    await Promise.all(senders);
    await untilDrained(stand);
    // Longer than an idle connection lives.
    await delay(15_000);
    const atEnd = sample(program);
    const report = await stand.receiver("look");
    const latencies = report.latenciesMs;
    const healthy = {
      published: published.healthy,
      delivered: report.unique,
      p50Ms: round(median(latencies)),
      p99Ms: round(percentile(latencies, 0.99)),
      maxMs: round(Math.max(...latencies)),
    };
    const grown = growth(samples);
    const endings = await readEndings(stand);
    console.table(endings);
    console.log(JSON.stringify({ minutes: MINUTES, atStart, ...grown, atEnd, healthy, published }, null, 2));
    const isSteady = grown.lateMib <= grown.earlyMib * 1.1 && grown.lateFiles <= grown.earlyFiles * 1.1;
    const isEmptied = atEnd.openFiles <= atStart.openFiles + 20;
    const isRight = endings.every(({ found, expected }) => found === expected);
    return isSteady && isEmptied && isRight && healthy.delivered === healthy.published;
  } finally {
    await hostile.close();
  }
}

async function createEndpoints(stand: Stand, program: Program, ports: { hostile: number; healthy: number }) {
  const connection = await openConnection(await stand.target(program, "/api/webhooks", OWNER));
  const create = (url: string, type: string) => connection.post(JSON.stringify({ url, events: [type] }));
  await create(`https://127.0.0.1:${ports.healthy}/ok`, LOADS.healthy.type);
  for (const [name, { isSlow }] of Object.entries(BEHAVIOURS)) {
    const load = isSlow === true ? LOADS.slow : LOADS.fast;
    await create(`https://127.0.0.1:${ports.hostile}/${name}`, load.type);
  }
  connection.close();
}

/** Answers how many events were accepted. */
async function publishUntil(
  stand: Stand,
  program: Program,
  load: { type: string; everyMs: number },
  endsAtMs: number,
): Promise<number> {
  const connection = await openConnection(await stand.target(program, "/api/events", PRODUCER));
  let accepted = 0;
  // By the clock: a machine that is behind would publish long after the end.
  for (let nextAtMs = nowMs(); nowMs() < endsAtMs; nextAtMs += load.everyMs) {
    await delay(Math.max(0, nextAtMs - nowMs()));
    const answer = await connection.post(`{"type":"${load.type}","data":{"sent_at":${nowMs()}}}`);
    if (answer.status === 202) accepted++;
  }
  connection.close();
  return accepted;
}

function sample({ pid }: Program): Sample {
  return { memoryMib: memoryMib(pid).now, openFiles: readdirSync(`/proc/${pid}/fd`).length };
}

async function sampleUntil(program: Program, endsAtMs: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  await delay(Math.min(WARM_UP_MS, (endsAtMs - nowMs()) / 4));
  while (nowMs() < endsAtMs) {
    samples.push(sample(program));
    process.stderr.write(
      `\r${JSON.stringify(samples.at(-1))}, ${Math.round((endsAtMs - nowMs()) / 1000)} s left   `,
    );
    await delay(Math.min(SAMPLE_EVERY_MS, Math.max(0, endsAtMs - nowMs())));
  }
  process.stderr.write("\n");
  return samples;
}

/** The medians of the first and of the last third after the warm-up: single values jump with the garbage collector. */
function growth(samples: readonly Sample[]) {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [early, late] = [samples.slice(0, third), samples.slice(-third)];
  return {
    earlyMib: median(early.map((one) => one.memoryMib)),
    lateMib: median(late.map((one) => one.memoryMib)),
    earlyFiles: median(early.map((one) => one.openFiles)),
    lateFiles: median(late.map((one) => one.openFiles)),
  };
}

async function untilDrained(stand: Stand): Promise<void> {
  for (;;) {
    const [row] = await stand.sql("SELECT count(*)::int AS pending FROM postern.dispatches");
    if (row?.["pending"] === 0) return;
    await delay(200);
  }
}

/** What the log says of each hostile receiver, beside what it must. */
async function readEndings(stand: Stand) {
  const rows = await stand.sql(
    `SELECT split_part(e.url, '/', 4) AS name, count(*)::int AS attempts,
       string_agg(DISTINCT coalesce(d.error, d.response_status::text), ' ') AS found
     FROM postern.deliveries d JOIN postern.endpoints e ON e.id = d.endpoint_id GROUP BY 1`,
  );
  const found = new Map(
    rows.map((row) => [String(row["name"]), [row["attempts"], row["found"]].map(String)]),
  );
  return Object.entries(BEHAVIOURS).map(([name, { ending }]) => ({
    receiver: name,
    attempts: Number(found.get(name)?.[0] ?? 0),
    found: found.get(name)?.[1] ?? "nothing",
    expected: String(ending),
  }));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
