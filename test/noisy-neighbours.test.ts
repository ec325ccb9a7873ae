/** A healthy tenant beside tenants whose endpoints never answer, on the running service. Orders and rows are counted, not times. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createEndpoint, publish } from "./support/api.ts";
import { OWNER, PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const SICK_TENANTS = 3;
const ENDPOINTS = 4;
const EVENTS = 400;
const DISPATCHES = SICK_TENANTS * ENDPOINTS * EVENTS;

let service: TestService;
let gate: PromiseWithResolvers<void>;

before(async () => {
  gate = Promise.withResolvers();
  service = await startTestService({
    async respond(request) {
      if (request.path.endsWith("/silent")) await gate.promise;
      return {};
    },
    env: { RETRY_SCHEDULE: Array.from({ length: 20 }, () => "0s").join(",") },
    // A busy machine may take longer for the healthy one's events than an attempt may take by default.
    senderLimits: { attemptTimeoutMs: 40_000, connectTimeoutMs: 40_000 },
  });
});
after(() => service.stop());

const count = async (what: string): Promise<number> => {
  const { rows } = await service.database.pool.query(`SELECT count(*)::int AS count FROM ${what}`);
  return rows[0].count;
};

it("gets its events while the others' attempts hang, and a dispatch costs few updates when they end", async () => {
  const text = "x".repeat(1000);
  for (let n = 0; n < SICK_TENANTS; n++) {
    const tid = `sick-${n}`;
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint++) {
      await createEndpoint(service, { url: `${service.receiver.url}/silent` }, { as: { ...OWNER, tid } });
    }
    const json = Array.from({ length: EVENTS }, () => ({ type: "invoice.paid", data: { text } }));
    const answer = await service.call("POST", "/api/events", { as: { ...PRODUCER, tid }, json });
    assert.equal(answer.status, 202, answer.text);
  }
  await createEndpoint(service, { url: `${service.receiver.url}/well` });
  for (let n = 0; n < 28; n++) {
    const { id } = await publish(service);
    await eventually(async () =>
      service.receiver.requests.some(({ headers }) => headers["webhook-id"] === id),
    );
  }
  assert.equal(
    await count("postern.deliveries WHERE tenant_id LIKE 'sick-%'"),
    0,
    "none of the hanging attempts had reached its time limit",
  );
  assert.equal(await count("postern.dispatches WHERE tenant_id LIKE 'sick-%'"), DISPATCHES);

  gate.resolve();
  await eventually(async () => (await count("postern.dispatches")) === 0);
  assert.equal(
    await count("postern.deliveries WHERE tenant_id LIKE 'sick-%' AND status = 'delivered'"),
    DISPATCHES,
  );
  const { updated, attempts } = await eventually(async () => {
    const { rows } = await service.database.pool.query<Record<"updated" | "attempts" | "ended", number>>(
      `SELECT n_tup_upd::int AS updated, n_tup_ins::int AS attempts, n_tup_del::int AS ended
        FROM pg_stat_user_tables WHERE relid = 'postern.dispatches'::regclass`,
    );
    const [sums] = rows;
    return sums !== undefined && sums.ended === sums.attempts && sums.attempts > DISPATCHES && sums;
  });
  assert.ok(updated <= 3 * attempts, `${updated} updates for ${attempts} attempts`);
});

it("sends to a rate-limited endpoint in the order of publishing, whatever has no room in memory", async () => {
  const { endpoint } = await createEndpoint(service, {
    url: `${service.receiver.url}/limited`,
    events: ["payment.failed"],
    rate_limit: 40,
  });
  const json = Array.from({ length: 300 }, (_, n) => ({ type: "payment.failed", data: { n } }));
  const answer = await service.call("POST", "/api/events", { as: PRODUCER, json });
  assert.equal(answer.status, 202, answer.text);
  const delivered = `postern.deliveries WHERE endpoint_id = '${endpoint.id}' AND status = 'delivered'`;
  await eventually(async () => (await count(delivered)) === 300);
  // By when they were sent: two requests may pass each other on their way.
  const { rows } = await service.database.pool.query(
    `SELECT event_id FROM ${delivered} ORDER BY sent_at, event_id`,
  );
  const sent = rows.map((row) => row.event_id);
  assert.deepEqual(
    sent,
    sent.toSorted((one, other) => (one < other ? -1 : 1)),
  );
});
