/** What the worker's metrics show while it works, cannot, and gives back. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEndpoint, listDeliveries, patchEndpoint, publish } from "./support/api.ts";
import { eventually, startTestService, type TestService } from "./support/service.ts";

let service: TestService;
const gate = Promise.withResolvers<void>();

before(async () => {
  service = await startTestService({
    respond: async ({ path }) => {
      if (path.endsWith("/silent")) await gate.promise;
      return { status: path.endsWith("/gone") ? 410 : 200 };
    },
  });
});
after(() => service.stop());

/** The sample with these labels, or undefined where there is none. */
async function sample(name: string): Promise<number | undefined> {
  const { text } = await service.call("GET", "/metrics", { as: null });
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const becomes = (name: string, value: number) => eventually(async () => (await sample(name)) === value);

const endpointAt = async (path: string, type: string) =>
  (await createEndpoint(service, { url: service.receiver.url + path, events: [type] })).endpoint.id;

describe("a worker's metrics", () => {
  it("show what is in flight, what waits, and what is held when the endpoint is disabled", async () => {
    const id = await endpointAt("/silent", "invoice.paid");
    await Promise.all(Array.from({ length: 20 }, () => publish(service)));
    await becomes('webhook_worker_dispatches{state="in_flight"}', 8);
    await becomes('webhook_worker_dispatches{state="waiting"}', 12);
    await patchEndpoint(service, id, { enabled: false });
    gate.resolve();
    await becomes('webhook_worker_dispatches{state="waiting"}', 0);
    await becomes('webhook_worker_dispatches{state="in_flight"}', 0);
    // Those in flight were delivered; how many more started before the change was seen is chance.
    const held = (await sample('webhook_dispatches_returned_total{reason="held"}')) ?? 0;
    const delivered = await sample('webhook_delivery_attempts_total{outcome="delivered",reason="none"}');
    assert.equal(held + (delivered ?? 0), 20);
  });

  it("count endpoints that were disabled by what they answered", async () => {
    await endpointAt("/gone", "payment.failed");
    await publish(service, "payment.failed");
    await becomes('webhook_endpoints_disabled_total{reason="gone"}', 1);
  });

  it("count an outcome that the database does not take as an error, and it costs no other's", async () => {
    await service.database.pool.query(
      "ALTER TABLE postern.deliveries ADD CONSTRAINT refused CHECK (event_type <> 'invoice.overdue')",
    );
    await endpointAt("/refused", "invoice.overdue");
    const id = await endpointAt("/taken", "invoice.sent");
    await Promise.all([publish(service, "invoice.overdue"), publish(service, "invoice.sent")]);
    await eventually(async () => (await listDeliveries(service, id))[0]?.status === "delivered");
    await becomes('webhook_delivery_attempts_total{outcome="error",reason="internal"}', 1);
    await service.database.pool.query("ALTER TABLE postern.deliveries DROP CONSTRAINT refused");
  });

  it("count upkeep that failed, by what it was", async () => {
    await service.database.pool.query("ALTER TABLE postern.endpoints RENAME COLUMN unsettled TO broken");
    await eventually(
      async () => ((await sample('webhook_upkeep_failures_total{work="settle_dispatches"}')) ?? 0) > 0,
    );
    await service.database.pool.query("ALTER TABLE postern.endpoints RENAME COLUMN broken TO unsettled");
  });
});
