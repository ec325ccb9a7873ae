/** An event's story, read while its attempts end. */
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createTenantPool, type TenantPool } from "../src/database/tenant-pool.ts";
import { EventLog } from "../src/deliveries/event-log.ts";
import { parseEventId, parseTenantId } from "../src/shared/id.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { first, publish, webhooksOf } from "./support/webhooks.ts";

const answered = Promise.withResolvers<void>();
let service: TestService;
let tenants: TenantPool;

before(async () => {
  service = await startTestService({
    respond: async () => {
      await answered.promise;
      return { status: 500 };
    },
    env: { RETRY_SCHEDULE: "0s,1h" },
  });
  tenants = createTenantPool({
    url: service.database.url,
    poolSize: 4,
    applicationName: "postern test",
    connectionTimeoutMs: 20_000,
  });
});
after(async () => {
  answered.resolve();
  await tenants.end();
  await service.stop();
});

it("has the next attempt of one that ends between the look for it and the reading of its row", async () => {
  const acme = webhooksOf(service);
  const { endpoint } = await acme.create();
  const { id } = await publish(service, { type: "invoice.paid" });
  const tenantId = parseTenantId("acme");
  const eventId = parseEventId(id);
  assert.ok(tenantId !== null && eventId !== null);
  await eventually(async () => service.receiver.requests.length === 1);
  let looks = 0;
  const log = new EventLog({
    ...tenants,
    reading: (tenant) => ({
      async query(text, values) {
        if (typeof text === "object" && text.name === "find-attempts") looks++;
        if (typeof text === "object" && text.name === "read-delivery-heads" && looks === 1) {
          answered.resolve();
          await acme.waitFor(endpoint.id, "failed");
        }
        return tenants.reading(tenant).query(text, values);
      },
    }),
  });
  const at = first((await log.get(tenantId, eventId)).endpoints);
  assert.equal(at.state, "pending");
  assert.deepEqual(
    at.attempts.map(({ status, attempt }) => [status, attempt]),
    [
      ["pending", 2],
      ["failed", 1],
    ],
  );
  assert.equal(looks, 2);
});
