/** An event sent once more: which version, as which attempt, and what is noted of it; over HTTP it is in test/send-again.test.ts. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { SteeredTenants } from "../../test/support/steered-tenants.ts";
import { logged, newEndpoint } from "../../test/support/store-inputs.ts";
import { openTenantPool } from "../../test/support/tenant-pool.ts";
import { ADA, EVENT_TYPE } from "../../test/support/two-tenants.ts";
import { insertEndpoint } from "../endpoints/endpoint-store.ts";
import { sealSigningSecret } from "../endpoints/signing-secret.ts";
import { insertOnce } from "../queue/postgres/once-store.ts";
import { newDeliveryId, newEndpointId, newEventId, type EndpointId, type EventId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeSecretBox } from "../shared/secret-box.ts";
import { insertDelivery } from "./delivery-store.ts";
import { makeSendAgain } from "./send-again.ts";

const { tenantId } = ADA;
const secretBox = makeSecretBox([Buffer.alloc(32, 1)]);
const BODIES = { 1: '{"v":1}', 2: '{"v":2}', 3: '{"v":3}' };

let database: TestDatabase;
let tenants: SteeredTenants;
let eventId: EventId;
before(async () => {
  database = await createTestDatabase();
  tenants = new SteeredTenants(openTenantPool(database, 3));
});
beforeEach(async () => {
  tenants.reset();
  await database.pool.query("DELETE FROM postern.dispatches; DELETE FROM postern.audit_log");
  eventId = newEventId();
  await database.pool.query(
    `INSERT INTO postern.events (tenant_id, id, type, body, dispatch_count, version, versions)
      VALUES ($1, $2, $3, $4, 1, 2, $5)`,
    [tenantId, eventId, EVENT_TYPE, BODIES[2], JSON.stringify({ 1: BODIES[1], 3: BODIES[3] })],
  );
});
after(async () => {
  await tenants.end();
  await database.drop();
});

async function createEndpoint(events = ["*"], enabled = true): Promise<EndpointId> {
  const endpoint = { ...newEndpoint({ tenantId }), events, enabled };
  const secret = sealSigningSecret(secretBox, "a-secret-of-acme", { tenantId, endpointId: endpoint.id });
  await insertEndpoint(database.pool, { ...endpoint, secret });
  return endpoint.id;
}

const sendAgain = (
  event: EventId | null,
  endpoint: EndpointId | null,
  dispatchOnce: Parameters<typeof makeSendAgain>[0]["dispatchOnce"] = insertOnce,
) => makeSendAgain({ tenants, secretBox, dispatchOnce })(ADA, event, endpoint);

async function rowsOf(columns: string, table: string) {
  const { rows } = await database.pool.query(`SELECT ${columns} FROM postern.${table}`);
  return rows;
}

describe("an event that is sent again", () => {
  it("is pending as a first attempt, in the log's form, and the audit log says who sent it", async () => {
    const endpointId = await createEndpoint();
    const delivery = await sendAgain(eventId, endpointId);
    const { id, nextAttemptAt } = delivery;
    const what = { tenantId, endpointId, id, eventId, eventType: EVENT_TYPE, version: 2, attempt: 1 };
    assert.deepEqual(delivery, {
      ...what,
      testId: null,
      trigger: "retry",
      status: "pending",
      requestBody: BODIES[2],
      requestHeaders: null,
      responseStatus: null,
      responseHeaders: null,
      responseBody: null,
      latencyMs: 0,
      error: null,
      sentAt: null,
      replayId: null,
      nextAttemptAt,
    });
    assert.deepEqual(
      await rowsOf("id, endpoint_id, event_id, version, attempt, once, due_at", "dispatches"),
      [
        {
          id,
          endpoint_id: endpointId,
          event_id: eventId,
          version: 2,
          attempt: 1,
          once: true,
          due_at: nextAttemptAt,
        },
      ],
    );
    assert.deepEqual(
      await rowsOf("tenant_id, actor_type, actor_sub, action, endpoint_id, outcome, details", "audit_log"),
      [
        {
          tenant_id: tenantId,
          actor_type: "user",
          actor_sub: "ada",
          action: "event.sent",
          endpoint_id: endpointId,
          outcome: "done",
          details: { event_id: eventId, delivery_id: id },
        },
      ],
    );
  });

  for (const [subscription, version] of [
    [[`${EVENT_TYPE}@1`], 1],
    [[`${EVENT_TYPE}@3`], 3],
    [[`${EVENT_TYPE}@9`], 2],
    [[EVENT_TYPE], 2],
    [["document.deleted"], 2],
  ] as const) {
    it(`goes to an endpoint that subscribes to ${String(subscription)} and never had it in version ${version}`, async () => {
      const delivery = await sendAgain(eventId, await createEndpoint([...subscription]));
      assert.deepEqual([delivery.version, delivery.requestBody], [version, BODIES[version]]);
    });
  }

  it("goes in the version that the endpoint had last, as the attempt behind that", async () => {
    const endpointId = await createEndpoint();
    const row = { ...logged({ tenantId, endpointId, eventId }), id: newDeliveryId(), version: 1, attempt: 7 };
    await insertDelivery(database.pool, row);
    const { version, attempt, requestBody } = await sendAgain(eventId, endpointId);
    assert.deepEqual([version, attempt, requestBody], [1, 8, BODIES[1]]);
  });

  it("of one version has no other", async () => {
    await database.pool.query("UPDATE postern.events SET versions = NULL WHERE id = $1", [eventId]);
    const { version, requestBody } = await sendAgain(eventId, await createEndpoint([`${EVENT_TYPE}@1`]));
    assert.deepEqual([version, requestBody], [2, BODIES[2]]);
  });
});

describe("an event that cannot be sent again", () => {
  it("is refused, and leaves neither a dispatch nor an entry of the audit log", async () => {
    const endpointId = await createEndpoint();
    const disabled = await createEndpoint(["*"], false);
    for (const [event, endpoint, code] of [
      [newEventId(), endpointId, "not_found"],
      [newEventId(), null, "not_found"],
      [eventId, null, "endpoint_not_found"],
      [eventId, newEndpointId(), "endpoint_not_found"],
      [eventId, disabled, "endpoint_disabled"],
    ] as const) {
      await assert.rejects(
        sendAgain(event, endpoint),
        (error) => error instanceof Refusal && error.code === code,
      );
    }
    await assert.rejects(
      sendAgain(eventId, endpointId, async () => null),
      /an inserted row is answered/,
    );
    assert.deepEqual([await rowsOf("id", "dispatches"), await rowsOf("id", "audit_log")], [[], []]);
  });

  it("is not looked for under an id that is none, nor is an endpoint", async () => {
    await assert.rejects(sendAgain(null, newEndpointId()), Refusal);
    assert.deepEqual(tenants.names(), []);
    await assert.rejects(sendAgain(eventId, null), Refusal);
    assert.deepEqual(tenants.names(), ["find-event"]);
  });
});
