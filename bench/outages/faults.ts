/** What fails in a round of the series, and how it comes back. Each is over when the installation is whole again. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { runProgram } from "../../test/support/program.ts";
import type { Installation, Role } from "./installation.ts";
import type { Load } from "./load.ts";

/** So many events are accepted while something is amiss, and before the next round. */
export const BETWEEN = 20;
/** Longer than a process waits before it calls a database silent. */
const SILENCE_MS = 3000;
/** Longer than the others need to take a worker for dead and to take its endpoints over. */
const STANDSTILL_MS = 20_000;
const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'postern%' AND datname = current_database()`;

export type Stand = {
  installation: Installation;
  load: Load;
  /** From 0 to below 1. */
  chance: () => number;
};

export type Fault = { name: string; run(stand: Stand): Promise<void> };

/** With those of the stream and of the disk where there are such. */
export function faultsOf({ stream, shards }: Installation): Fault[] {
  return [
    { name: "a primary is killed", run: (stand) => shardOf(stand).pair.killPrimary() },
    { name: "a worker is killed", run: (stand) => killOne(stand, "worker") },
    { name: "a worker stands still, and goes on", run: suspendWorker },
    { name: "a tenant moves", run: moveTenant },
    {
      name: "a primary stands still, and comes back",
      run: (stand) => shardOf(stand).pair.pausePrimary(() => stand.load.acceptMore(BETWEEN)),
    },
    ...(stream === null ? [] : FAULTS_OF_THE_STREAM),
    { name: "a standby is killed", run: (stand) => shardOf(stand).pair.killStandby() },
    { name: "an API is killed", run: (stand) => killOne(stand, "api") },
    { name: "a shard ends every session", run: endSessions },
    { name: "a shard is cut off", run: cutOff },
    ...(shards.some(({ disk }) => disk === null) ? [] : [{ name: "a disk is full", run: fillDisk }]),
    { name: "a tenant moves back", run: moveTenant },
  ];
}

const FAULTS_OF_THE_STREAM: Fault[] = [
  { name: "the leader of the stream is killed", run: (stand) => killServer(stand, "leader") },
  { name: "a minority of the stream is killed", run: (stand) => killServer(stand, "follower") },
  {
    name: "the whole stream is killed",
    async run(stand) {
      const stream = streamOf(stand);
      await stream.kill(...stream.names());
      await delay(500);
      stream.restart(...stream.names());
      await stream.untilReady();
    },
  },
];

async function killServer(stand: Stand, which: "leader" | "follower"): Promise<void> {
  const stream = streamOf(stand);
  const leader = await stream.leader();
  const killed = which === "leader" ? leader : stream.names().find((name) => name !== leader);
  assert.ok(killed !== undefined);
  await stream.kill(killed);
  await stand.load.acceptMore(BETWEEN);
  stream.restart(killed);
}

function streamOf({ installation: { stream } }: Stand) {
  assert.ok(stream !== null);
  return stream;
}

function shardOf({ installation: { shards }, chance }: Stand) {
  const shard = shards[Math.floor(chance() * shards.length)];
  assert.ok(shard !== undefined);
  return shard;
}

async function killOne({ installation, chance }: Stand, role: Role): Promise<void> {
  await installation.restart(role, placeOf(chance));
}

async function suspendWorker({ installation, load, chance }: Stand): Promise<void> {
  await installation.suspend("worker", placeOf(chance), async () => {
    await delay(STANDSTILL_MS);
    await load.acceptMore(BETWEEN);
  });
}

/** Of one of the two processes of a role. */
function placeOf(chance: Stand["chance"]): number {
  return chance() < 0.5 ? 0 : 1;
}

/** Those by which workers show that they live are among them. */
async function endSessions(stand: Stand): Promise<void> {
  const ended = await shardOf(stand).pair.primary.sql(END_SESSIONS);
  assert.ok(ended.length > 0);
}

/** The first tenant, to where it is not. */
async function moveTenant({ installation: { env, tenants, shards } }: Stand): Promise<void> {
  const [tid = ""] = tenants;
  const from = await homeOf(tid, shards);
  const to = shards.find(({ name }) => name !== from)?.name ?? "";
  const { code, errors } = await runProgram(["tenants", "move", tid, "--to", to], env);
  assert.equal(code, 0, errors);
}

async function homeOf(tid: string, [first]: Installation["shards"]): Promise<string> {
  const rows = await first?.pair.primary.sql(
    `SELECT shard FROM postern.shard_directory WHERE tenant_id = '${tid}'`,
  );
  return String(rows?.[0]?.["shard"]);
}

/** Nothing of it answers, and nobody is told. */
async function cutOff(stand: Stand): Promise<void> {
  const { ways } = shardOf(stand);
  for (const way of ways.values()) way.pause();
  await delay(SILENCE_MS);
  for (const way of ways.values()) way.resume();
}

/** Of both servers of a shard, which end by it. */
async function fillDisk(stand: Stand): Promise<void> {
  const { disk, replicated } = shardOf(stand);
  await disk?.fill();
  await delay(SILENCE_MS);
  await disk?.free();
  for (const server of replicated.servers) {
    await server.kill();
    await server.start();
  }
}
