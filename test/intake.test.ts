/** Events that the intake's stream takes, on their way to receivers. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint } from "./support/api.ts";
import { NatsCluster, withoutNats } from "./support/nats-cluster.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

const skip = withoutNats();
const published = z.object({ id: z.string(), deliveries: z.null() });

describe("the intake", { skip }, () => {
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
      env: { INTAKE_URL: cluster.url },
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
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => publish({ n }, { id: `key ${n}` })));
    const ready = await service.call("GET", "/ready", { as: null });
    assert.equal(ready.status, 200, ready.text);
    assert.match(ready.text, /the database cannot be reached; events are taken by the intake's stream/);
    proxy.resume();
    for (const id of ids) await untilDelivered(id);
    await eventually(async () => (await cluster.messages()) === 0);
  });

  it("makes up for the database in a process that serves the API, and in no mere worker", async (test) => {
    const alone = async (role: "api" | "worker") => {
      const { env, receiver } = service;
      const one = await startTestService({ database: service.database, receiver, env, roles: [role] });
      test.after(() => one.stop());
      return one;
    };
    const processes = [await alone("api"), await alone("worker")];
    const statuses = () =>
      Promise.all(processes.map(async (one) => (await one.call("GET", "/ready", { as: null })).status));
    assert.deepEqual(await statuses(), [200, 200]);
    proxy.pause();
    const whileAway = await statuses().finally(() => proxy.resume());
    assert.deepEqual(whileAway, [200, 503]);
  });

  it("delivers each digit of an event, as without an intake", async () => {
    const raw = '{"type":"invoice.paid","data":{"amount":12345678901234567890.12}}';
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, raw });
    assert.equal(answer.status, 202, answer.text);
    const { id } = published.parse(answer.body);
    await untilDelivered(id);
    const sent = service.receiver.requests.find(({ headers }) => headers["webhook-id"] === id);
    assert.match(sent?.body.toString() ?? "", /"amount":12345678901234567890\.12\}/);
  });

  it("checks events before it stores them", async () => {
    for (const json of [
      { type: "no.such", data: {} },
      [{ type: "invoice.paid" }],
      { type: "invoice.paid", data: [] },
    ]) {
      const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
      assert.equal(answer.status, 400, answer.text);
    }
  });

  it("answers 413 for an event that is too large for a message, and takes the next one", async () => {
    const json = { type: "invoice.paid", data: { text: '"'.repeat(400_000) } };
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
    assert.equal(answer.status, 413, answer.text);
    await untilDelivered(await publish({ n: 3 }));
  });

  it("takes many events at once, and delivers each", async () => {
    const ids = await Promise.all(Array.from({ length: 300 }, (_, n) => publish({ n })));
    for (const id of ids) await untilDelivered(id);
    await eventually(async () => (await cluster.messages()) === 0);
    const { rows } = await database.pool.query(
      "SELECT count(*)::int AS count FROM postern.events WHERE id = ANY ($1)",
      [ids],
    );
    assert.equal(rows[0].count, 300);
  });
});
