/**
 * A changed endpoint, as every process sees it: an API and two workers, all
 * three processes of their own, with an endpoint in each worker's slots. What is
 * published a second after a change must not meet what it replaced.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, patchEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram, type Program } from "./support/program.ts";
import { serviceSignature, webhookSignature } from "./support/receivers.ts";
import { eventually } from "./support/eventually.ts";
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
  await eventually(async () => {
    const { rows } = await database.pool.query(
      "SELECT FROM postern.slots WHERE owner IS NOT NULL GROUP BY owner HAVING count(*) = 128",
    );
    return rows.length === workers.length;
  });
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

/** Each worker makes attempts at its endpoint, so it knows it as it is now. */
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

/** All requests of these events, once as many different ones have come as each event has endpoints. */
async function requestsOf(eventIds: readonly string[], endpoints: number): Promise<ReceivedRequest[]> {
  const wanted = new Set(eventIds);
  return eventually(async () => {
    const found = receiver.requests.filter(({ headers }) => wanted.has(String(headers["webhook-id"])));
    const different = new Set(found.map(({ path, headers }) => `${String(headers["webhook-id"])} ${path}`));
    return different.size === wanted.size * endpoints && found;
  });
}

async function ownerOf(endpointId: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ owner: string | null }>(
    "SELECT owner FROM postern.slots WHERE slot = get_byte(uuid_send($1::uuid), 15)",
    [endpointId],
  );
  return rows[0]?.owner ?? null;
}

/** Endpoints in the slots of one worker each, which is chance: made until each worker has one. */
async function endpointsOfBoth(path: string): Promise<string[]> {
  const ids = new Map<string | null, string>();
  while (ids.size < workers.length) {
    const url = `${receiver.url}/${ids.size}${path}`;
    const headers = { "x-version": "old" };
    const { endpoint } = await createEndpoint(api, { url, events: ["invoice.paid"], headers });
    const owner = await ownerOf(endpoint.id);
    if (ids.has(owner)) await api.call("DELETE", `/api/webhooks/${endpoint.id}`);
    else ids.set(owner, endpoint.id);
  }
  return [...ids.values()];
}

/** Changes the endpoint; returns its new path and secret. */
async function change(id: string): Promise<[path: string, secret: string]> {
  const url = `${receiver.url}/${id}/new`;
  await patchEndpoint(api, id, { url, headers: { "x-version": "new" } });
  const rotated = await api.call("POST", `/api/webhooks/${id}/rotate-secret`, { json: {} });
  return [new URL(url).pathname, z.object({ secret: z.string() }).parse(rotated.body).secret];
}

describe("a second after an endpoint is changed, no process of several", () => {
  it("signs with the old secret, or sends to the old URL or with the old headers", async () => {
    const ids = await endpointsOfBoth("/old");
    await inBothWorkers();
    const secrets = new Map(await Promise.all(ids.map(change)));
    await delay(IN_USE_MS);
    for (const request of await requestsOf(await publishMany(), ids.length)) {
      const secret = secrets.get(request.path);
      assert.ok(secret !== undefined, request.path);
      assert.equal(request.headers["x-version"], "new");
      assert.equal(request.headers["x-service-signature"], serviceSignature(secret, request));
      assert.equal(request.headers["webhook-signature"], webhookSignature(secret, request));
    }
    for (const id of ids) await api.call("DELETE", `/api/webhooks/${id}`);
  });

  for (const [done, carryOut] of [
    ["disabled", (id: string) => patchEndpoint(api, id, { enabled: false })],
    ["deleted", (id: string) => api.call("DELETE", `/api/webhooks/${id}`)],
  ] as const) {
    it(`sends to it when it was ${done}, not even what was pending`, async () => {
      const ids = await endpointsOfBoth("/failing");
      await inBothWorkers();
      for (const id of ids) await carryOut(id);
      const inUseAt = new Date(Date.now() + IN_USE_MS);
      await delay(IN_USE_MS);
      await publishMany();
      // The retries of several hundred events would be due in it.
      await delay(IN_USE_MS);
      // When they began: on a busy machine, a request that began before may arrive later.
      const { rows } = await database.pool.query(
        "SELECT sent_at FROM postern.deliveries WHERE endpoint_id = ANY ($1) AND sent_at > $2",
        [ids, inUseAt],
      );
      assert.deepEqual(rows, []);
    });
  }
});
