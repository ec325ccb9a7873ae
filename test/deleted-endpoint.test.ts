/** A dispatch that a worker leased while its endpoint was disabled, and gives back when that is deleted: it ends too. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, it } from "node:test";
import { holdDispatches } from "../src/queue/postgres/follow-store.ts";
import { newDeliveryId, parseEndpointId, parseEventId } from "../src/shared/id.ts";
import { createEndpoint, patchEndpoint, publish } from "./support/api.ts";
import { eventually, startTestService, type TestService } from "./support/service.ts";
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
  const leased = { eventId, eventType: "invoice.paid", body: "{}", attempt: 1, leaseId, leaseEndsMs: 0 };
  await holdDispatches(database.pool, [{ tenantId: tenant("acme"), endpointId, id, ...leased }], "wait");
  const worker = await startTestService({ database, receiver, roles: ["worker"], env });
  test.after(() => worker.stop());
  const ended = await eventually(async () => {
    const { rows } = await database.pool.query("SELECT error FROM postern.deliveries WHERE id = $1", [id]);
    return rows[0];
  });
  assert.deepEqual(ended, { error: "endpoint_deleted" });
});
