/** Endpoints of one tenant that never answer, with more pending than a worker keeps in memory, beside one that does. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createEndpoint, publish } from "./support/api.ts";
import { PRODUCER } from "./support/calls.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;

before(async () => {
  service = await startTestService({ respond: ({ path }) => (path.endsWith("/hang") ? undefined : {}) });
});
after(() => service.stop());

it("a tenant's hanging endpoints do not keep its healthy one waiting", async () => {
  for (const name of ["a", "b"]) {
    await createEndpoint(service, { url: `${service.receiver.url}/${name}/hang`, events: ["invoice.paid"] });
  }
  await createEndpoint(service, { url: `${service.receiver.url}/ok`, events: ["payment.failed"] });
  const text = "x".repeat(8000);
  for (let batch = 0; batch < 12; batch++) {
    const events = Array.from({ length: 100 }, () => ({ type: "invoice.paid", data: { text } }));
    const answer = await service.call("POST", "/api/events", { as: PRODUCER, json: events });
    assert.equal(answer.status, 202, answer.text);
  }
  // Long enough that the pace of the lanes is known, by which what is turned away comes back.
  for (let event = 0; event < 8; event++) {
    const { id } = await publish(service, "payment.failed");
    await eventually(async () =>
      service.receiver.requests.some(({ headers }) => headers["webhook-id"] === id),
    );
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
});
