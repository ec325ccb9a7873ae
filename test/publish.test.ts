/** From `POST /api/events` to the signed request at the receiver and its row in the log. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, it } from "node:test";
import * as z from "zod";
import { deliveryObject, endpointObject } from "../src/api/schemas.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

const created = z.object({ endpoint: endpointObject, secret: z.string() });
const published = z.object({ id: z.string(), deliveries: z.number() });
const deliveryList = z.object({ deliveries: z.array(deliveryObject) });

let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

async function createEndpoint(events: string[]) {
  const answer = await service.call("POST", "/api/webhooks", { json: { url: service.receiver.url, events } });
  assert.equal(answer.status, 201, answer.text);
  return created.parse(answer.body);
}

describe("publishing an event", () => {
  it("delivers it, signed both ways, and logs the delivery", async () => {
    const { endpoint, secret } = await createEndpoint(["invoice.*"]);
    const data = { invoice_id: "inv_1", note: "süß 🍰" };
    const answer = await service.call("POST", "/api/events", {
      as: PRODUCER,
      json: { type: "invoice.paid", data },
    });
    assert.equal(answer.status, 202, answer.text);
    const event = published.parse(answer.body);
    assert.equal(event.deliveries, 1);

    const delivery = await eventually(async () => {
      const log = await service.call("GET", `/api/webhooks/${endpoint.id}/deliveries?status=delivered`);
      return deliveryList.parse(log.body).deliveries[0];
    });
    const request = service.receiver.requests.find((one) => one.headers["webhook-id"] === event.id);
    assert.ok(request !== undefined);
    const body = request.body.toString("utf8");
    const { headers } = request;
    const timestamp = String(headers["x-service-timestamp"]);
    const hex = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    const base64 = createHmac("sha256", key).update(`${event.id}.${timestamp}.${body}`).digest("base64");
    assert.equal(request.method, "POST");
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["x-service-signature"], `sha256=${hex}`);
    assert.equal(headers["x-service-event"], "invoice.paid");
    assert.equal(headers["x-service-delivery"], delivery.id);
    assert.equal(headers["webhook-timestamp"], timestamp);
    assert.equal(headers["webhook-signature"], `v1,${base64}`);
    assert.match(String(headers["user-agent"]), /^Postern\//);
    const sent = JSON.parse(body);
    assert.deepEqual(Object.keys(sent), ["id", "event", "created_at", "data"]);
    assert.deepEqual(sent.data, data);
    assert.equal(delivery.request_body, body);
    assert.equal(delivery.event_id, event.id);
    assert.equal(delivery.trigger, "event");
    assert.equal(delivery.attempt, 1);
  });
});
