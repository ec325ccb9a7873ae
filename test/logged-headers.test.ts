/** Headers of attempts in the log: what is stored once for many of them, and that each shows its own. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { steered } from "./support/receivers.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { publish, webhooksOf, type Delivery, type Webhooks } from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  service = await startTestService({ respond: receiver.respond });
  webhooks = webhooksOf(service);
});
beforeEach(() => {
  receiver.answer = () => ({ headers: { "content-type": "text/plain", "x-request-id": "1" } });
});
after(() => service.stop());

type Stored = { header_set: string | null; request_headers: object; response_headers: object | null };

async function stored(endpointId: string): Promise<Stored[]> {
  const { rows } = await service.database.pool.query<Stored>(
    `SELECT header_set, request_headers, response_headers FROM postern.deliveries WHERE endpoint_id = $1 ORDER BY id`,
    [endpointId],
  );
  return rows;
}

async function deliver(id: string, count: number): Promise<Delivery[]> {
  const before = (await webhooks.deliveries(id, "?status=delivered")).length;
  for (let n = 1; n <= count; n++) {
    await publish(service, { type: "invoice.paid", data: {} });
    await webhooks.waitFor(id, "delivered", before + n);
  }
  return webhooks.deliveries(id);
}

/** What the log shows must be what the receiver got, but for the headers of the HTTP client. */
function assertShown({ id, request_headers: shown }: Delivery): void {
  const request = service.receiver.requests.find(({ headers }) => headers["x-service-delivery"] === id);
  const { host, connection, "content-length": length, ...sent } = request?.headers ?? {};
  assert.ok(host !== undefined && connection !== undefined && length !== undefined);
  const lower = Object.entries(shown ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  assert.deepEqual(Object.fromEntries(lower), sent);
}

describe("headers in the log", () => {
  it("are those of each attempt, with one set stored for all of an endpoint", async () => {
    const { endpoint } = await webhooks.create({ headers: { "X-Team": "billing" } });
    let requests = 0;
    receiver.answer = () => ({ headers: { "content-type": "text/plain", "x-request-id": `${requests++}` } });
    const log = await deliver(endpoint.id, 3);
    log.forEach(assertShown);
    assert.deepEqual(
      log.map(({ response_headers: headers }) => headers?.["x-request-id"]),
      ["2", "1", "0"],
    );
    const rows = await stored(endpoint.id);
    assert.equal(new Set(rows.map((row) => row.header_set)).size, 1);
    for (const { header_set, request_headers, response_headers } of rows) {
      assert.ok(header_set !== null);
      // As a release before sets can show it.
      assert.deepEqual([request_headers, response_headers], [{}, null]);
    }
    await webhooks.remove(endpoint.id);
  });

  it("do not depend on what a worker remembers of sets", async () => {
    const { endpoint } = await webhooks.create();
    await deliver(endpoint.id, 1);
    await service.database.pool.query("DELETE FROM postern.header_sets");
    const [newest] = await deliver(endpoint.id, 1);
    assert.ok(newest !== undefined);
    assertShown(newest);
    assert.equal(newest.response_headers?.["x-request-id"], "1");
    await webhooks.remove(endpoint.id);
  });

  it("make some sets alone where a receiver answers otherwise each time", async () => {
    const { endpoint } = await webhooks.create();
    let requests = 0;
    receiver.answer = () => ({ headers: { [`x-odd-${requests++}`]: "odd" } });
    const log = await deliver(endpoint.id, 20);
    log.forEach(assertShown);
    for (const [n, { response_headers: headers }] of log.entries()) {
      assert.equal(headers?.[`x-odd-${19 - n}`], "odd");
    }
    const rows = await stored(endpoint.id);
    // 16 for answers, and one for requests whose answers' headers are in their rows.
    assert.equal(new Set(rows.map((row) => row.header_set)).size, 17);
    assert.equal(rows.filter((row) => row.response_headers !== null).length, 4);
    await webhooks.remove(endpoint.id);
  });

  it("note each day on which a set is used, and not each attempt", async () => {
    const { endpoint } = await webhooks.create();
    const used = async () => {
      await deliver(endpoint.id, 1);
      const { rows } = await service.database.pool.query<{ is_today: boolean; version: string }>(
        `SELECT used_on = (now() AT TIME ZONE 'UTC')::date AS is_today, xmin::text AS version FROM postern.header_sets s
          WHERE id = (SELECT header_set FROM postern.deliveries WHERE endpoint_id = $1 ORDER BY id DESC LIMIT 1)`,
        [endpoint.id],
      );
      assert.equal(rows.length, 1);
      return rows[0];
    };
    const first = await used();
    assert.deepEqual(await used(), first);
    await service.database.pool.query("UPDATE postern.header_sets SET used_on = used_on - 3");
    assert.equal((await used())?.is_today, true);
    await webhooks.remove(endpoint.id);
  });
});
