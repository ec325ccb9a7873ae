/** A replay whose workers are killed in the middle: every event is sent, and is in the log once. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Environment } from "../src/config.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { replaysOf, seedEvents } from "./support/replays.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { webhooksOf } from "./support/webhooks.ts";

const EVENTS = 1600;

let service: TestService;
let env: Environment;
const workers: Program[] = [];

before(async () => {
  service = await startTestService({ roles: ["api"] });
  const { database, receiver } = service;
  // The same keys, for the endpoint's secret.
  env = {
    ...(await sharedSettings(database.url, receiver.caPem)),
    INTEGRATION_ENCRYPTION_KEY: service.env["INTEGRATION_ENCRYPTION_KEY"],
  };
});
after(async () => {
  await Promise.all(workers.map((worker) => worker.end("SIGKILL")));
  await service.stop();
});

async function startWorker(): Promise<Program> {
  const worker = await startProgram(["worker"], env);
  workers.push(worker);
  return worker;
}

it("is finished by those that are left, each event once", async () => {
  const webhooks = webhooksOf(service);
  const { endpoint } = await webhooks.create({ events: ["invoice.paid"] });
  const events = await seedEvents(service.database.pool, { endpoint: endpoint.id, count: EVENTS });
  const replays = replaysOf(service);
  const { id } = await replays.create({ endpoint_id: endpoint.id });
  await startWorker();
  for (const sent of [EVENTS / 8, EVENTS / 2]) {
    await eventually(async () => service.receiver.requests.length >= sent);
    const [doomed] = workers.splice(0, 1);
    await doomed?.end("SIGKILL");
    await startWorker();
  }
  const { status, total, sent, delivered, failed, skipped } = await replays.waitForEnd(id);
  assert.deepEqual(
    [status, total, sent, delivered, failed, skipped],
    ["finished", EVENTS, EVENTS, EVENTS, 0, 0],
  );
  const { rows } = await service.database.pool.query<{ event_id: string }>(
    "SELECT event_id FROM postern.deliveries WHERE replay_id = $1 AND status = 'delivered' ORDER BY event_id",
    [id],
  );
  assert.deepEqual(
    rows.map(({ event_id }) => event_id),
    events,
  );
  // A request that was in flight may come again, as the same delivery.
  const sentIds = service.receiver.requests.map(({ headers }) => headers["x-service-delivery"]);
  assert.equal(new Set(sentIds).size, EVENTS);
});
