/** What the worker's metrics show while it works, cannot, and gives back. */
import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import * as z from "zod";
import { createEndpoint, listDeliveries, patchEndpoint, publish } from "./support/api.ts";
import { eventually } from "./support/eventually.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
const gate = Promise.withResolvers<void>();

before(async () => {
  service = await startTestService({
    respond: async ({ path }) => {
      if (path.endsWith("/silent")) await gate.promise;
      if (path.endsWith("/poison")) return { status: 200, body: "poison" };
      return { status: path.endsWith("/gone") ? 410 : 200 };
    },
    storageTimes: { expireEveryMs: 100 },
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
    await eventually(async () => {
      const held = (await sample('webhook_dispatches_returned_total{reason="held"}')) ?? 0;
      const delivered = await sample('webhook_delivery_attempts_total{outcome="delivered",reason="none"}');
      return held + (delivered ?? 0) === 20;
    });
  });

  it("count endpoints that were disabled by what they answered", async () => {
    await endpointAt("/gone", "payment.failed");
    await publish(service, "payment.failed");
    await becomes('webhook_endpoints_disabled_total{reason="gone"}', 1);
  });

  it("count upkeep that failed, by what it was", async () => {
    await service.database.pool.query("ALTER TABLE postern.endpoints RENAME COLUMN unsettled TO broken");
    await eventually(
      async () => ((await sample('webhook_upkeep_failures_total{work="settle_dispatches"}')) ?? 0) > 0,
    );
    await service.database.pool.query("ALTER TABLE postern.endpoints RENAME COLUMN broken TO unsettled");
  });

  it("count upkeep of stored artifacts that failed", async () => {
    await service.database.pool.query("ALTER TABLE postern.stored_objects RENAME COLUMN deadline TO broken");
    await eventually(
      async () => ((await sample('webhook_upkeep_failures_total{work="expire_artifacts"}')) ?? 0) > 0,
    );
    await service.database.pool.query("ALTER TABLE postern.stored_objects RENAME COLUMN broken TO deadline");
  });
});

const sql = (text: string, values: unknown[] = []) => service.database.pool.query(text, values);

async function refuse(test: TestContext, check: string): Promise<void> {
  await sql(`ALTER TABLE postern.deliveries ADD CONSTRAINT refused CHECK (${check})`);
  test.after(() => sql("ALTER TABLE postern.deliveries DROP CONSTRAINT refused"));
}

async function warnings(): Promise<string[]> {
  const answer = await service.call("GET", "/ready", { as: null });
  assert.equal(answer.status, 200, answer.text);
  return z.object({ warnings: z.array(z.string()) }).parse(answer.body).warnings;
}

describe("an outcome that the database refuses for good", () => {
  it("for its body is recorded without it, and is not sent again", async (test) => {
    await refuse(test, "response_body IS DISTINCT FROM 'poison'");
    const id = await endpointAt("/poison", "document.deleted");
    await publish(service, "document.deleted");
    const row = await eventually(async () => (await listDeliveries(service, id, "?status=delivered"))[0]);
    assert.deepEqual([row.response_status, row.response_body, row.response_headers], [200, null, null]);
    await becomes('webhook_outcomes_refused_total{handling="recorded_bare"}', 1);
    assert.deepEqual(await warnings(), []);
  });

  it("altogether delays its next attempt ever longer, is warned of, and costs no other outcome", async (test) => {
    await refuse(test, "event_type <> 'invoice.overdue'");
    const refused = await endpointAt("/refused", "invoice.overdue");
    const taken = await endpointAt("/taken", "invoice.sent");
    await Promise.all([publish(service, "invoice.overdue"), publish(service, "invoice.sent")]);
    await eventually(async () => (await listDeliveries(service, taken))[0]?.status === "delivered");
    await becomes('webhook_delivery_attempts_total{outcome="error",reason="internal"}', 1);
    await becomes('webhook_outcomes_refused_total{handling="deferred"}', 1);
    assert.match((await warnings()).join(), /^the database refuses the outcomes of 1 attempts/);
    /** In minutes, when it was due `age` ago. */
    const delayAfter = async (age: string, deferred: number) => {
      await sql(
        `UPDATE postern.dispatches SET due_at = now() - $2::interval, claimable_at = now() WHERE endpoint_id = $1`,
        [refused, age],
      );
      await becomes('webhook_outcomes_refused_total{handling="deferred"}', deferred);
      return eventually(async () => {
        const { rows } = await service.database.pool.query<{ minutes: number }>(
          `SELECT round(extract(epoch FROM claimable_at - now()) / 60)::int AS minutes
            FROM postern.dispatches WHERE endpoint_id = $1 AND lease_owner IS NULL`,
          [refused],
        );
        return rows[0];
      });
    };
    assert.deepEqual(await delayAfter("10 minutes", 2), { minutes: 10 });
    assert.deepEqual(await delayAfter("1 day", 3), { minutes: 60 });
  });

  it("is recorded once the cause is gone, and is warned of no more", async () => {
    await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE NOT held");
    await eventually(async () => (await warnings()).length === 0);
    // Recording it may have made Postern's own event, which is then sent too.
    await eventually(
      async () => (await sql("SELECT FROM postern.dispatches WHERE NOT held")).rows.length === 0,
    );
  });
});
