/** What spreading costs: events to eight tenants that live in one database, in two and in four, with the same load for each database. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createPool } from "../src/database/pool.ts";
import { makeChooser } from "../src/shards/choose-shard.ts";
import { ownerOf, producerOf } from "./callers.ts";
import { openConnection, sendAsFastAsAnswered, sendSteadily, type Target } from "./generator.ts";
import { median } from "./measure.ts";
import { costOf, type Program, type Stand } from "./stand.ts";

const COUNTS = [1, 2, 4];
const ROUNDS = 3;
// Four times as many connections must fit into the server.
const POOL_SIZE = "10";
const tenants = evenTenants(8);
const PADDING = "x".repeat(260);

/** Sends events for that many databases, and answers how many were accepted. */
export type Load = (target: Target, databases: number) => Promise<number>;

/** As fast as they are answered: the machine is full, and each database has its share of it. */
export const asFastAsAnswered: Load = async (target, databases) => {
  const load = { senders: 16 * databases, count: 20_000, body };
  return accepted((await sendAsFastAsAnswered(target, load)).statuses);
};

/** 400 events a second to each database, for ten seconds. */
export const atSteadyRate: Load = async (target, databases) => {
  const load = { perSecond: 400 * databases, seconds: 10, body };
  return accepted((await sendSteadily(target, load)).statuses);
};

type Installation = { count: number; urls: string[]; program: Program };
type Cost = { postern: number; postgres: number };

/** Three installations on one server, by turns, after a first round that warms them up. */
export async function spread(stand: Stand, load: Load): Promise<Record<string, string | number>> {
  const costs = new Map<number, Cost[]>(COUNTS.map((count) => [count, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const count of COUNTS) {
      const installation = await install(stand, count);
      // Each process compiles what it runs before it is measured.
      await publish(stand, installation, load);
      const cost = await publish(stand, installation, load);
      if (round > 0) costs.get(count)?.push(cost);
      await installation.program.stop();
    }
  }
  return Object.fromEntries(
    Array.from(costs, ([count, runs]): [string, string | number][] => [
      [`postern s/1000, ${count}`, figure(runs, "postern")],
      [`postgres s/1000, ${count}`, figure(runs, "postgres")],
      [`range, ${count}`, runs.map((run) => (run.postern + run.postgres).toFixed(3)).join(", ")],
    ]).flat(),
  );
}

const figure = (runs: readonly Cost[], of: keyof Cost): number =>
  Number(median(runs.map((run) => run[of])).toFixed(3));

async function install(stand: Stand, count: number): Promise<Installation> {
  const urls: string[] = [];
  for (let n = 0; n < count; n++) {
    const name = `spread_${randomUUID().replaceAll("-", "")}`;
    await stand.sql(`CREATE DATABASE ${name}`);
    const url = new URL(stand.databaseUrl);
    url.pathname = `/${name}`;
    urls.push(url.href);
  }
  const setting = urls.map((url, n) => `${shardName(n)}=${url}`).join("|");
  // One database as it is without the setting.
  const where = count === 1 ? { DATABASE_URL: urls[0] ?? "" } : { SHARDS: setting, DATABASE_URL: "" };
  const program = await stand.start("up", { ...where, DATABASE_POOL_SIZE: POOL_SIZE });
  const { httpsPort } = await stand.receiver("reset");
  for (const tid of tenants) {
    const connection = await openConnection(await stand.target(program, "/api/webhooks", ownerOf(tid)));
    const answer = await connection.post(JSON.stringify({ url: `https://127.0.0.1:${httpsPort}/ok/${tid}` }));
    connection.close();
    assert.equal(answer.status, 201, answer.body);
  }
  return { count, urls, program };
}

/** Ids of tenants, as many in each database, however many there are. */
function evenTenants(wanted: number): string[] {
  const places = COUNTS.map((count) => {
    const shards = Array.from({ length: count }, (_, n) => ({ name: shardName(n), weight: 1 }));
    return {
      choose: makeChooser(shards),
      room: new Map(shards.map(({ name }) => [name, wanted / count])),
    };
  });
  const chosen: string[] = [];
  for (let n = 0; chosen.length < wanted; n++) {
    const tenant = `spread-${n}`;
    const homes = places.map(({ choose, room }) => ({ room, name: choose(tenant) }));
    if (homes.some(({ room, name }) => room.get(name) === 0)) continue;
    for (const { room, name } of homes) room.set(name, (room.get(name) ?? 0) - 1);
    chosen.push(tenant);
  }
  return chosen;
}

function shardName(n: number): string {
  return `s${n}`;
}

/** Seconds of CPU for 1,000 deliveries. */
async function publish(stand: Stand, { urls, program }: Installation, load: Load): Promise<Cost> {
  await stand.receiver("reset");
  const before = await delivered(urls);
  const target = await stand.target(program, "/api/events", producerOf("*"));
  let events = 0;
  const cost = await costOf(stand, [program], async () => {
    events = await load(target, urls.length);
    while ((await stand.receiver("look")).requests < events) await delay(20);
  });
  while ((await delivered(urls)) < before + events) await delay(20);
  return { postern: (cost.posternCpuS / events) * 1000, postgres: (cost.postgresCpuS / events) * 1000 };
}

function accepted(statuses: ReadonlyMap<number, number>): number {
  assert.deepEqual([...statuses.keys()], [202]);
  return statuses.get(202) ?? 0;
}

function body(index: number): string {
  const tenant = tenants[index % tenants.length];
  return `{"type":"invoice.paid","tenant_id":"${tenant}","data":{"note":"${PADDING}"}}`;
}

async function delivered(urls: readonly string[]): Promise<number> {
  let sum = 0;
  for (const url of urls) {
    const pool = createPool({ url, poolSize: 1, applicationName: "bench", connectionTimeoutMs: 5000 });
    const { rows } = await pool.query<{ count: number }>(
      "SELECT count(*)::int FROM postern.deliveries WHERE status = 'delivered'",
    );
    sum += rows[0]?.count ?? 0;
    await pool.end();
  }
  return sum;
}
