/** A person delivers an event while its automatic attempt waits in the lane of another process. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEndpoint, listDeliveries, patchEndpoint, publish } from "./support/api.ts";
import { createTestDatabase, type TestDatabase } from "./support/postgres.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { startReceiver, type TlsReceiver } from "./support/tls-receiver.ts";

let database: TestDatabase;
let receiver: TlsReceiver;
let api: TestService;
let worker: TestService;
const published = Promise.withResolvers<void>();

before(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver({
    respond: async (_, index) => {
      if (index > 0) return { status: 200 };
      await published.promise;
      return { status: 500 };
    },
  });
  const env = { RETRY_SCHEDULE: "0s,1s" };
  api = await startTestService({ database, receiver, roles: ["api"], env });
  worker = await startTestService({ database, receiver, roles: ["worker"], env: api.env });
});
after(async () => {
  await worker.stop();
  await api.stop();
  await receiver.close();
  await database.drop();
});

const dispatchesOf = async (eventId: string) => {
  const { rows } = await database.pool.query<{ attempt: number; leased: boolean }>(
    "SELECT attempt, lease_owner IS NOT NULL AS leased FROM postern.dispatches WHERE event_id = $1",
    [eventId],
  );
  return rows;
};

describe("an automatic attempt that waits in a lane", () => {
  it("is not made once a person has delivered the event", async () => {
    const { endpoint } = await createEndpoint(api, { url: receiver.url, rate_limit: 1 });
    const event = await publish(api);
    // One a second, and due before the second attempt: behind these it has to wait.
    const others = await Promise.all(Array.from({ length: 8 }, () => publish(api)));
    published.resolve();
    const failed = await eventually(
      async () => (await listDeliveries(api, endpoint.id, "?status=failed"))[0],
    );
    await eventually(async () =>
      (await dispatchesOf(event.id)).some(({ attempt, leased }) => attempt === 2 && leased),
    );
    const path = `/api/webhooks/${endpoint.id}/deliveries/${failed.id}/retry`;
    assert.equal((await api.call("POST", path)).status, 200);
    await eventually(async () => (await dispatchesOf(event.id)).every(({ leased }) => !leased));

    await patchEndpoint(api, endpoint.id, { rate_limit: null });
    await eventually(
      async () =>
        (await listDeliveries(api, endpoint.id, "?status=delivered&limit=100")).length === others.length + 1,
    );
    const requests = receiver.requests.filter((request) => request.headers["webhook-id"] === event.id);
    assert.equal(requests.length, 2, "the first attempt and the person's");
  });
});

describe("a superseded dispatch that a worker still holds", () => {
  it("is not shown as pending, and not logged as failed when its endpoint is deleted", async () => {
    const { endpoint } = await createEndpoint(api, { url: receiver.url, events: ["invoice.sent"] });
    const insert = async (superseded: boolean) => {
      const { rows } = await database.pool.query<{ id: string }>(
        `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at,
            claimable_at, lease_owner, superseded)
          VALUES ('acme', $1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.sent', 2, now(),
            now() + interval '1 hour', gen_random_uuid(), $2)
          RETURNING id`,
        [endpoint.id, superseded],
      );
      return rows[0]?.id;
    };
    const superseded = await insert(true);
    const pending = await insert(false);
    for (const query of ["", "?status=pending"]) {
      const shown = await listDeliveries(api, endpoint.id, query);
      assert.deepEqual(
        shown.map(({ id }) => id),
        [pending],
      );
    }
    const path = `/api/webhooks/${endpoint.id}`;
    assert.equal((await api.call("GET", `${path}/deliveries/${pending}`)).status, 200);
    assert.equal((await api.call("GET", `${path}/deliveries/${superseded}`)).status, 404);
    assert.equal((await api.call("DELETE", path)).status, 200);
    const { rows } = await database.pool.query(
      "SELECT id, error FROM postern.deliveries WHERE endpoint_id = $1",
      [endpoint.id],
    );
    assert.deepEqual(rows, [{ id: pending, error: "endpoint_deleted" }]);
  });
});
