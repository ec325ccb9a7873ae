/** A person's test or retry whose process is killed, or whose database goes, while it waits for the receiver. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import * as z from "zod";
import type { Environment } from "../src/config.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { sharedSettings, startProgram } from "./support/program.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { steered } from "./support/receivers.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";
import { assertRefused, first, publish, REFUSED, webhooksOf, type Webhooks } from "./support/webhooks.ts";

const listed = z.object({ deliveries: z.array(z.object({ id: z.string(), status: z.string() })) });
const receiver = steered();
let tls: TlsReceiver;
let database: TestDatabase;
let env: Environment;
let service: TestService;
let webhooks: Webhooks;

before(async () => {
  tls = await startReceiver({ respond: receiver.respond });
  database = await createTestDatabase();
  env = await sharedSettings(database.url, tls.caPem);
  service = await startTestService({
    database,
    receiver: tls,
    env: { ...env, LOG_LEVEL: "silent", RETRY_SCHEDULE: "0s,1h" },
  });
  webhooks = webhooksOf(service);
});
after(async () => {
  await service.stop();
  await tls.close();
  await database.drop();
});

/** The send that is under way. */
async function noted(): Promise<string> {
  return eventually(async () => {
    const { rows } = await database.pool.query("SELECT id FROM postern.person_sends");
    return rows.length === 1 && String(rows[0]?.id);
  });
}

/** Nobody waits here until a send counts as lost: it becomes one of a minute ago. Answers its id. */
async function age(): Promise<string> {
  const { rows } = await database.pool.query(
    `UPDATE postern.person_sends SET id = overlay(postern.lowest_id_at(now() - interval '1 minute')::text
      PLACING '7' || right(id::text, 21) FROM 15)::uuid RETURNING id`,
  );
  return String(rows[0]?.id);
}

it("a test and a retry show as pending, and end as interrupted when their process is killed", async () => {
  receiver.answer = () => ({ status: 500 });
  const { endpoint } = await webhooks.create();
  await publish(service, { type: "invoice.paid", data: {} });
  const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
  receiver.answer = () => new Promise(() => undefined);
  for (const [path, json, trigger] of [
    ["test", { event_type: "invoice.paid" }, "test"],
    [`deliveries/${failed.id}/retry`, {}, "retry"],
  ] as const) {
    const seen = tls.requests.length;
    const api = await startProgram(["api"], env);
    const answer = api.call("POST", `/api/webhooks/${endpoint.id}/${path}`, { json }).catch(() => null);
    const id = await noted();
    await eventually(() => Promise.resolve(tls.requests.length > seen));
    const pending = await webhooks.delivery(endpoint.id, id);
    assert.deepEqual([pending.status, pending.trigger, pending.next_attempt_at], ["pending", trigger, null]);
    for (const query of [`endpoint_id=${endpoint.id}`, "status=pending", `q=event&trigger=${trigger}`]) {
      const { body } = await service.call("GET", `/api/deliveries?limit=1&${query}`);
      assert.deepEqual(listed.parse(body).deliveries, [{ id, status: "pending" }], query);
    }
    assertRefused(await webhooks.call("POST", `/${endpoint.id}/deliveries/${id}/retry`), REFUSED.notFailed);
    await api.end("SIGKILL");
    assert.equal(await answer, null);

    const lost = await age();
    const ended = await eventually(async () => {
      const found = await webhooks.delivery(endpoint.id, lost);
      return found.status !== "pending" && found;
    });
    assert.deepEqual(
      [ended.status, ended.trigger, ended.error, ended.attempt, ended.response_status],
      ["failed", trigger, "interrupted", trigger === "test" ? 1 : 2, null],
    );
    assert.ok(ended.request_headers !== null && ended.request_body !== null);
    const { rows } = await database.pool.query("SELECT FROM postern.person_sends");
    assert.equal(rows.length, 0);
  }
});

/** An API process with a database of its own way, and a person's two kinds of sends at a new endpoint. */
async function behindProxy(test: { after(work: () => Promise<void>): void }) {
  receiver.answer = () => ({ status: 500 });
  const { endpoint } = await webhooks.create();
  await publish(service, { type: "invoice.paid", data: {} });
  const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
  const url = new URL(database.url);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  const api = await startTestService({
    database: { ...database, url: url.href },
    receiver: tls,
    roles: ["api"],
    env: { ...service.env, DATABASE_URL: url.href },
  });
  test.after(async () => {
    await proxy.close();
    await api.stop();
    await webhooks.remove(endpoint.id);
  });
  const sends = [
    ["test", { event_type: "invoice.paid" }, { trigger: "test", attempt: 1 }],
    [`deliveries/${failed.id}/retry`, {}, { trigger: "retry", attempt: 2 }],
  ] as const;
  return { endpoint, api, proxy, sends };
}

it("a test and a retry whose database goes while they wait are answered 503, and end as interrupted", async (test) => {
  for (const kind of [0, 1] as const) {
    const { endpoint, api, proxy, sends } = await behindProxy(test);
    const [path, json, expected] = sends[kind];
    const answered = Promise.withResolvers<object>();
    receiver.answer = () => answered.promise;
    const seen = tls.requests.length;
    const answer = api.call("POST", `/api/webhooks/${endpoint.id}/${path}`, { json });
    const id = await noted();
    await eventually(() => Promise.resolve(tls.requests.length > seen));
    await proxy.close();
    answered.resolve({});
    const { status, headers } = await answer;
    assert.deepEqual([status, headers.get("retry-after") !== null], [503, true]);
    assert.equal((await webhooks.delivery(endpoint.id, id)).status, "pending");

    const lost = await age();
    const ended = await eventually(async () => {
      const found = await webhooks.delivery(endpoint.id, lost);
      return found.status !== "pending" && found;
    });
    const { trigger, attempt, error, response_status } = ended;
    assert.deepEqual({ trigger, attempt }, expected);
    assert.deepEqual([ended.status, error, response_status], ["failed", "interrupted", null]);
    assert.equal(tls.requests.length, seen + 1);
    assert.equal((await database.pool.query("SELECT FROM postern.person_sends")).rowCount, 0);
    // It can be sent again, as any failed delivery.
    receiver.answer = () => ({});
    const again = await webhooks.call("POST", `/${endpoint.id}/deliveries/${lost}/retry`);
    assert.equal(again.status, 200, again.text);
  }
});

it("a test and a retry whose connections are cut while they wait end with their outcome", async (test) => {
  const { endpoint, api, proxy, sends } = await behindProxy(test);
  for (const [path, json, expected] of sends) {
    const answered = Promise.withResolvers<object>();
    receiver.answer = () => answered.promise;
    const answer = api.call("POST", `/api/webhooks/${endpoint.id}/${path}`, { json });
    const id = await noted();
    proxy.cut();
    // Until then it may take a connection for open that is not, and answer 503 as above.
    await eventually(async () => (await api.call("GET", `/api/webhooks/${endpoint.id}`)).status === 200);
    answered.resolve({ status: 201 });
    const { status, text } = await answer;
    assert.equal(status, 200, text);
    const { trigger, attempt, error, response_status, ...logged } = await webhooks.delivery(endpoint.id, id);
    assert.deepEqual({ trigger, attempt }, expected);
    assert.deepEqual([error, response_status], [null, 201]);
    assert.equal(logged.status, trigger === "test" ? "test" : "delivered");
    assert.equal((await database.pool.query("SELECT FROM postern.person_sends")).rowCount, 0);
  }
});

it("an outcome that comes after its send was ended changes nothing of the log", async () => {
  const answered = Promise.withResolvers<object>();
  receiver.answer = () => answered.promise;
  const { endpoint } = await webhooks.create();
  const answer = webhooks.call("POST", `/${endpoint.id}/test`, { json: { event_type: "invoice.paid" } });
  await noted();
  const lost = await age();
  await eventually(async () => (await webhooks.delivery(endpoint.id, lost)).status === "failed");
  answered.resolve({});
  assert.equal((await answer).status, 200);
  const { rows } = await database.pool.query("SELECT error FROM postern.deliveries WHERE endpoint_id = $1", [
    endpoint.id,
  ]);
  assert.deepEqual(rows, [{ error: "interrupted" }]);
});

it("a URL that is refused leaves no send behind", async () => {
  receiver.answer = () => ({});
  const { endpoint } = await webhooks.create();
  await database.pool.query("UPDATE postern.endpoints SET url = 'https://10.0.0.1/' WHERE id = $1", [
    endpoint.id,
  ]);
  const answer = await webhooks.call("POST", `/${endpoint.id}/test`, {
    json: { event_type: "invoice.paid" },
  });
  assertRefused(answer, REFUSED.unsafeUrl);
  const { rows } = await database.pool.query(
    `SELECT id FROM postern.person_sends UNION ALL SELECT id FROM postern.deliveries WHERE endpoint_id = $1`,
    [endpoint.id],
  );
  assert.deepEqual(rows, []);
});
