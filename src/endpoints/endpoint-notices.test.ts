import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { newEndpoint } from "../../test/support/store-inputs.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { newDeliveryId, newEventId, type EndpointId } from "../shared/id.ts";
import { makeEndpointNotices } from "./endpoint-notices.ts";
import { insertEndpoint } from "./endpoint-store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** As many as one round tells of. */
const AT_ONCE = 500;
const tenantId = tenant("acme");
const catalog = await openCatalog(undefined);

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(() =>
  database.pool.query(
    "DELETE FROM postern.endpoints; DELETE FROM postern.outbox; DELETE FROM postern.exhausted_events",
  ),
);
after(() => database.drop());

const round = (disableAfterMs = 5 * DAY_MS) =>
  makeEndpointNotices({ catalog, disableAfterMs })(database.pool);

async function create(events = ["*"], of = tenantId): Promise<EndpointId> {
  const endpoint = { ...newEndpoint({ tenantId: of }), events };
  await insertEndpoint(database.pool, endpoint);
  return endpoint.id;
}

/** All of them. */
async function failFor(minutes: number): Promise<void> {
  await database.pool.query("UPDATE postern.endpoints SET failing_since = now() - $1 * interval '1 min'", [
    minutes,
  ]);
}

async function createMany(count: number): Promise<void> {
  const id = await create();
  await database.pool.query(
    `INSERT INTO postern.endpoints (tenant_id, id, url, events, secret, created_at, updated_at)
      SELECT tenant_id, postern.uuid_v7(), url, events, secret, created_at, updated_at
      FROM postern.endpoints, generate_series(2, $2) WHERE id = $1`,
    [id, count],
  );
}

async function exhaustAll(): Promise<void> {
  await database.pool.query(
    `INSERT INTO postern.exhausted_events (tenant_id, endpoint_id, count, delivery_id, event_id, event_type)
      SELECT tenant_id, id, 1, postern.uuid_v7(), postern.uuid_v7(), 'invoice.paid' FROM postern.endpoints`,
  );
}

/** Takes what was published. */
async function told(): Promise<{ tenant: string; type: string; data: Record<string, unknown> }[]> {
  const { rows } = await database.pool.query<{ tenant: string; type: string; body: string }>(
    `WITH taken AS (DELETE FROM postern.outbox RETURNING *)
      SELECT tenant_id AS tenant, type, body FROM taken ORDER BY id`,
  );
  return rows.map(({ tenant: of, type, body }) => ({ tenant: of, type, data: JSON.parse(body).data }));
}

const countTold = async () => (await told()).length;

describe("a failing endpoint", () => {
  it("is told of with the times from which it fails and at which it will be disabled", async () => {
    const id = await create();
    await failFor(60);
    await round();
    const [notice, ...others] = await told();
    assert.deepEqual([notice?.tenant, notice?.type, others], ["acme", "endpoint.failing", []]);
    const { failing_since: since, disabled_after: end, ...members } = notice?.data ?? {};
    assert.deepEqual(members, { endpoint_id: id, url: "https://example.org/" });
    assert.equal(Date.parse(String(end)) - Date.parse(String(since)), 5 * DAY_MS);
    assert.ok(Math.abs(Date.parse(String(since)) - (Date.now() - 60 * MINUTE_MS)) < MINUTE_MS);
  });

  const cases: [disableAfter: string, minutes: number, times: readonly [number, number]][] = [
    ["five days", 7200, [60, 3600]],
    ["two hours and ten minutes", 130, [60, 65]],
    ["ninety minutes", 90, [45, 60]],
  ];
  for (const [name, minutes, times] of cases) {
    it(`is told of after ${times.join(" and ")} minutes where it is disabled after ${name}`, async () => {
      await create();
      const found: number[] = [];
      for (const at of times.flatMap((time) => [time - 1, time, time + 1])) {
        // Time passes: it fails for longer, and the last notice is as much longer ago.
        await database.pool.query(
          `UPDATE postern.endpoints SET failing_since = now() - $1 * interval '1 min',
            failing_told_at = now() - ($1 - $2) * interval '1 min'`,
          [at, found.at(-1)],
        );
        await round(minutes * MINUTE_MS);
        if ((await countTold()) > 0) found.push(at);
      }
      assert.deepEqual(found, times);
    });
  }

  it("is told of if it gets others than Postern's own events", async () => {
    for (const [events, count] of [
      [["*"], 1],
      [["invoice.paid"], 1],
      [["endpoint.*", "invoice.*"], 1],
      [["endpoint.failing", "invoice.paid@1"], 1],
      [["endpoint.*"], 0],
      [["endpoint.failing", "delivery.exhausted@1"], 0],
      [["storage.*", "replay.finished"], 0],
    ] as const) {
      await create([...events]);
      await failFor(60);
      await round();
      assert.equal(await countTold(), count, events.join());
      await database.pool.query("DELETE FROM postern.endpoints");
    }
  });

  it("is told of no more once it is disabled or deleted", async () => {
    for (const change of ["enabled = false, disabled_reason = 'manual'", "deleted_at = now()"]) {
      await create();
      await failFor(60);
      await database.pool.query(`UPDATE postern.endpoints SET ${change}`);
      await round();
      assert.equal(await countTold(), 0, change);
    }
  });
});

describe("exhausted events", () => {
  it("are told of together, with their count and the newest of them, once a minute", async () => {
    const id = await create();
    const newest = { delivery: newDeliveryId(), event: newEventId() };
    await exhaustAll();
    await database.pool.query(
      `INSERT INTO postern.exhausted_events VALUES ('acme', $1, 4, $2, $3, 'invoice.sent')`,
      [id, newest.delivery.replace(/^./, "f"), newest.event],
    );
    assert.equal(await round(), false);
    assert.deepEqual(await told(), [
      {
        tenant: "acme",
        type: "delivery.exhausted",
        data: {
          endpoint_id: id,
          url: "https://example.org/",
          count: 5,
          delivery_id: newest.delivery.replace(/^./, "f"),
          event_id: newest.event,
          event_type: "invoice.sent",
        },
      },
    ]);
    for (const [seconds, count] of [
      [55, 0],
      [60, 1],
    ]) {
      await database.pool.query(
        "UPDATE postern.endpoints SET exhausted_told_at = now() - $1 * interval '1 s'",
        [seconds],
      );
      await exhaustAll();
      await round();
      assert.equal(await countTold(), count, `after ${seconds} s`);
    }
  });
});

describe("a round", () => {
  it("may leave more failing endpoints when it told of as many as it can", async () => {
    await createMany(AT_ONCE + 1);
    await failFor(60);
    assert.equal(await round(), true);
    assert.equal(await countTold(), AT_ONCE);
    assert.equal(await round(), false);
    assert.equal(await countTold(), 1);
    assert.equal(await round(), false);
    assert.equal(await countTold(), 0);
  });

  it("may leave more exhausted events when it told of as many endpoints' as it can", async () => {
    await createMany(AT_ONCE + 1);
    await exhaustAll();
    assert.equal(await round(), true);
    assert.equal(await countTold(), AT_ONCE);
    assert.equal(await round(), false);
    assert.equal(await countTold(), 1);
  });

  it("tells each tenant of exhausted events before any of more, whatever their names", async () => {
    await createMany(AT_ONCE + 1);
    await create(["*"], tenant("globex"));
    await exhaustAll();
    await round();
    assert.deepEqual([...new Set((await told()).map((notice) => notice.tenant))], ["acme", "globex"]);
  });

  it("tells each tenant of a failing endpoint before any of more, whichever fail longest", async () => {
    await create(["*"], tenant("globex"));
    await failFor(70);
    await createMany(AT_ONCE);
    await database.pool.query(
      "UPDATE postern.endpoints SET failing_since = now() - interval '80 min' WHERE tenant_id = $1",
      [tenantId],
    );
    await round();
    assert.deepEqual([...new Set((await told()).map((notice) => notice.tenant))].sort(), ["acme", "globex"]);
  });
});
