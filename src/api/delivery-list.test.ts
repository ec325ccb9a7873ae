import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify } from "fastify";
import { logged } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { newEndpointId, newEventId } from "../shared/id.ts";
import { sendDeliveryList } from "./delivery-list.ts";

const rows = { tenantId: tenant("acme"), endpointId: newEndpointId(), eventId: newEventId() };

describe("a list whose bodies are too large to be written at once", () => {
  it("has its bodies read for GET, and none for HEAD", async () => {
    const delivery = { ...logged(rows), requestBody: "{}", nextAttemptAt: null, replayId: null };
    let read = 0;
    const log = {
      async *withBodies() {
        read++;
        yield delivery;
      },
    };
    const app = fastify();
    app.get("/", (_request, reply) =>
      sendDeliveryList(reply, log, {
        name: "deliveries",
        listed: [{ ...delivery, requestBody: null, omittedBodyBytes: 2 }],
      }),
    );
    const head = await app.inject({ method: "HEAD", url: "/" });
    assert.deepEqual([head.statusCode, head.body, read], [200, "", 0]);
    const { deliveries } = (await app.inject("/")).json();
    assert.deepEqual([deliveries.length, deliveries[0].request_body, read], [1, "{}", 1]);
  });
});
