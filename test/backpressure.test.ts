/** A database that stops answering, receivers that do, and more events than there is room for. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { PRODUCER, type ApiAnswer } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

const published = z.object({ id: z.string() });

/** Says "later" and after how long. */
function assertRefusedForNow(answer: ApiAnswer): void {
  assert.ok(answer.status === 503 || answer.status === 429, `${answer.status} ${answer.text}`);
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
}

describe("a database that stops answering", () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;

  before(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    service = await startTestService({ database: { ...database, url: url.href } });
    await createEndpoint(service, { url: service.receiver.url, events: ["invoice.*"] });
  });
  after(async () => {
    proxy.resume();
    await service.stop();
    await service.receiver.close();
    await proxy.close();
    await database.drop();
  });

  const post = (json: unknown) => service.call("POST", "/api/events", { as: PRODUCER, json });
  const count = async (text: string) => (await database.pool.query(text)).rowCount;

  // The limit is far above the publisher's own, and below what the database's own limits would let it hang.
  it(
    "leaves no publisher without an answer, and all that was accepted is delivered, once accepted",
    { timeout: 25_000 },
    async () => {
      const accepted = [(await publish(service)).id];
      proxy.pause();
      const keyed = Array.from({ length: 20 }, (_, n) => ({
        type: "invoice.paid",
        data: { n },
        id: `key-${n}`,
      }));
      const plain = { type: "invoice.paid", data: {} };
      const answers = await Promise.all(
        [...keyed, plain, plain, [plain, plain], keyed.slice(0, 2)].map((json) => post(json)),
      );
      for (const answer of answers) assertRefusedForNow(answer);
      assert.equal((await service.call("GET", "/health", { as: null })).status, 200);

      proxy.resume();
      // As a producer does that was told to come again.
      for (const event of keyed) {
        const answer = await eventually(async () => {
          const again = await post(event);
          if (again.status < 300) return again;
          assertRefusedForNow(again);
          return null;
        });
        accepted.push(published.parse(answer.body).id);
      }
      accepted.push((await publish(service)).id);
      await eventually(async () => (await count("SELECT FROM postern.dispatches")) === 0);
      const { rows } = await database.pool.query<{ key: string; id: string }>(
        "SELECT key, event_id AS id FROM postern.idempotency_keys ORDER BY length(key), key",
      );
      assert.deepEqual(
        rows,
        keyed.map((event, n) => ({ key: event.id, id: accepted[n + 1] })),
      );
      const { rows: events } = await database.pool.query<{ id: string }>(
        "SELECT event_id AS id FROM postern.deliveries WHERE status = 'delivered'",
      );
      const delivered = events.map(({ id }) => id);
      assert.deepEqual(
        accepted.filter((id) => !delivered.includes(id)),
        [],
      );
      assert.equal(new Set(delivered).size, delivered.length, "no event delivered twice");
      const keyedEvents = "SELECT FROM postern.events WHERE body::jsonb -> 'data' ? 'n'";
      assert.equal(await count(keyedEvents), keyed.length, "no event accepted twice");
    },
  );

  it("answers 429 with Retry-After once 20,000 events are being accepted", async () => {
    proxy.pause();
    const events = Array.from({ length: 1000 }, () => ({ type: "customer.created", data: {} }));
    const early: ApiAnswer[] = [];
    const all: Promise<ApiAnswer>[] = [];
    const postMore = async () => {
      const answer = await post(events);
      early.push(answer);
      return answer;
    };
    // As many as it takes: on a busy machine the first may have failed before the last come.
    await eventually(async () => {
      all.push(postMore());
      return early.filter(({ status }) => status === 429).length >= 5;
    });
    proxy.resume();
    const answers = await Promise.all(all);
    const refused = answers.filter(({ status }) => status !== 202);
    for (const answer of refused) assertRefusedForNow(answer);
    await eventually(async () => (await post(events)).status === 202);
  });

  it("has its room for 20,000 again when as many could not be accepted", async () => {
    const events = Array.from({ length: 1000 }, () => ({ type: "customer.created", data: {} }));
    await database.pool.query("ALTER TABLE postern.events ADD CONSTRAINT closed CHECK (false) NOT VALID");
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round++) statuses.add((await post(events)).status);
    await database.pool.query("ALTER TABLE postern.events DROP CONSTRAINT closed");
    assert.deepEqual([...statuses], [500]);
    assert.equal((await post(events)).status, 202);
  });
});

describe("a receiver that never answers", () => {
  let service: TestService;
  let gate: PromiseWithResolvers<void>;

  before(async () => {
    gate = Promise.withResolvers();
    service = await startTestService({
      async respond(request) {
        if (request.path.endsWith("/silent")) await gate.promise;
        return {};
      },
      env: { RETRY_SCHEDULE: "0s,1s,1s,1s" },
    });
  });
  after(() => service.stop());

  it("holds back neither publishers nor its neighbours, nor more in memory than a lane takes, and gets all at last", async () => {
    const silent = await createEndpoint(service, {
      url: `${service.receiver.url}/silent`,
      events: ["invoice.paid"],
    });
    await createEndpoint(service, { url: `${service.receiver.url}/other`, events: ["payment.succeeded"] });
    const text = "x".repeat(1500);
    for (let batch = 0; batch < 16; batch++) {
      const events = Array.from({ length: 500 }, () => ({ type: "invoice.paid", data: { text } }));
      const answer = await service.call("POST", "/api/events", { as: PRODUCER, json: events });
      assert.equal(answer.status, 202, answer.text);
    }
    const other = await publish(service, "payment.succeeded");
    await eventually(async () =>
      service.receiver.requests.some((request) => request.headers["webhook-id"] === other.id),
    );
    const { leased: inMemory } = await eventually(async () => {
      const { text: metrics } = await service.call("GET", "/metrics", { as: null });
      const [leased = 0, ...others] = ["leased", "due", "parked", "scheduled"].map((state) =>
        Number(new RegExp(`^webhook_queue_depth\\{state="${state}"\\} (\\d+)$`, "m").exec(metrics)?.[1]),
      );
      // The neighbour's own is done and all of the silent one's are there.
      return leased + others.reduce((sum, count) => sum + count, 0) === 8000 && { leased };
    });
    // What a lane takes before it is known to be slow, and a claim that is about to be parked.
    assert.ok(inMemory <= 2600, `${inMemory} dispatches`);
    assert.equal((await service.call("GET", "/ready", { as: null })).status, 200);

    gate.resolve();
    await eventually(async () => {
      const { rowCount } = await service.database.pool.query("SELECT FROM postern.dispatches LIMIT 1");
      return rowCount === 0;
    });
    const { rows } = await service.database.pool.query(
      "SELECT count(DISTINCT event_id)::int AS events FROM postern.deliveries WHERE endpoint_id = $1 AND status = 'delivered'",
      [silent.endpoint.id],
    );
    assert.deepEqual(rows, [{ events: 8000 }]);
  });
});
