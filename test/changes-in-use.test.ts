/**
 * A changed endpoint, as every process sees it: an API and two workers, all
 * three processes of their own, with the endpoint in both workers' hands. What
 * is published a second after a change must not meet what it replaced.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { createEndpoint, patchEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { serviceSignature, webhookSignature } from "./support/receivers.ts";
import { eventually } from "./support/service.ts";
import { startReceiver, type ReceivedRequest, type TlsReceiver } from "./support/tls-receiver.ts";

/** What the documentation promises. */
const IN_USE_MS = 1000;
const EVENTS = 40;

let database: TestDatabase;
let receiver: TlsReceiver;
let api: Program;
let workers: Program[];

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver({
    respond: ({ path }) => ({ status: path.endsWith("/failing") ? 500 : 200 }),
  });
  const env = {
    ...(await sharedSettings(database.url, receiver.caPem)),
    RETRY_SCHEDULE: Array.from({ length: 100 }, () => "100ms").join(","),
  };
  api = await startProgram(["api"], env);
  workers = await Promise.all([startProgram(["worker"], env), startProgram(["worker"], env)]);
});
after(async () => {
  await Promise.all([api, ...workers].map((program) => program.end("SIGKILL")));
  await receiver.close();
  await database.drop();
});

async function attemptsBy(worker: Program): Promise<number> {
  const { text } = await worker.call("GET", "/metrics", { as: null });
  const counts = text.matchAll(/^webhook_delivery_attempts_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Both workers make attempts at the endpoint, so both know it as it is now. */
async function inBothWorkers(): Promise<void> {
  const earlier = await Promise.all(workers.map(attemptsBy));
  await eventually(async () => {
    await publishMany();
    const now = await Promise.all(workers.map(attemptsBy));
    return now.every((count, worker) => count > (earlier[worker] ?? 0));
  });
}

async function publishMany(): Promise<string[]> {
  const published = await Promise.all(Array.from({ length: EVENTS }, () => publish(api)));
  return published.map(({ id }) => id);
}

async function requestsOf(eventIds: readonly string[]): Promise<ReceivedRequest[]> {
  const wanted = new Set(eventIds);
  return eventually(async () => {
    const found = receiver.requests.filter(({ headers }) => wanted.has(String(headers["webhook-id"])));
    return new Set(found.map(({ headers }) => headers["webhook-id"])).size === wanted.size && found;
  });
}

async function endpointAt(path: string) {
  const url = `${receiver.url}${path}`;
  return createEndpoint(api, { url, events: ["invoice.paid"], headers: { "x-version": "old" } });
}

describe("a second after an endpoint is changed, no process of several", () => {
  it("signs with the old secret, or sends to the old URL or with the old headers", async () => {
    const { endpoint } = await endpointAt("/old");
    await inBothWorkers();
    await patchEndpoint(api, endpoint.id, { url: `${receiver.url}/new`, headers: { "x-version": "new" } });
    const rotated = await api.call("POST", `/api/webhooks/${endpoint.id}/rotate-secret`, { json: {} });
    const { secret } = z.object({ secret: z.string() }).parse(rotated.body);
    await delay(IN_USE_MS);
    const earlier = await Promise.all(workers.map(attemptsBy));
    const requests = await requestsOf(await publishMany());
    for (const request of requests) {
      assert.ok(request.path.endsWith("/new"), request.path);
      assert.equal(request.headers["x-version"], "new");
      assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
      assert.equal(request.headers["webhook-signature"], webhookSignature(secret, request));
    }
    assert.notDeepEqual(await Promise.all(workers.map(attemptsBy)), earlier);
    await api.call("DELETE", `/api/webhooks/${endpoint.id}`);
  });

  for (const [change, carryOut] of [
    ["disabled", (id: string) => patchEndpoint(api, id, { enabled: false })],
    ["deleted", (id: string) => api.call("DELETE", `/api/webhooks/${id}`)],
  ] as const) {
    it(`sends to it when it was ${change}, not even what was pending`, async () => {
      const { endpoint } = await endpointAt("/failing");
      await inBothWorkers();
      await carryOut(endpoint.id);
      const inUseAt = new Date(Date.now() + IN_USE_MS);
      await delay(IN_USE_MS);
      await publishMany();
      // The retries of several hundred events would be due in it.
      await delay(IN_USE_MS);
      // When they began: on a busy machine, a request that began before may arrive later.
      const { rows } = await database.pool.query(
        "SELECT sent_at FROM postern.deliveries WHERE endpoint_id = $1 AND sent_at > $2",
        [endpoint.id, inUseAt],
      );
      assert.deepEqual(rows, []);
    });
  }
});
