/** Processes with an intake, killed amid their work. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { createEndpoint } from "./support/api.ts";
import { dispatchesMade, send, store, take, untilEmpty } from "./support/intake.ts";
import { pidOf, waitersFor } from "./support/lock-waits.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

const skip = withoutNats();
const EVENT = { type: "invoice.paid", data: {} };
const AT_ONCE = 50;

let cluster: NatsCluster;
let database: TestDatabase;
let receiver: TlsReceiver;
let env: Environment;
const programs = new Set<Program>();
const accepted = new Set<string>();

before(async () => {
  if (skip !== false) return;
  cluster = await NatsCluster.start();
  database = await createTestDatabase();
  receiver = await startReceiver();
  env = { ...(await sharedSettings(database.url, receiver.caPem)), INTAKE_URL: cluster.url };
});
after(async () => {
  if (skip !== false) return;
  await Promise.all([...programs].map((program) => program.end("SIGKILL")));
  await receiver.close();
  await database.drop();
  await cluster.stop();
});

async function start(role: "api" | "worker"): Promise<Program> {
  const program = await startProgram([role], env);
  programs.add(program);
  return program;
}

async function kill(program: Program): Promise<void> {
  await program.end("SIGKILL");
  programs.delete(program);
}

/** Publishes so many arrays and notes what was accepted; a process that is killed leaves calls without an answer. */
function publishArrays(api: Program, count: number): Promise<void>[] {
  return Array.from({ length: count }, async () => {
    const answer = await send(
      api,
      Array.from({ length: AT_ONCE }, () => EVENT),
    );
    if (answer.status === 202) for (const { id } of Object(answer.body)) accepted.add(id);
  });
}

async function storedCount(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM postern.events",
  );
  return rows[0]?.count ?? 0;
}

/** Does the work while nobody can store an event, and some worker waits to. */
async function amidStoring(work: () => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query("BEGIN; LOCK TABLE postern.events IN SHARE MODE");
    const pid = await pidOf(client);
    await eventually(async () => (await waitersFor(database.pool, pid)) > 0);
    await work();
  } finally {
    await client.query("COMMIT");
    client.release();
  }
}

it(
  "workers and APIs that are killed amid the relay lose no event, and none passes twice",
  { skip },
  async () => {
    let api = await start("api");
    await createEndpoint(api, { url: receiver.url });
    const first = await start("worker");
    accepted.add(await eventually(() => take(api).catch(() => null)));
    await untilEmpty(cluster);
    // Without a worker the stream keeps everything, and the database has none of it.
    await kill(first);
    await Promise.all(publishArrays(api, 20));
    await store(cluster, "postern.events.acme", [EVENT, EVENT]);
    assert.equal(await storedCount(), 1);

    const starting = [start("worker"), start("worker")];
    // What a killed worker asked of the database may still be done there, and nobody hears of it.
    await amidStoring(async () => {
      for (const worker of starting) await kill(await worker);
    });
    const survivor = await start("worker");
    const publishing = publishArrays(api, 40);
    await Promise.race(publishing);
    await kill(api);
    await Promise.allSettled(publishing);
    api = await start("api");
    await Promise.all(publishArrays(api, 5));
    const last = await start("worker");
    assert.equal((await survivor.end("SIGTERM")).code, 0);
    programs.delete(survivor);
    accepted.add(await take(api));

    await untilEmpty(cluster);
    const made = await dispatchesMade(database);
    assert.deepEqual(
      [...accepted].filter((id) => !made.has(id)),
      [],
    );
    assert.ok([...made.values()].every((count) => count === 1));
    assert.ok(last.output().includes("the intake is open"));
  },
);
