/** A second tenant with every id of the first: on each route it is as if they were nobody's. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { steered } from "./support/receivers.ts";
import { OTHER_OWNER, PRODUCER } from "./support/calls.ts";
import { startTestService, type TestService } from "./support/service.ts";
import {
  assertRefused,
  first,
  publish,
  REFUSED,
  UNKNOWN_ID,
  webhooksOf,
  type Webhooks,
} from "./support/webhooks.ts";

const receiver = steered();
let service: TestService;
let acme: Webhooks;
let globex: Webhooks;
let endpointId: string;
let deliveryId: string;
let eventId: string;

before(async () => {
  service = await startTestService({ respond: receiver.respond, env: { RETRY_SCHEDULE: "0s" } });
  acme = webhooksOf(service);
  globex = webhooksOf(service, OTHER_OWNER);
  receiver.answer = () => ({ status: 500 });
  // Not the notice of its exhausted event: that would be sent to it amid the tests that nothing changes it.
  endpointId = (await acme.create({ description: "acme's own", events: ["invoice.*"] })).endpoint.id;
  eventId = (await publish(service, { type: "invoice.paid", data: { secret: "acme" } })).id;
  deliveryId = first(await acme.waitFor(endpointId, "failed")).id;
});
after(() => service.stop());

describe("another tenant", () => {
  const refused: [string, () => string, unknown?][] = [
    ["GET", () => `/${endpointId}`],
    ["PATCH", () => `/${endpointId}`, { description: "globex's now" }],
    ["PATCH", () => `/${endpointId}`, {}],
    ["DELETE", () => `/${endpointId}`],
    ["POST", () => `/${endpointId}/rotate-secret`],
    ["POST", () => `/${endpointId}/test`, { event_type: "invoice.paid" }],
    ["GET", () => `/${endpointId}/deliveries/${deliveryId}`],
    ["POST", () => `/${endpointId}/deliveries/${deliveryId}/retry`],
    ["POST", () => `/${endpointId}/leases`, {}],
    ["POST", () => `/${endpointId}/acks`, { lease_id: UNKNOWN_ID, acks: [{ id: UNKNOWN_ID }] }],
  ];
  for (const [method, path, json] of refused) {
    it(`gets not found from ${method} ${path.toString().slice(6).replaceAll(/[`$]/g, "")}`, async () => {
      const [before, sent] = [await acme.detail(endpointId), service.receiver.requests.length];
      assertRefused(await globex.call(method, path(), { json }), REFUSED.notFound);
      assert.deepEqual(await acme.detail(endpointId), before);
      assert.equal(service.receiver.requests.length, sent);
    });
  }

  it("sees none of the first tenant's endpoints and deliveries in its lists", async () => {
    assert.deepEqual(await globex.list(), []);
    assert.deepEqual(await globex.deliveries(endpointId), []);
    assert.deepEqual(await globex.deliveries(endpointId, `?event_id=${eventId}&status=failed`), []);
    for (const query of ["", `?endpoint_id=${endpointId}`, `?event_id=${eventId}`, `?before=${deliveryId}`]) {
      const found = await service.call("GET", `/api/deliveries${query}`, { as: OTHER_OWNER });
      assert.deepEqual(found.body, { searched_to: null, deliveries: [] }, query);
    }
  });

  it("finds neither the first tenant's event nor its delivery by id", async () => {
    for (const path of [`/api/events/${eventId}`, `/api/deliveries/${deliveryId}`]) {
      assertRefused(await service.call("GET", path, { as: OTHER_OWNER }), REFUSED.notFound);
    }
    const found = await service.call("GET", "/api/events", { as: OTHER_OWNER });
    assert.deepEqual(found.body, { searched_to: null, events: [] });
  });

  it("cannot reach the first tenant's delivery through an endpoint of its own", async () => {
    const { endpoint } = await globex.create();
    assertRefused(await globex.call("GET", `/${endpoint.id}/deliveries/${deliveryId}`), REFUSED.notFound);
    assertRefused(
      await globex.call("POST", `/${endpoint.id}/deliveries/${deliveryId}/retry`),
      REFUSED.notFound,
    );
    await globex.remove(endpoint.id);
  });

  it("gets none of the first tenant's events", async () => {
    const { endpoint } = await globex.create({ url: `${service.receiver.url}/globex` });
    receiver.answer = () => ({});
    assert.equal((await publish(service, { type: "invoice.paid" })).deliveries, 1);
    const own = await publish(service, { type: "invoice.paid" }, { ...PRODUCER, tid: "globex" });
    assert.equal(own.deliveries, 1);
    const rows = await globex.waitFor(endpoint.id, "delivered");
    assert.deepEqual(
      rows.map((row) => row.event_id),
      [own.id],
    );
    const got = service.receiver.requests.filter((request) => request.path.endsWith("/globex"));
    assert.deepEqual(
      got.map((request) => request.headers["webhook-id"]),
      [own.id],
    );
    await globex.remove(endpoint.id);
  });
});
