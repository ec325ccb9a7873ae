/**
 * What tenants of one shard notice when another is silent: for `--seconds` (20)
 * before and after, 100 events a second for tenants of each, from the publish to
 * the receiver. `node bench/shard-outage.ts`, alone on the machine.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createEndpoint } from "../test/support/api.ts";
import { sharedSettings, startProgram } from "../test/support/program.ts";
import { createShards } from "../test/support/shards.ts";
import { owner, producer } from "../test/support/shard-programs.ts";
import { startReceiver } from "../test/support/tls-receiver.ts";

const TENANTS = 10;
const RATE = 100;

const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
const seconds = Number(values.seconds);

const sentAt = new Map<string, number>();
let latencies: number[] = [];
const receiver = await startReceiver({
  respond({ body }) {
    const { data } = JSON.parse(body.toString());
    const at = sentAt.get(data.key);
    if (at !== undefined) latencies.push(performance.now() - at);
    return {};
  },
});
const shards = await createShards(["eu1", "eu2"]);
const { DATABASE_URL: _, ...settings } = await sharedSettings("", receiver.caPem);
const program = await startProgram(["up"], { ...settings, SHARDS: shards.setting });

async function addTenants(shard: string): Promise<string[]> {
  const tids = Array.from({ length: TENANTS }, () => shards.newTenant(shard));
  for (const tid of tids) await createEndpoint(program, { url: receiver.url }, { as: owner(tid) });
  return tids;
}

/** Publishes for the tenants in turn, and counts the answers by status. */
async function load(tids: readonly string[], isMeasured: boolean): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const calls: Promise<void>[] = [];
  const count = async (calling: Promise<{ status: number }>): Promise<void> => {
    const { status } = await calling;
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const endsAt = performance.now() + seconds * 1000;
  for (let n = 0; performance.now() < endsAt; n++) {
    const key = `${tids[0]}-${performance.now()}`;
    if (isMeasured) sentAt.set(key, performance.now());
    const as = producer(tids[n % tids.length] ?? "");
    const json = { type: "invoice.paid", data: { key } };
    calls.push(count(program.call("POST", "/api/events", { as, json })));
    await delay(1000 / RATE);
  }
  await Promise.all(calls);
  return statuses;
}

async function measure(name: string, healthy: readonly string[], sick: readonly string[]): Promise<number> {
  latencies = [];
  const [ofHealthy, ofSick] = await Promise.all([load(healthy, true), load(sick, false)]);
  await delay(1000);
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Infinity;
  const times = `median ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, ${sorted.length} delivered`;
  console.log(`${name}: eu1 ${times}, answers ${JSON.stringify(ofHealthy)}; eu2 ${JSON.stringify(ofSick)}`);
  return at(0.99);
}

const healthy = await addTenants("eu1");
const sick = await addTenants("eu2");
await load(healthy, false);
const before = await measure("both there", healthy, sick);
shards.proxy("eu2").pause();
const silent = await measure("eu2 falls silent", healthy, sick);
const later = await measure("eu2 is silent", healthy, sick);
console.log(`p99 of eu1: ${(silent / before).toFixed(2)} and ${(later / before).toFixed(2)} times of before`);
await program.end("SIGKILL");
await receiver.close();
await shards.drop();
