/** Fetching: how fast one client empties a pull endpoint, and how long an event takes to one that waits. */
import assert from "node:assert/strict";
import * as z from "zod";
import { ownerOf, producerOf } from "./callers.ts";
import { sendAsFastAsAnswered, sendSteadily, type Target } from "./generator.ts";
import { nowMs } from "./http-stream.ts";
import { percentile } from "./measure.ts";
import { costOf, type Program, type Stand } from "./stand.ts";

const OWNER = ownerOf("puller");
const PRODUCER = producerOf("puller");
const PADDING = "x".repeat(260);
const BACKLOG = 30_000;
const [PER_SECOND, SECONDS] = [100, 20];

const leaseAnswer = z.object({
  lease_id: z.string().nullable(),
  events: z.array(z.object({ id: z.string(), body: z.string() })),
});

const eventBody = (): string =>
  `{"type":"invoice.paid","data":{"invoice_id":"inv_1042","sent_at":${nowMs()},"note":"${PADDING}"}}`;

async function post({ host, port, token }: Target, path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`http://${host}:${port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text);
}

/** One call after the other: leases, and acknowledges all of it, until it has had so many. Answers how long each took since it was published. */
async function fetchAll(target: Target, path: string, count: number, limit: number): Promise<number[]> {
  const latenciesMs: number[] = [];
  while (latenciesMs.length < count) {
    const lease = leaseAnswer.parse(await post(target, `${path}/leases`, { limit, wait_s: 10 }));
    const now = nowMs();
    for (const { body } of lease.events) latenciesMs.push(now - JSON.parse(body).data.sent_at);
    if (lease.events.length === 0) continue;
    const acks = lease.events.map(({ id }) => ({ id }));
    const acked = Object(await post(target, `${path}/acks`, { lease_id: lease.lease_id, acks }));
    assert.equal(acked.delivered, acks.length);
  }
  return latenciesMs;
}

export async function fetching(stand: Stand, program: Program) {
  const target = await stand.target(program, "", OWNER);
  const events = await stand.target(program, "/api/events", PRODUCER);
  const input = { url: "https://127.0.0.1:8443/", mode: "pull" };
  const path = `/api/webhooks/${Object(await post(target, "/api/webhooks", input)).endpoint.id}`;
  const ratesPerS: number[] = [];
  let cpu = { postern: 0, postgres: 0, peakMib: 0 };
  for (let run = 0; run < 3; run++) {
    const batch = () => `[${Array.from({ length: 100 }, eventBody).join(",")}]`;
    const sent = await sendAsFastAsAnswered(events, { senders: 4, count: BACKLOG / 100, body: batch });
    assert.deepEqual([...sent.statuses.keys()], [202]);
    const startedAt = performance.now();
    const cost = await costOf(stand, [program], async () => {
      assert.equal((await fetchAll(target, path, BACKLOG, 1000)).length, BACKLOG);
    });
    ratesPerS.push((BACKLOG / (performance.now() - startedAt)) * 1000);
    cpu = { postern: cost.posternCpuS, postgres: cost.postgresCpuS, peakMib: cost.peakMib };
  }
  const waiting = fetchAll(target, path, PER_SECOND * SECONDS, 100);
  await sendSteadily(events, { perSecond: PER_SECOND, seconds: SECONDS, body: eventBody });
  const latenciesMs = await waiting;
  const [row] = await stand.sql(
    "SELECT count(*)::int AS delivered FROM postern.deliveries WHERE tenant_id = 'puller' AND status = 'delivered'",
  );
  assert.equal(row?.["delivered"], 3 * BACKLOG + PER_SECOND * SECONDS);
  return {
    "fetched/s": Math.round(percentile(ratesPerS, 0.5)),
    range: `${Math.round(Math.min(...ratesPerS))}-${Math.round(Math.max(...ratesPerS))}`,
    "p50 ms": Number(percentile(latenciesMs, 0.5).toFixed(1)),
    "p99 ms": Number(percentile(latenciesMs, 0.99).toFixed(1)),
    "postern s/1000": Number(((cpu.postern / BACKLOG) * 1000).toFixed(3)),
    "postgres s/1000": Number(((cpu.postgres / BACKLOG) * 1000).toFixed(3)),
    "peak MiB": cpu.peakMib,
  };
}
