/** When an endpoint is disabled for good reason, and when the reason is no longer its own. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createEndpoint, getEndpoint, listDeliveries, patchEndpoint, publish } from "./support/api.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let gate = Promise.withResolvers<void>();
let status = 200;
let flaps = 0;

before(async () => {
  service = await startTestService({
    env: { RETRY_SCHEDULE: "0s,1h", DISABLE_AFTER: "5d" },
    async respond(request) {
      if (request.path === "/slow-gone") {
        await gate.promise;
        return { status: 410 };
      }
      if (request.path === "/slow-failing") {
        await gate.promise;
        return { status: 500 };
      }
      if (request.path === "/flapping") return { status: flaps++ % 2 === 0 ? 500 : 200 };
      return { status };
    },
  });
});
after(() => service.stop());

const urlOf = (path: string): string => `https://127.0.0.1:${service.receiver.port}${path}`;

async function failingSince(id: string): Promise<Date | null> {
  const { rows } = await service.database.pool.query(
    "SELECT failing_since FROM postern.endpoints WHERE id = $1",
    [id],
  );
  return rows[0]?.failing_since ?? null;
}

describe("an endpoint", () => {
  it("is not disabled by the answer of a URL that it no longer has", async () => {
    gate = Promise.withResolvers();
    const { endpoint } = await createEndpoint(service, {
      url: urlOf("/slow-gone"),
      events: ["document.signed"],
    });
    await publish(service, "document.signed");
    await eventually(async () => service.receiver.requests.some(({ path }) => path === "/slow-gone"));
    await patchEndpoint(service, endpoint.id, { url: urlOf("/repaired") });
    gate.resolve();
    await eventually(async () => (await listDeliveries(service, endpoint.id, "?status=failed"))[0]);
    const { endpoint: now } = await getEndpoint(service, endpoint.id);
    assert.deepEqual([now.enabled, now.disabled_reason], [true, null]);
  });

  it("no longer counts as failing once a person delivered to it", async () => {
    status = 500;
    const { endpoint } = await createEndpoint(service, { url: urlOf("/ok"), events: ["document.deleted"] });
    await publish(service, "document.deleted");
    const failed = await eventually(
      async () => (await listDeliveries(service, endpoint.id, "?status=failed"))[0],
    );
    assert.ok((await failingSince(endpoint.id)) !== null);
    status = 200;
    const retried = await service.call("POST", `/api/webhooks/${endpoint.id}/deliveries/${failed.id}/retry`);
    assert.equal(retried.status, 200);
    assert.equal(await failingSince(endpoint.id), null);
  });

  it("is not written at each answer when it answers now well and now badly, and ends as its answers do", async () => {
    const { endpoint } = await createEndpoint(service, {
      url: urlOf("/flapping"),
      events: ["payment.refunded"],
    });
    await service.database.pool.query(
      `CREATE TABLE public.writes (id uuid);
      CREATE FUNCTION public.count_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        'BEGIN INSERT INTO public.writes VALUES (new.id); RETURN NULL; END';
      CREATE TRIGGER count_write AFTER UPDATE ON postern.endpoints FOR EACH ROW EXECUTE FUNCTION public.count_write()`,
    );
    const startedAt = performance.now();
    const events = await Promise.all(Array.from({ length: 300 }, () => publish(service, "payment.refunded")));
    await eventually(async () => {
      const { rows } = await service.database.pool.query<{ ended: number }>(
        "SELECT count(*)::int AS ended FROM postern.deliveries WHERE endpoint_id = $1",
        [endpoint.id],
      );
      return rows[0]?.ended === events.length;
    });
    const { rows } = await service.database.pool.query<{ writes: number }>(
      "SELECT count(*)::int AS writes FROM public.writes WHERE id = $1",
      [endpoint.id],
    );
    // Two for each time that the endpoint was read, which is twice a second at most.
    const most = 2 * Math.ceil((performance.now() - startedAt) / 500 + 1);
    const writes = rows[0]?.writes ?? 0;
    assert.ok(writes >= 1 && writes <= most, `${writes} writes, not more than ${most}`);
  });

  it("is not disabled by an attempt that began before it worked again, though it fails anew", async () => {
    gate = Promise.withResolvers();
    const { endpoint } = await createEndpoint(service, {
      url: urlOf("/slow-failing"),
      events: ["invoice.sent"],
    });
    const failsSince = (since: string) =>
      service.database.pool.query(`UPDATE postern.endpoints SET failing_since = ${since} WHERE id = $1`, [
        endpoint.id,
      ]);
    await failsSince("now() - interval '6 days'");
    await publish(service, "invoice.sent");
    await eventually(async () => service.receiver.requests.some(({ path }) => path === "/slow-failing"));
    // As after a success and a failure meanwhile.
    await failsSince("now()");
    gate.resolve();
    await eventually(async () => (await listDeliveries(service, endpoint.id, "?status=failed"))[0]);
    const { endpoint: now } = await getEndpoint(service, endpoint.id);
    assert.deepEqual([now.enabled, now.disabled_reason], [true, null]);
  });

  it("is disabled after only failures for DISABLE_AFTER, and told so by an event", async () => {
    status = 500;
    const { endpoint } = await createEndpoint(service, { url: urlOf("/ok"), events: ["document.uploaded"] });
    await service.database.pool.query(
      "UPDATE postern.endpoints SET failing_since = now() - interval '5 days' WHERE id = $1",
      [endpoint.id],
    );
    await publish(service, "document.uploaded");
    const disabled = await eventually(async () => {
      const found = await getEndpoint(service, endpoint.id);
      return !found.endpoint.enabled && found.endpoint;
    });
    assert.equal(disabled.disabled_reason, "failing");
    const told = await eventually(async () => {
      const { rows } = await service.database.pool.query(
        "SELECT body::json -> 'data' ->> 'endpoint_id' AS id FROM postern.events WHERE type = 'endpoint.disabled'",
      );
      return rows.length > 0 && rows;
    });
    assert.deepEqual(told, [{ id: endpoint.id }]);
  });
});
