import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { EVENT_TYPE } from "../../../test/support/two-tenants.ts";
import { measureQueue } from "./depth-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
beforeEach(async () => {
  await sql("DELETE FROM postern.event_types");
});

/** Without ages. */
async function counts() {
  const { due, leased, parked, scheduled, held, unfetched, deadLeases } = await measureQueue(seeded.pool);
  return { due, leased, parked, scheduled, held, unfetched, deadLeases };
}

/** Of both tenants. */
const SEEDED = { due: 2, leased: 2, parked: 4, scheduled: 0, held: 2, unfetched: 0, deadLeases: 0 };

it("counts each dispatch once, by what it waits for", async () => {
  assert.deepEqual(await counts(), SEEDED);
  await sql("UPDATE postern.dispatches SET superseded = true WHERE tenant_id = 'globex'");
  assert.deepEqual(await counts(), { ...SEEDED, due: 1, parked: 2 });
});

it("counts as not fetched what is held at pull endpoints alone, while they exist", async () => {
  await sql("UPDATE postern.endpoints SET mode = 'pull' WHERE tenant_id = 'acme'");
  assert.deepEqual(await counts(), { ...SEEDED, held: 1, unfetched: 1 });
  await sql("UPDATE postern.endpoints SET deleted_at = now() WHERE tenant_id = 'acme'");
  assert.deepEqual(await counts(), SEEDED);
});

it("counts as dead the leases that ended a minute ago on what a worker may claim", async () => {
  const ended =
    "UPDATE postern.dispatches SET claimable_at = now() - $1 * interval '1 second', parked = $2 WHERE id = $3";
  for (const [seconds, parked, deadLeases] of [
    [50, false, 0],
    [70, false, 1],
    [70, true, 0],
  ] as const) {
    await sql(ended, seconds, parked, seeded.acme.leasedId);
    assert.equal((await counts()).deadLeases, deadLeases, `${seconds} s, ${parked ? "parked" : "due"}`);
  }
});

async function dueFor() {
  const { oldestDueAgeS, longestWaitS } = await measureQueue(seeded.pool);
  return [oldestDueAgeS, longestWaitS].map((seconds) => Math.round(seconds / 60));
}

it("measures since when something is due, and since when it may be claimed", async () => {
  const age =
    "UPDATE postern.dispatches SET due_at = now() - $1 * interval '1 min', claimable_at = now() - $2 * interval '1 min'";
  await sql(`${age} WHERE parked OR held`, 90, 80);
  await sql(`${age} WHERE tenant_id = 'acme' AND NOT parked AND NOT held AND lease_owner IS NULL`, 30, 20);
  assert.deepEqual(await dueFor(), [30, 20]);
  await sql("DELETE FROM postern.dispatches WHERE NOT parked AND NOT held");
  assert.deepEqual(await dueFor(), [0, 0]);
});

const outbox = async () => {
  const { outboxWaiting, outboxOldestAgeS } = await measureQueue(seeded.pool);
  return [outboxWaiting, Math.round(outboxOldestAgeS / 60)];
};

it("measures the outbox by the oldest event of a type that the catalog has", async () => {
  assert.deepEqual(await outbox(), [0, 0]);
  await sql("INSERT INTO postern.event_types (type) VALUES ($1)", EVENT_TYPE);
  await sql(
    "UPDATE postern.outbox SET id = postern.lowest_id_at(now() - interval '5 minutes') WHERE tenant_id = 'acme'",
  );
  assert.deepEqual(await outbox(), [2, 5]);
});

it("measures what waits for other databases by its oldest event", async () => {
  await sql(
    "UPDATE postern.handovers SET id = postern.lowest_id_at(now() - interval '5 minutes') WHERE tenant_id = 'acme'",
  );
  const { handoversWaiting, handoversOldestAgeS } = await measureQueue(seeded.pool);
  assert.deepEqual([handoversWaiting, Math.round(handoversOldestAgeS / 60)], [2, 5]);
});
