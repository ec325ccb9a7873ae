import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { addDispatches, type GivenDispatch } from "../../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { event } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import { newEndpointId, parseTenantId, type EndpointId } from "../../shared/id.ts";
import { ALL_SLOTS, NO_SLOTS, slotOf, SlotSet } from "../slots.ts";
import { acceptEvents } from "./accept-store.ts";
import { claimInTurns, FIRST_TURN } from "./claim-turns-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
const PLENTY = { dispatches: 500, bodyBytes: 1e6 };

beforeEach(() => sql("DELETE FROM postern.dispatches"));

async function claim({
  limits = PLENTY,
  slots = ALL_SLOTS,
  without = [] as readonly EndpointId[],
  turn = FIRST_TURN,
} = {}) {
  const found = await claimInTurns(seeded.pool, LEASE_OWNER, limits, { slots, without, turn });
  const { claimed, withoutEvent, isAll } = found.claimed;
  return { leased: [...claimed, ...withoutEvent], isAll, turn: found.turn };
}

/** Each attempt is a dispatch of its own, due before the next one. */
function dueInOrder(count: number, fromMs: number): GivenDispatch[] {
  return Array.from({ length: count }, (_, n) => ({ attempt: n + 1, claimableInMs: fromMs + n }));
}

function at(tenant: string) {
  const tenantId = parseTenantId(tenant);
  assert.ok(tenantId !== null);
  return { ...seeded.globex, tenantId, endpointId: newEndpointId() };
}

it("takes another tenant's single dispatch beside thousands that were due before it", async () => {
  await addDispatches(seeded.pool, seeded.acme, dueInOrder(3000, -9000));
  await addDispatches(seeded.pool, seeded.globex, [{ attempt: 1 }]);
  const { leased, isAll } = await claim();
  assert.deepEqual(
    [leased.length, leased.filter(({ tenantId }) => tenantId === seeded.globex.tenantId).length, isAll],
    [500, 1, false],
  );
});

it("takes equal parts, the longest due of each tenant, and fills its places with more of those that have more", async () => {
  const few = at("few");
  await addDispatches(seeded.pool, seeded.acme, dueInOrder(9, -9000));
  await addDispatches(seeded.pool, seeded.globex, dueInOrder(9, -5000));
  await addDispatches(seeded.pool, few, [{ attempt: 1 }]);
  // Whose retries are scheduled has no part.
  for (let n = 0; n < 6; n++) {
    await addDispatches(seeded.pool, at(`later-${n}`), [{ attempt: 1, claimableInMs: 60_000 }]);
  }
  const { leased } = await claim({ limits: { ...PLENTY, dispatches: 8 } });
  const attempts = Object.groupBy(leased, ({ tenantId }) => tenantId);
  assert.deepEqual(
    [seeded.acme, seeded.globex, few].map(({ tenantId }) =>
      attempts[tenantId]?.map(({ attempt }) => attempt),
    ),
    [[1, 2, 3, 4, 5], [1, 2], [1]],
  );
});

it("takes what is due alone, in its slots and not of endpoints to pass over, and leases that have ended too", async () => {
  const other = at("other");
  const passedOver = at("passed-over");
  const own = [seeded.acme, passedOver].map(({ endpointId }) => slotOf(endpointId));
  while (own.includes(slotOf(other.endpointId))) other.endpointId = newEndpointId();
  for (const endpoint of [seeded.acme, other, passedOver]) {
    await addDispatches(seeded.pool, endpoint, [
      { attempt: 1, claimableInMs: 60_000 },
      { attempt: 2, held: true },
      { attempt: 3, parked: true },
      { attempt: 4, superseded: true },
      { attempt: 5, leaseOwner: randomUUID(), claimableInMs: 60_000 },
      { attempt: 6, leaseOwner: randomUUID(), claimableInMs: -1 },
      { attempt: 7 },
    ]);
  }
  const slots = new SlotSet(own);
  const { leased, isAll, turn } = await claim({ slots, without: [passedOver.endpointId] });
  assert.deepEqual(
    leased.map(({ tenantId, attempt }) => [tenantId, attempt]),
    [
      [seeded.acme.tenantId, 6],
      [seeded.acme.tenantId, 7],
    ],
  );
  assert.deepEqual([isAll, turn], [true, FIRST_TURN]);
});

it("goes on behind the last tenant of the look before, and begins anew behind the last of all", async () => {
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT 'tenant-' || lpad(n::text, 4, '0'), gen_random_uuid(), postern.uuid_v7(), $1, 'invoice.paid', n, now(), now()
      FROM generate_series(1, 1200) AS n`,
    seeded.globex.eventId,
  );
  // Longer due than the others: without turns they would be taken alone.
  await addDispatches(seeded.pool, seeded.acme, dueInOrder(1000, -9000));
  let turn = FIRST_TURN;
  const turns: string[] = [];
  const found: number[] = [];
  for (let look = 0; look < 3; look++) {
    const answer = await claim({ turn });
    ({ turn } = answer);
    turns.push(turn);
    found.push(
      ...answer.leased.filter(({ tenantId }) => tenantId.startsWith("tenant-")).map(({ attempt }) => attempt),
    );
  }
  assert.deepEqual(turns, ["tenant-0499", "tenant-0999", FIRST_TURN]);
  assert.equal(found.length, new Set(found).size);
  // The oldest of all may take the place of one, which the next round finds.
  assert.ok(found.length >= 1199, `${found.length}`);
});

it("serves the tenants whose turn it is before any other, however small and long due what others have", async () => {
  const events = [10, 20].map((size) =>
    Object.assign(event(seeded.globex, null), { body: "x".repeat(size) }),
  );
  await acceptEvents(seeded.pool, events, { leaseId: null, slots: NO_SLOTS, parked: [], firstDelayMs: 0 });
  await sql("DELETE FROM postern.dispatches");
  // Those of the next turn have two each, the smallest and longest due.
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT CASE WHEN is_next THEN 'next-' ELSE 'first-' END || tenant, gen_random_uuid(), postern.uuid_v7(),
        CASE WHEN is_next THEN $1::uuid ELSE $2 END, 'invoice.paid', 1, now(), now() - is_next::int * interval '1 minute'
      FROM generate_series(1, 500) AS tenant CROSS JOIN unnest('{true,true,false}'::boolean[]) AS is_next`,
    ...events.map(({ id }) => id),
  );
  const { leased } = await claim();
  assert.equal(leased.length, 500);
  const ofOthers = leased.filter(({ tenantId }) => tenantId.startsWith("next-"));
  // The longest due is taken by every look.
  assert.ok(ofOthers.length <= 1, `${ofOthers.length}`);
});
