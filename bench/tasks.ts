/** What is measured. Each task starts its own programs on the stand and answers one row of figures. */
import assert from "node:assert/strict";
import { ownerOf, producerOf } from "./callers.ts";
import { dueAtOnce } from "./due-at-once.ts";
import { exportLog, seedExportLog } from "./export-task.ts";
import { openConnection, sendAsFastAsAnswered, sendSteadily, type Target } from "./generator.ts";
import { nowMs } from "./http-stream.ts";
import { takingIn } from "./intake-task.ts";
import { readLog, seedLog } from "./log-tasks.ts";
import { median, memoryMib, percentile } from "./measure.ts";
import { noisyNeighbours } from "./noisy-neighbours.ts";
import { fetching } from "./pull-task.ts";
import { asFastAsAnswered, atSteadyRate, spread } from "./shards-task.ts";
import { besideStandby } from "./standby-task.ts";
import { costOf, type Program, type Stand } from "./stand.ts";
import { watched } from "./watchers-task.ts";
import { weigh } from "./weigh-task.ts";

export type Row = { task: string; [figure: string]: string | number };

const PRODUCER = producerOf("bench");
const OWNER = ownerOf("bench");
const PADDING = "x".repeat(260);

/** About 400 bytes, as the receiver gets it. */
function eventBody(): string {
  return `{"type":"invoice.paid","data":{"invoice_id":"inv_1042","sent_at":${nowMs()},"note":"${PADDING}"}}`;
}

async function createEndpoint(stand: Stand, program: Program, url: string, events = ["*"]): Promise<string> {
  const connection = await openConnection(await stand.target(program, "/api/webhooks", OWNER));
  const answer = await connection.post(JSON.stringify({ url, events }));
  connection.close();
  assert.equal(answer.status, 201, answer.body);
  return JSON.parse(answer.body).endpoint.id;
}

async function deleteEndpoints(stand: Stand): Promise<void> {
  await stand.sql("UPDATE postern.endpoints SET deleted_at = now() WHERE deleted_at IS NULL");
}

/** Waits until the receiver has had so many requests, or so many that are timed, and answers what it saw. */
async function received(stand: Stand, count: number, { timed = false } = {}) {
  for (;;) {
    const report = await stand.receiver("look");
    if ((timed ? report.latenciesMs.length : report.requests) >= count) return report;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The log must say what the receiver saw: a fast sender that records nothing would be no sender. */
async function assertLogged(stand: Stand, count: number): Promise<void> {
  for (;;) {
    const [row] = await stand.sql(
      "SELECT count(*)::int AS pending FROM postern.dispatches WHERE endpoint_id IN (SELECT id FROM postern.endpoints WHERE deleted_at IS NULL)",
    );
    if (row?.["pending"] === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [row] = await stand.sql(
    "SELECT count(*)::int AS delivered FROM postern.deliveries WHERE status = 'delivered' AND endpoint_id IN (SELECT id FROM postern.endpoints WHERE deleted_at IS NULL)",
  );
  assert.equal(row?.["delivered"], count);
}

/** `path`: what the receiver answers to, and how. */
type Burst = { count: number; senders: number; endpoints?: number; batch?: number; path?: string };

async function burst(stand: Stand, programs: readonly Program[], api: Program, load: Burst) {
  const { receiver, postern } = { receiver: await stand.receiver("reset"), postern: api };
  const { endpoints = 1, batch = 1, path = "/ok" } = load;
  for (let n = 0; n < endpoints; n++) {
    await createEndpoint(stand, postern, `https://127.0.0.1:${receiver.httpsPort}${path}/${n}`);
  }
  const target = await stand.target(postern, "/api/events", PRODUCER);
  const expected = load.count * endpoints;
  let elapsedMs = 0;
  let deliveredMs = 0;
  const cost = await costOf(stand, programs, async () => {
    const startedAt = nowMs();
    const sent = await sendAsFastAsAnswered(target, {
      senders: load.senders,
      count: load.count / batch,
      body: () => (batch === 1 ? eventBody() : `[${Array.from({ length: batch }, eventBody).join(",")}]`),
    });
    assert.deepEqual([...sent.statuses.keys()], [202]);
    elapsedMs = sent.elapsedMs;
    deliveredMs = (await received(stand, expected)).lastAtMs - startedAt;
  });
  await assertLogged(stand, expected);
  const report = await stand.receiver("look");
  await deleteEndpoints(stand);
  return {
    acceptedPerS: (load.count / elapsedMs) * 1000,
    deliveredPerS: (expected / deliveredMs) * 1000,
    unique: report.unique,
    duplicates: report.requests - report.unique,
    latencyP50Ms: median(report.latenciesMs),
    connections: report.connections,
    posternCpuPer1000: (cost.posternCpuS / expected) * 1000,
    postgresCpuPer1000: (cost.postgresCpuS / expected) * 1000,
    peakMib: cost.peakMib,
  };
}

const ONE_ENDPOINT: Burst = { count: 20_000, senders: 16 };
const TWENTY_ENDPOINTS: Burst = { count: 1000, senders: 16, endpoints: 20 };

type Figures = Awaited<ReturnType<typeof burst>>;

function burstRow(task: string, runs: Figures[]): Row {
  const middle = (read: (run: Figures) => number): number => median(runs.map(read));
  const range = runs.map((run) => Math.round(run.deliveredPerS));
  return {
    task,
    "accepted/s": Math.round(middle((run) => run.acceptedPerS)),
    "delivered/s": Math.round(middle((run) => run.deliveredPerS)),
    range: `${Math.min(...range)}-${Math.max(...range)}`,
    duplicates: Math.max(...runs.map((run) => run.duplicates)),
    "p50 ms": round(middle((run) => run.latencyP50Ms)),
    "postern s/1000": round(
      middle((run) => run.posternCpuPer1000),
      3,
    ),
    "postgres s/1000": round(
      middle((run) => run.postgresCpuPer1000),
      3,
    ),
    "peak MiB": Math.max(...runs.map((run) => run.peakMib)),
  };
}

async function repeatedBurst(stand: Stand, task: string, load: Burst): Promise<Row> {
  const program = await stand.start("up");
  const runs: Figures[] = [];
  for (let run = 0; run < 3; run++) runs.push(await burst(stand, [program], program, load));
  await program.stop();
  return burstRow(task, runs);
}

/** A process compiles its code in its first second; the latency of a service is that of one that has been running. */
async function warmUp(stand: Stand, target: Target): Promise<void> {
  await sendSteadily(target, { perSecond: 100, seconds: 3, body: eventBody });
  await received(stand, 300);
  await stand.receiver("reset");
}

async function steady(stand: Stand): Promise<Row> {
  const program = await stand.start("up");
  const idleMib = memoryMib(program.pid).now;
  const { httpsPort } = await stand.receiver("reset");
  await createEndpoint(stand, program, `https://127.0.0.1:${httpsPort}/ok`);
  const target = await stand.target(program, "/api/events", PRODUCER);
  await warmUp(stand, target);
  const cost = await costOf(stand, [program], async () => {
    await sendSteadily(target, { perSecond: 100, seconds: 20, body: eventBody });
  });
  const { latenciesMs } = await received(stand, 2000);
  await deleteEndpoints(stand);
  await program.stop();
  return {
    task: "B steady 100/s",
    ...latencyFigures(latenciesMs),
    "postern s/1000": round(cost.posternCpuS / 2, 3),
    "postgres s/1000": round(cost.postgresCpuS / 2, 3),
    "idle MiB": idleMib,
  };
}

/** The same load beside two healthy endpoints tells what is due to the load, and what to the neighbours' state. */
async function neighbours(stand: Stand): Promise<Row> {
  const healthy = await latenciesBeside(stand, ["/ok/1", "/ok/2"]);
  const sick = await latenciesBeside(stand, ["/hang", "/fail"]);
  return {
    task: "F healthy beside hanging and failing",
    ...latencyFigures(sick),
    "p99 ms beside healthy": round(percentile(healthy, 0.99)),
  };
}

async function latenciesBeside(stand: Stand, neighbourPaths: readonly string[]): Promise<number[]> {
  const program = await stand.start("up");
  const { httpsPort } = await stand.receiver("reset");
  const url = (path: string): string => `https://127.0.0.1:${httpsPort}${path}`;
  for (const path of neighbourPaths) await createEndpoint(stand, program, url(path), ["payment.failed"]);
  await createEndpoint(stand, program, url("/ok"), ["invoice.paid"]);
  const target = await stand.target(program, "/api/events", PRODUCER);
  await warmUp(stand, target);
  const others = `{"type":"payment.failed","data":{"note":"${PADDING}"}}`;
  await Promise.all([
    sendSteadily(target, { perSecond: 500, seconds: 20, body: () => others }),
    sendSteadily(target, { perSecond: 100, seconds: 20, body: eventBody }),
  ]);
  const { latenciesMs } = await received(stand, 2000, { timed: true });
  await deleteEndpoints(stand);
  await program.stop("SIGKILL");
  return latenciesMs;
}

async function apart(
  stand: Stand,
  task: string,
  { workers: workerCount, load }: { workers: number; load: Burst },
): Promise<Row> {
  const api = await stand.start("api");
  const workers = await startWorkers(stand, workerCount);
  const runs: Figures[] = [];
  // Each process compiles what it runs before it is measured: of several, each has less time for it.
  await burst(stand, [api, ...workers], api, load);
  for (let run = 0; run < 3; run++) runs.push(await burst(stand, [api, ...workers], api, load));
  for (const program of [api, ...workers]) await program.stop();
  return burstRow(task, runs);
}

/** Workers that share the endpoints. */
async function startWorkers(stand: Stand, count: number): Promise<Program[]> {
  const workers: Program[] = [];
  while (workers.length < count) workers.push(await stand.start("worker"));
  for (;;) {
    const parts = await stand.sql("SELECT count(*)::int AS part FROM postern.slots GROUP BY owner");
    if (parts.length === count && parts.every(({ part }) => Number(part) >= Math.floor(256 / count)))
      return workers;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Attempts at one endpoint in each whole second, by the log. */
async function limited(stand: Stand): Promise<Row> {
  const [perSecond, seconds] = [50, 30];
  const api = await stand.start("api");
  const workers = await startWorkers(stand, 4);
  const { httpsPort } = await stand.receiver("reset");
  const id = await createEndpoint(stand, api, `https://127.0.0.1:${httpsPort}/ok`);
  await stand.sql("UPDATE postern.endpoints SET rate_limit = $2 WHERE id = $1", [id, perSecond]);
  const count = perSecond * seconds;
  const target = await stand.target(api, "/api/events", PRODUCER);
  await sendAsFastAsAnswered(target, { senders: 16, count, body: eventBody });
  await received(stand, count);
  await assertLogged(stand, count);
  const rows = await stand.sql(
    "SELECT count(*)::int AS sent FROM postern.deliveries WHERE endpoint_id = $1 GROUP BY date_trunc('second', sent_at) ORDER BY min(sent_at)",
    [id],
  );
  for (const program of [api, ...workers]) await program.stop();
  await deleteEndpoints(stand);
  const sent = rows.slice(1, -1).map((row) => Number(row["sent"]));
  return {
    task: "R rate limit of 50 over four workers",
    "least/s": Math.min(...sent),
    "most/s": Math.max(...sent),
  };
}

/** The yardstick: how fast the generator is straight into the receiver, over plain HTTP. */
async function yardstick(stand: Stand): Promise<Row> {
  const { httpPort } = await stand.receiver("reset");
  const target: Target = { host: "127.0.0.1", port: httpPort, path: "/ok", token: "none" };
  const runs: number[] = [];
  for (let run = 0; run < 3; run++) {
    const { elapsedMs } = await sendAsFastAsAnswered(target, { senders: 16, count: 60_000, body: eventBody });
    runs.push(Math.round(60_000 / (elapsedMs / 1000)));
  }
  return {
    task: "yardstick",
    "accepted/s": median(runs),
    range: `${Math.min(...runs)}-${Math.max(...runs)}`,
  };
}

async function log(stand: Stand): Promise<Row> {
  const program = await stand.start("up");
  const figures = await readLog(stand, program, await seedLog(stand, program, 1_000_000));
  await program.stop();
  return { task: "E log of 1,000,000", ...figures };
}

async function growth(stand: Stand): Promise<Row> {
  await stand.sql("TRUNCATE postern.deliveries, postern.events");
  const program = await stand.start("up");
  const figures = await readLog(stand, program, await seedLog(stand, program, 10_000_000));
  await program.stop();
  const row = await repeatedBurst(stand, "G burst with a log of 10,000,000", { count: 20_000, senders: 16 });
  return { ...row, ...figures };
}

async function exporting(stand: Stand, formats: readonly string[]): Promise<Row> {
  await stand.sql("TRUNCATE postern.deliveries");
  await seedExportLog(stand, 1_000_000);
  const program = await stand.start("up");
  const figures = await exportLog(stand, program, formats);
  await program.stop();
  return { task: `X export of 1,000,000 as ${formats.join(" and ")}`, ...figures };
}

/** A with every request body kept: what the hot path pays for it, and what the keeping costs beside it. */
async function keeping(stand: Stand): Promise<Row> {
  const program = await stand.start("up");
  const { host, port, path, token } = await stand.target(program, "/api/storage/settings", OWNER);
  const answer = await fetch(`http://${host}:${port}${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ keep_request_bodies: true, keep_response_bodies: false, artifact_days: null }),
  });
  assert.equal(answer.status, 200, await answer.text());
  const runs: Figures[] = [];
  for (let run = 0; run < 3; run++)
    runs.push(await burst(stand, [program], program, { count: 10_000, senders: 16 }));
  await program.stop();
  await stand.sql("TRUNCATE postern.bodies_to_keep, postern.tenant_settings");
  return burstRow("K burst, request bodies kept", runs);
}

/** A with an answer as most servers give it. */
async function weighing(stand: Stand): Promise<Row> {
  const figures = await weigh(stand, async (program) => {
    await burst(stand, [program], program, { ...ONE_ENDPOINT, path: "/ok/usual" });
    return ONE_ENDPOINT.count;
  });
  return { task: "W bytes of a delivery", ...figures };
}

async function pulling(stand: Stand): Promise<Row> {
  const program = await stand.start("up", { RATE_LIMIT_FETCHES: "0" });
  const figures = await fetching(stand, program);
  await program.stop();
  return { task: "P one client that fetches", ...figures };
}

function latencyFigures(latenciesMs: readonly number[]) {
  return {
    "p50 ms": round(percentile(latenciesMs, 0.5)),
    "p95 ms": round(percentile(latenciesMs, 0.95)),
    "p99 ms": round(percentile(latenciesMs, 0.99)),
  };
}

function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

export const TASKS: Readonly<Record<string, (stand: Stand) => Promise<Row>>> = {
  yardstick,
  A: (stand) => repeatedBurst(stand, "A burst, 16 senders", { count: 20_000, senders: 16 }),
  A64: (stand) => repeatedBurst(stand, "A burst, 64 senders", { count: 20_000, senders: 64 }),
  B: steady,
  C: (stand) => repeatedBurst(stand, "C fan-out to 10", { count: 2000, senders: 16, endpoints: 10 }),
  C100: (stand) => repeatedBurst(stand, "C fan-out to 100", { count: 1000, senders: 16, endpoints: 100 }),
  D: async (stand) => ({
    task: "D eight tenants in 1, 2 and 4 databases",
    ...(await spread(stand, asFastAsAnswered)),
  }),
  DS: async (stand) => ({
    task: "D at 400 events a second to each database",
    ...(await spread(stand, atSteadyRate)),
  }),
  E: log,
  F: neighbours,
  G: growth,
  H: (stand) => apart(stand, "H api and worker apart", { workers: 1, load: ONE_ENDPOINT }),
  H2: (stand) => apart(stand, "H api and two workers", { workers: 2, load: ONE_ENDPOINT }),
  HC: (stand) => apart(stand, "HC api and worker, 20 endpoints", { workers: 1, load: TWENTY_ENDPOINTS }),
  HC2: (stand) =>
    apart(stand, "HC api and two workers, 20 endpoints", { workers: 2, load: TWENTY_ENDPOINTS }),
  I: async (stand) => ({ task: "I intake, three replicas", ...(await takingIn(stand)) }),
  R: limited,
  S: async () => ({
    task: "S burst, synchronous standby on the same machine",
    ...(await besideStandby((stand, program) => burst(stand, [program], program, ONE_ENDPOINT))),
  }),
  L: watched,
  N: noisyNeighbours,
  ND: dueAtOnce,
  K: keeping,
  W: weighing,
  P: pulling,
  X: (stand) => exporting(stand, ["ndjson", "csv"]),
  XP: (stand) => exporting(stand, ["parquet"]),
  batches: (stand) => repeatedBurst(stand, "H batches of 100", { count: 20_000, senders: 16, batch: 100 }),
};
