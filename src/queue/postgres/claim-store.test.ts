import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed, event } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import { LEASE_MS } from "../queue.ts";
import { ALL_SLOTS, NO_SLOTS } from "../slots.ts";
import { acceptEvents } from "./accept-store.ts";
import {
  claimDispatches,
  findBacklogs,
  findDue,
  parkDispatches,
  parkOldest,
  pullDispatches,
} from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
const NOBODY = { leaseId: null, slots: NO_SLOTS, parked: [], firstDelayMs: 0 };

for (const [name, park] of [
  ["with all that is due", () => parkDispatches(seeded.pool, [seeded.acme.endpointId])],
  ["with the endpoint's oldest", () => parkOldest(seeded.pool, [seeded.acme])],
] as const) {
  it(`takes what it parks ${name} from a worker whose lease has ended`, async () => {
    await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", seeded.acme.leasedId);
    await park();
    assert.deepEqual(
      await sql("SELECT parked, lease_owner FROM postern.dispatches WHERE id = $1", seeded.acme.leasedId),
      [{ parked: true, lease_owner: null }],
    );
    assert.deepEqual(await completeAttempts(seeded.pool, [completed(seeded.acme)], "wait"), new Set());
  });
}

it("pulls nothing that a person delivered meanwhile", async () => {
  const ask = { ...seeded.acme, dispatches: 9, bodyBytes: 1e6 };
  await sql("UPDATE postern.dispatches SET superseded = true WHERE parked AND replay_id IS NULL");
  const pulled = (await pullDispatches(seeded.pool, LEASE_OWNER, [ask])).get(seeded.acme.endpointId);
  assert.deepEqual(
    [...(pulled?.claimed ?? []), ...(pulled?.withoutEvent ?? [])].map(({ attempt }) => attempt),
    [2],
    "the replay's alone",
  );
});

it("makes a first attempt due after the delay that the schedule begins with", async () => {
  const given = event(seeded.acme, null);
  await acceptEvents(seeded.pool, [given], {
    leaseId: null,
    slots: NO_SLOTS,
    parked: [],
    firstDelayMs: 3_600_000,
  });
  assert.deepEqual(
    await sql(
      `SELECT due_at - now() > interval '59 minutes' AS due, claimable_at = due_at AS claimable
        FROM postern.dispatches WHERE event_id = $1`,
      given.id,
    ),
    [{ due: true, claimable: true }],
  );
});

describe("what a worker leases", () => {
  const PLENTY = { dispatches: 9, bodyBytes: 1e6 };

  for (const [verb, lease] of [
    ["claims", () => claimDispatches(seeded.pool, LEASE_OWNER, PLENTY, { slots: ALL_SLOTS, without: [] })],
    [
      "pulls",
      async () => {
        await parkDispatches(seeded.pool, [seeded.acme.endpointId]);
        const asks = [seeded.globex, seeded.acme].map((rows) => Object.assign({ ...rows }, PLENTY));
        const pulled = await pullDispatches(seeded.pool, LEASE_OWNER, asks);
        const others = { claimed: [], withoutEvent: [], isAll: true };
        assert.deepEqual(pulled.get(seeded.globex.endpointId), others);
        return pulled.get(seeded.acme.endpointId);
      },
    ],
  ] as const) {
    it(`is all that an attempt needs, apart from what has lost its event, where it ${verb} it`, async () => {
      await sql("DELETE FROM postern.dispatches");
      const { tenantId, endpointId } = seeded.acme;
      const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
      const [plain, traced, gone] = [
        event(seeded.acme, null),
        { ...event(seeded.acme, null), body: '{"data":"ü"}', traceparent },
        event(seeded.acme, null),
      ];
      await acceptEvents(seeded.pool, [plain, traced, gone], NOBODY);
      await sql("DELETE FROM postern.events WHERE id = $1", gone.id);
      const ids = await sql("SELECT id FROM postern.dispatches ORDER BY event_id");
      const before = performance.now();
      const leased = await lease();
      const [leaseEndsMs = 0] = leased?.claimed.map((dispatch) => dispatch.leaseEndsMs) ?? [];
      assert.ok(leaseEndsMs >= before + LEASE_MS && leaseEndsMs <= performance.now() + LEASE_MS);
      const [first, second, third] = [plain, traced, gone].map(
        ({ id: eventId, type: eventType, body }, n) => {
          const key = { id: ids[n].id, tenantId, endpointId, eventId, eventType };
          return Object.assign(key, { body, attempt: 1, once: false, leaseId: LEASE_OWNER, leaseEndsMs });
        },
      );
      assert.deepEqual(leased, {
        claimed: [first, { ...second, traceparent }],
        withoutEvent: [{ ...third, body: "" }],
        isAll: true,
      });
    });
  }
});

it("says whether nothing more is due or parked than it leased", async () => {
  type Limits = { dispatches: number; bodyBytes: number };
  const claim = (limits: Limits) =>
    claimDispatches(seeded.pool, LEASE_OWNER, limits, { slots: ALL_SLOTS, without: [] });
  const pull = async (limits: Limits) => {
    await parkDispatches(seeded.pool, [seeded.acme.endpointId]);
    const pulled = await pullDispatches(seeded.pool, LEASE_OWNER, [{ ...seeded.acme, ...limits }]);
    return pulled.get(seeded.acme.endpointId);
  };
  await sql("DELETE FROM postern.dispatches");
  for (const lease of [claim, pull]) {
    await acceptEvents(
      seeded.pool,
      Array.from({ length: 4 }, () => event(seeded.acme, null)),
      NOBODY,
    );
    const found = [];
    for (const limits of [
      { dispatches: 1, bodyBytes: 1e6 },
      { dispatches: 9, bodyBytes: 1 },
      { dispatches: 2, bodyBytes: 1e6 },
      { dispatches: 1, bodyBytes: 1e6 },
    ]) {
      const leased = await lease(limits);
      found.push([leased?.claimed.length, leased?.isAll]);
    }
    assert.deepEqual(found, [
      [1, false],
      [1, false],
      [2, false],
      [0, true],
    ]);
  }
});

it("finds the endpoints with due dispatches in some slots, however few of them it may read, and with parked ones", async () => {
  const both = [seeded.acme, seeded.globex].map(({ tenantId, endpointId }) => ({ tenantId, endpointId }));
  for (const mostRead of [1, 1000]) {
    const found = await findDue(seeded.pool, ALL_SLOTS, mostRead);
    assert.deepEqual(new Set(found), new Set(both.map(({ endpointId }) => endpointId)));
    assert.deepEqual(await findDue(seeded.pool, NO_SLOTS, mostRead), []);
  }
  assert.deepEqual(await findBacklogs(seeded.pool), both);
});

it("parks 5000 at once, and says whether that was all", async () => {
  await sql("DELETE FROM postern.dispatches");
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $1, $2, postern.uuid_v7(), $3, 'invoice.paid', 1, now(), now() FROM generate_series(1, 5001)`,
    seeded.acme.tenantId,
    seeded.acme.endpointId,
    seeded.acme.eventId,
  );
  const park = async () => {
    const isAll = await parkDispatches(seeded.pool, [seeded.acme.endpointId]);
    const [left] = await sql("SELECT count(*)::int FROM postern.dispatches WHERE NOT parked");
    return [isAll, left.count];
  };
  assert.deepEqual(
    [await park(), await park()],
    [
      [false, 1],
      [true, 0],
    ],
  );
});
