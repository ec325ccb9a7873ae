/** A dispatch that a worker leased while its endpoint was disabled, and gives back when that is deleted: it ends too. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { forgetDeletedEndpoints } from "../src/endpoints/endpoint-store.ts";
import { holdDispatches } from "../src/queue/postgres/follow-store.ts";
import { newDeliveryId, parseEndpointId, parseEventId } from "../src/shared/id.ts";
import { createEndpoint, patchEndpoint, publish } from "./support/api.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { tenant } from "./support/two-tenants.ts";

let api: TestService;

before(async () => {
  api = await startTestService({ roles: ["api"] });
});
after(() => api.stop());

it("is not held for an endpoint that nobody can enable any more, but ends as its others did", async (test) => {
  const { database, receiver, env } = api;
  const { endpoint } = await createEndpoint(api, { url: receiver.url });
  const eventId = parseEventId((await publish(api)).id);
  const endpointId = parseEndpointId(endpoint.id);
  assert.ok(eventId !== null && endpointId !== null);
  await patchEndpoint(api, endpoint.id, { enabled: false });
  assert.equal((await api.call("DELETE", `/api/webhooks/${endpoint.id}`)).status, 200);
  // One whose event was being accepted before the endpoint was disabled, and committed after it was deleted.
  const id = newDeliveryId();
  const leaseId = randomUUID();
  await database.pool.query(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, lease_owner)
      VALUES ('acme', $1, $2, $3, 'invoice.paid', 1, now(), now() + interval '1 minute', $4)`,
    [endpointId, id, eventId, leaseId],
  );
  const leased = {
    eventId,
    eventType: "invoice.paid",
    body: "{}",
    attempt: 1,
    once: false,
    leaseId,
    leaseEndsMs: 0,
  };
  await holdDispatches(database.pool, [{ tenantId: tenant("acme"), endpointId, id, ...leased }], "wait");
  const worker = await startTestService({ database, receiver, roles: ["worker"], env });
  test.after(() => worker.stop());
  const ended = await eventually(async () => {
    const { rows } = await database.pool.query<{ error: string }>(
      "SELECT error FROM postern.deliveries WHERE id = $1",
      [id],
    );
    return rows[0];
  });
  assert.deepEqual(ended, { error: "endpoint_deleted" });
});

it("is removed, after it was deleted, once its log is past its days, and not before", async (test) => {
  const { database, receiver, env } = api;
  const sql = (text: string, values: unknown[] = []) => database.pool.query(text, values);
  const names = ["forgotten", "with log", "recent", "alive", "unsettled", "with dispatch"];
  const ids = new Map<string, string>();
  for (const name of names) {
    const { endpoint } = await createEndpoint(api, { url: receiver.url, metadata: { name }, enabled: false });
    ids.set(name, endpoint.id);
    if (name !== "alive")
      assert.equal((await api.call("DELETE", `/api/webhooks/${endpoint.id}`)).status, 200);
  }
  const left = async () => {
    const { rows } = await sql(
      "SELECT metadata ->> 'name' AS name FROM postern.endpoints WHERE id = ANY ($1) ORDER BY id",
      [[...ids.values()]],
    );
    return rows.map(({ name }) => name);
  };
  const aged = names.filter((name) => name !== "alive" && name !== "recent").map((name) => ids.get(name));
  await sql(
    `UPDATE postern.endpoints SET deleted_at = now() - interval '3 days', unsettled = id = $2 WHERE id = ANY ($1)`,
    [aged, ids.get("unsettled")],
  );
  await sql(
    `INSERT INTO postern.deliveries (tenant_id, endpoint_id, id, event_id, event_type, trigger, status, attempt,
        request_headers, latency_ms)
      VALUES ('acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 'event', 'failed', 1, '{}', 1)`,
    [ids.get("with log")],
  );
  await sql(
    `INSERT INTO postern.dispatches
        (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held)
      VALUES ('acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid', 1, now(), now(), true)`,
    [ids.get("with dispatch")],
  );
  assert.equal(await forgetDeletedEndpoints(database.pool, 2), true);
  const kept = names.filter((name) => name !== "forgotten");
  assert.deepEqual(await left(), kept);
  assert.equal(await forgetDeletedEndpoints(database.pool, 2), false);

  await sql("DELETE FROM postern.deliveries WHERE endpoint_id = $1", [ids.get("with log")]);
  const worker = await startTestService({
    database,
    receiver,
    roles: ["worker"],
    env: { ...env, RETENTION_DAYS: "1" },
  });
  test.after(() => worker.stop());
  await eventually(async () => !(await left()).includes("with log"));
  assert.ok((await left()).includes("recent"));
  const { status } = await api.call("GET", `/api/webhooks/${ids.get("alive")}`);
  assert.equal(status, 200);
});
