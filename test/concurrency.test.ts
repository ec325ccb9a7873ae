/** Many callers at one moment: limits hold, and every answer is one that some order of the calls explains. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { serviceSignature, steered } from "./support/receivers.ts";
import { OWNER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { assertRefused, first, publish, REFUSED, sortedStatuses, webhooksOf } from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;

before(async () => {
  service = await startTestService({
    respond: receiver.respond,
    env: { RETRY_SCHEDULE: "0s,1h", MAX_ENDPOINTS_PER_TENANT: "10" },
  });
});
after(() => service.stop());

function times<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)));
}

describe("concurrent creates", () => {
  it("never make more endpoints than a tenant may have", async () => {
    const crowd = webhooksOf(service, { ...OWNER, tid: "crowd" });
    const answers = await times(15, () => crowd.call("POST", "", { json: { url: service.receiver.url } }));
    assert.equal(answers.filter(({ status }) => status === 201).length, 10);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assertRefused(answer, REFUSED.limitReached);
    }
    assert.equal((await crowd.list()).length, 10);
  });

  it("of several tenants do not count for each other", async () => {
    const answers = await times(20, (n) =>
      webhooksOf(service, { ...OWNER, tid: `crowd-${n % 2}` }).call("POST", "", {
        json: { url: service.receiver.url },
      }),
    );
    assert.ok(answers.every(({ status }) => status === 201));
  });
});

describe("concurrent rotations", () => {
  it("answer secrets of which exactly one signs", async () => {
    const webhooks = webhooksOf(service, { ...OWNER, tid: "rotating" });
    const { endpoint } = await webhooks.create();
    const secrets = await times(10, () => webhooks.rotate(endpoint.id, { grace_seconds: 60 }));
    assert.equal(new Set(secrets).size, 10);
    await webhooks.test(endpoint.id, "invoice.paid");
    const request = service.receiver.requests.at(-1);
    assert.ok(request !== undefined);
    const signing = secrets.filter(
      (secret) => serviceSignature(secret, request) === request.headers["x-service-signature"],
    );
    assert.equal(signing.length, 1);
    assert.equal(String(request.headers["webhook-signature"]).split(" ").length, 2);
  });
});

describe("concurrent retries", () => {
  it("each make an attempt of their own with a row of its own", async () => {
    const webhooks = webhooksOf(service);
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create();
    await publish(service, { type: "invoice.paid" });
    const failed = first(await webhooks.waitFor(endpoint.id, "failed"));
    receiver.answer = () => ({});
    const before = service.receiver.requests.length;
    const retries = await times(8, () => webhooks.retry(endpoint.id, failed.id));
    assert.ok(retries.every(({ status, attempt }) => status === "delivered" && attempt === 2));
    assert.equal(service.receiver.requests.length, before + 8);
    const delivered = await webhooks.deliveries(endpoint.id, "?status=delivered");
    assert.deepEqual(delivered.map(({ id }) => id).sort(), retries.map(({ id }) => id).sort());
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
    await webhooks.remove(endpoint.id);
  });
});

describe("deleting an endpoint under load", () => {
  it("is done once, and every event it was given ends in the log", async () => {
    const webhooks = webhooksOf(service);
    receiver.answer = () => ({ status: 500 });
    const { endpoint } = await webhooks.create();
    const events = times(60, () => publish(service, { type: "invoice.paid" }));
    const removals = await times(5, () => webhooks.call("DELETE", `/${endpoint.id}`));
    assert.deepEqual(sortedStatuses(removals), [200, 404, 404, 404, 404]);
    const dispatched = (await events).filter(({ deliveries }) => deliveries === 1).length;
    const rows = await webhooks.waitFor(endpoint.id, "failed", Math.min(dispatched, 50));
    assert.ok(
      rows.every(({ error, response_status }) => error === "endpoint_deleted" || response_status === 500),
    );
    // Attempts that were in flight as it was deleted are logged when they end.
    await eventually(async () => {
      const { rows: counts } = await service.database.pool.query<{ logged: number }>(
        "SELECT count(DISTINCT event_id)::int AS logged FROM postern.deliveries WHERE endpoint_id = $1",
        [endpoint.id],
      );
      return first(counts).logged === dispatched;
    });
    assert.deepEqual(await webhooks.deliveries(endpoint.id, "?status=pending"), []);
  });
});

describe("changes of one endpoint at once", () => {
  it("all take hold: none undoes another's member", async () => {
    const webhooks = webhooksOf(service, { ...OWNER, tid: "changing" });
    const { endpoint } = await webhooks.create();
    await Promise.all([
      webhooks.update(endpoint.id, { description: "d" }),
      webhooks.update(endpoint.id, { rate_limit: 3 }),
      webhooks.update(endpoint.id, { metadata: { a: "1" } }),
      webhooks.update(endpoint.id, { events: ["invoice.*"] }),
    ]);
    const { description, rate_limit, metadata, events } = (await webhooks.detail(endpoint.id)).endpoint;
    assert.deepEqual(
      { description, rate_limit, metadata, events },
      {
        description: "d",
        rate_limit: 3,
        metadata: { a: "1" },
        events: ["invoice.*"],
      },
    );
  });
});
