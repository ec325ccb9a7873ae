/** The intake: how fast a stream with three replicas takes events without any worker, and how fast a worker relays them. */
import assert from "node:assert/strict";
import { NatsCluster, prepareNats } from "../test/support/nats-cluster.ts";
import { producerOf } from "./callers.ts";
import { sendAsFastAsAnswered } from "./generator.ts";
import { median } from "./measure.ts";
import { costOf, type Stand } from "./stand.ts";

const PRODUCER = producerOf("intake");
const PADDING = "x".repeat(260);
const COUNT = 60_000;
const SENDERS = 64;
const RUNS = 3;

const eventBody = (): string =>
  `{"type":"invoice.paid","data":{"invoice_id":"inv_1042","note":"${PADDING}"}}`;

export async function takingIn(stand: Stand) {
  const missing = prepareNats((line) => console.error(line));
  assert.equal(missing, null);
  const cluster = await NatsCluster.start(3);
  const settings = { INTAKE_URL: cluster.url };
  const api = await stand.start("api", settings);
  await cluster.leader();
  const target = await stand.target(api, "/api/events", PRODUCER);
  const rates = new Map<number, number[]>();
  const cost = await costOf(stand, [api], async () => {
    for (const batch of Array.from({ length: RUNS }, () => [1, 10, 100]).flat()) {
      const body = () =>
        batch === 1 ? eventBody() : `[${Array.from({ length: batch }, eventBody).join(",")}]`;
      const sent = await sendAsFastAsAnswered(target, { senders: SENDERS, count: COUNT / batch, body });
      assert.deepEqual([...sent.statuses.keys()], [202]);
      rates.set(batch, [...(rates.get(batch) ?? []), (COUNT / sent.elapsedMs) * 1000]);
    }
  });
  const total = COUNT * RUNS * rates.size;
  const startedAt = performance.now();
  const worker = await stand.start("worker", settings);
  while ((await storedCount(stand)) < total) await new Promise((resolve) => setTimeout(resolve, 100));
  const relayedPerS = (total / (performance.now() - startedAt)) * 1000;
  assert.equal(await storedCount(stand), total);
  await worker.stop();
  await api.stop();
  await cluster.stop();
  const middle = (batch: number): number => Math.round(median(rates.get(batch) ?? []));
  return {
    "accepted/s singly": middle(1),
    "in tens": middle(10),
    "in hundreds": middle(100),
    "relayed/s": Math.round(relayedPerS),
    "postern s/1000": Number(((cost.posternCpuS / total) * 1000).toFixed(3)),
    "peak MiB": cost.peakMib,
  };
}

async function storedCount(stand: Stand): Promise<number> {
  const [row] = await stand.sql(
    "SELECT count(*)::int AS count FROM postern.events WHERE tenant_id = 'intake'",
  );
  return Number(row?.["count"]);
}
