/** Events that the intake's stream takes, on their way to receivers. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { createEndpoint } from "./support/api.ts";
import { NatsCluster, prepareNats } from "./support/nats-cluster.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { eventually, PRODUCER, startTestService, type TestService } from "./support/service.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

const missing = prepareNats();
const published = z.object({ id: z.string(), deliveries: z.null() });

describe("the intake", { skip: missing ?? false }, () => {
  let cluster: NatsCluster;
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;

  before(async () => {
    cluster = await NatsCluster.start();
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    service = await startTestService({
      database: { ...database, url: url.href },
      env: { INTAKE_URL: cluster.url, LOG_LEVEL: process.env["LL"] ?? "silent" },
    });
    await createEndpoint(service, { url: service.receiver.url });
  });
  after(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
    await cluster.stop();
  });

  async function publish(data: Record<string, unknown>, more: object = {}): Promise<string> {
    const json = { type: "invoice.paid", data, ...more };
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
    assert.equal(answer.status, 202, answer.text);
    return published.parse(answer.body).id;
  }

  const untilDelivered = (id: string) =>
    eventually(async () => service.receiver.requests.some(({ headers }) => headers["webhook-id"] === id));

  it("answers an event once its stream has it, and delivers it", async () => {
    await untilDelivered(await publish({ n: 1 }));
    await eventually(async () => (await cluster.messages()) === 0);
  });

  it("takes events while the database is away, stays ready, and delivers them when it is back", async () => {
    proxy.pause();
    // With a key that nobody can look up now.
    const id = await publish({ n: 2 }, { id: "key" });
    const ready = await service.call("GET", "/ready", { as: null });
    assert.equal(ready.status, 200, ready.text);
    assert.match(ready.text, /the database cannot be reached; events are taken by the intake's stream/);
    proxy.resume();
    await untilDelivered(id);
    await eventually(async () => (await cluster.messages()) === 0);
  });
});
