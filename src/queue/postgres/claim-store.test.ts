import assert from "node:assert/strict";
import { it } from "node:test";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed, event } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import { NO_SLOTS } from "../slots.ts";
import { acceptEvents } from "./accept-store.ts";
import { parkDispatches, parkOldest, pullDispatches } from "./claim-store.ts";
import { completeAttempts } from "./complete-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;

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
