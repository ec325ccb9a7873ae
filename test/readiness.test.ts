/** `/ready` and the gauges notice that what is due is not sent, in every process, and do not mind slow receivers. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import * as z from "zod";
import { createEndpoint, patchEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { steered } from "./support/receivers.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;
let endpointId: string;

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  api = await startTestService({ database, receiver, roles: ["api"] });
});
after(async () => {
  await api.stop();
  await receiver.close();
  await database.drop();
});
beforeEach(async () => {
  // In the order in which a heartbeat and the look at the queue lock them, or the three could deadlock.
  await sql("TRUNCATE postern.endpoints, postern.dispatches, postern.outbox, postern.event_types");
  endpointId = (await createEndpoint(api, { url: receiver.url })).endpoint.id;
});

const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);

async function reasonsOf(service: TestService): Promise<string[]> {
  const answer = await service.call("GET", "/ready", { as: null });
  if (answer.status === 200) return [];
  assert.equal(answer.status, 503, answer.text);
  return z.object({ reasons: z.array(z.string()) }).parse(answer.body).reasons;
}

/** Of a process that is ready. */
async function warningsOf(service: TestService): Promise<string[]> {
  const answer = await service.call("GET", "/ready", { as: null });
  assert.equal(answer.status, 200, answer.text);
  return z.object({ warnings: z.array(z.string()).default([]) }).parse(answer.body).warnings;
}

/** The reasons once there are as many as expected: the queue is measured anew each second. */
function reasonsWhen(service: TestService, count: number): Promise<string[]> {
  return eventually(async () => {
    const reasons = await reasonsOf(service);
    return reasons.length === count && reasons;
  });
}

async function gauge(service: TestService, name: string): Promise<number> {
  const { text } = await service.call("GET", "/metrics", { as: null });
  const [, value] = new RegExp(`^${name} (.+)$`, "m").exec(text) ?? [];
  assert.ok(value !== undefined, name);
  return Number(value);
}

async function startWorker(test: { after(work: () => Promise<void>): void }): Promise<TestService> {
  const worker = await startTestService({ database, receiver, roles: ["worker"], env: api.env });
  test.after(() => worker.stop());
  return worker;
}

it("a process has a heartbeat, though nobody asked whether it is ready", async () => {
  await eventually(async () => {
    const { rows } = await sql("SELECT name FROM postern.heartbeats");
    return rows.some(({ name }) => name === "api");
  });
});

describe("/ready of a process without a worker", () => {
  it("reports due dispatches that no worker claims, and recovers when a worker comes", async (test) => {
    await publish(api);
    assert.deepEqual(await reasonsOf(api), []);
    await sql(
      "UPDATE postern.dispatches SET due_at = now() - interval '40 s', claimable_at = now() - interval '40 s'",
    );
    const [reason] = await reasonsWhen(api, 1);
    assert.match(reason ?? "", /^no worker claims due dispatches: 1, the first for 4[0-9] s; start one/);
    assert.ok((await gauge(api, "webhook_queue_longest_wait_seconds")) >= 40);
    const worker = await startWorker(test);
    await reasonsWhen(api, 0);
    assert.deepEqual(await reasonsOf(worker), []);
    assert.equal(await gauge(api, "webhook_queue_longest_wait_seconds"), 0);
  });

  it("names leases that ended and were not taken over, and recovers when they are", async (test) => {
    await publish(api);
    await sql(
      "UPDATE postern.dispatches SET lease_owner = gen_random_uuid(), claimable_at = now() - interval '2 minutes'",
    );
    const reasons = await reasonsWhen(api, 2);
    assert.match(reasons.join("\n"), /^1 leases of dead or hanging workers ended more than 60 s ago/m);
    assert.equal(await gauge(api, "webhook_queue_dead_leases"), 1);
    await startWorker(test);
    await reasonsWhen(api, 0);
    assert.equal(await gauge(api, "webhook_queue_dead_leases"), 0);
  });

  it("warns of a backlog that grows although workers run, and stays 200", async () => {
    await publish(api);
    await sql("UPDATE postern.dispatches SET claimable_at = now() - interval '6 minutes'");
    await publish(api);
    await sql(
      "UPDATE postern.dispatches SET lease_owner = gen_random_uuid(), claimable_at = now() + interval '1 minute' WHERE claimable_at > now() - interval '1 minute'",
    );
    const warnings = await eventually(async () => {
      const found = await warningsOf(api);
      return found.length > 0 && found;
    });
    assert.match(warnings.join(), /^due dispatches have waited 36[0-9] s for a worker, more than 300/);
  });
});

/** An event in the outbox, as `postern.publish` would have left it so long ago. */
async function leaveInOutbox(type: string, age: string): Promise<void> {
  await sql(
    `INSERT INTO postern.outbox (id, tenant_id, type, body)
      VALUES (postern.lowest_id_at(now() - $1::interval), 'acme', $2, '{"data":{}}')`,
    [age, type],
  );
}

describe("the outbox", () => {
  it("makes a process without a worker unready when its oldest event waits, until a worker comes", async (test) => {
    await sql("INSERT INTO postern.event_types VALUES ('invoice.paid')");
    await reasonsWhen(api, 0);
    await leaveInOutbox("invoice.paid", "6 minutes");
    await leaveInOutbox("invoice.paid", "1 minute");
    const [reason] = await reasonsWhen(api, 1);
    assert.match(reason ?? "", /^events from SQL have waited 36[0-9] s .*: 2 events; start or add a worker/);
    assert.equal(await gauge(api, "webhook_outbox_waiting"), 2);
    const age = await gauge(api, "webhook_outbox_oldest_age_seconds");
    assert.ok(age >= 360 && age < 420, String(age));
    await startWorker(test);
    await reasonsWhen(api, 0);
    assert.equal(await gauge(api, "webhook_outbox_waiting"), 0);
    assert.equal(await gauge(api, "webhook_outbox_oldest_age_seconds"), 0);
  });

  it("does not count what waits for a worker that knows its type", async () => {
    await sql("INSERT INTO postern.event_types VALUES ('invoice.paid')");
    await leaveInOutbox("order.removed", "9 minutes");
    await leaveInOutbox("invoice.paid", "1 minute");
    await eventually(async () => (await gauge(api, "webhook_outbox_waiting")) === 1);
    assert.deepEqual(await reasonsOf(api), []);
    assert.ok((await gauge(api, "webhook_outbox_oldest_age_seconds")) < 120);
  });
});

describe("/ready of a database that answers with an error", () => {
  it("does not say that it is out of reach", async (test) => {
    await sql("REVOKE SELECT ON postern.dispatches FROM postern_worker");
    test.after(() => sql("GRANT SELECT ON postern.dispatches TO postern_worker"));
    // What an earlier measuring found is believed for a second.
    await eventually(async () => {
      const reasons = await reasonsOf(api);
      assert.ok(!reasons.includes("the database cannot be reached"));
      return reasons.includes("the queue's state could not be read: see the log");
    });
    await sql("GRANT SELECT ON postern.dispatches TO postern_worker");
    await reasonsWhen(api, 0);
  });
});

describe("/ready stays 200", () => {
  it("while a rate-limited endpoint's dispatches are late for an hour", async (test) => {
    await patchEndpoint(api, endpointId, { rate_limit: 1 });
    const before = receiver.requests.length;
    const events = Array.from({ length: 20 }, () => publish(api));
    await Promise.all(events);
    await sql("UPDATE postern.dispatches SET due_at = now() - interval '1 hour'");
    const worker = await startWorker(test);
    await eventually(async () => receiver.requests.length > before);
    assert.deepEqual(await reasonsOf(worker), []);
    assert.deepEqual(await reasonsWhen(api, 0), []);
  });

  it("while what a full lane turned away waits to be claimed again", async () => {
    await publish(api);
    await sql(
      "UPDATE postern.dispatches SET due_at = now() - interval '1 hour', claimable_at = now() + interval '1 minute'",
    );
    await reasonsWhen(api, 0);
    assert.deepEqual(await reasonsOf(api), []);
  });

  it("when an endpoint is enabled whose dispatches were held for a day", async () => {
    await publish(api);
    await patchEndpoint(api, endpointId, { enabled: false });
    await sql(
      "UPDATE postern.dispatches SET due_at = now() - interval '1 day', claimable_at = now() - interval '1 day'",
    );
    await patchEndpoint(api, endpointId, { enabled: true });
    await eventually(async () => (await gauge(api, "webhook_queue_oldest_age_seconds")) > 80_000);
    assert.deepEqual(await reasonsOf(api), []);
  });
});

/** Events of these tenants with so long a body each. */
async function publishFor(tenants: readonly string[], length: number): Promise<void> {
  const json = tenants.map((tenant_id) => ({
    type: "invoice.paid",
    tenant_id,
    data: { note: "x".repeat(length) },
  }));
  const answer = await api.call("POST", "/api/events", { as: { ...PRODUCER, tid: "*" }, json });
  assert.equal(answer.status, 202, answer.text);
}

describe("/ready of a worker without room", () => {
  // Large bodies fill the memory that is divided; beyond it each tenant may still have 64 KiB, up to half as much again.
  const LARGE = Array.from({ length: 33 }, (_, n) => `large-${n}`);
  const SMALL = Array.from({ length: 280 }, (_, n) => `small-${n}`);
  const AT_ONCE = 14;

  it("stays 200 and warns while slow receivers hold all of it, and no longer", async (test) => {
    const slow = steered();
    const held = await startReceiver({ respond: slow.respond });
    const answered = Promise.withResolvers<object>();
    slow.answer = () => answered.promise;
    const worker = await startTestService({
      database,
      receiver: held,
      roles: ["worker"],
      env: api.env,
      senderLimits: { attemptTimeoutMs: 60_000 },
    });
    test.after(async () => {
      answered.resolve({});
      await worker.stop();
      await held.close();
    });
    assert.deepEqual(await warningsOf(worker), []);
    const tenants = [...LARGE, ...SMALL];
    for (const tid of tenants) await createEndpoint(api, { url: held.url }, { as: { ...OWNER, tid } });
    for (const tenant of LARGE) await publishFor([tenant], 1_040_000);
    for (let n = 0; n < SMALL.length; n += AT_ONCE) await publishFor(SMALL.slice(n, n + AT_ONCE), 60_000);
    const warnings = await eventually(async () => {
      const found = await warningsOf(worker);
      return found.length > 0 && found;
    });
    assert.deepEqual(warnings, [
      "this worker has no room: some receivers are slow, so add workers if other tenants' events wait",
    ]);
    assert.deepEqual(await warningsOf(api), []);

    answered.resolve({});
    await eventually(async () => (await sql("SELECT FROM postern.dispatches")).rowCount === 0);
    await eventually(async () => (await warningsOf(worker)).length === 0);
    assert.equal(new Set(held.requests.map(({ headers }) => headers["webhook-id"])).size, tenants.length);
  });
});
