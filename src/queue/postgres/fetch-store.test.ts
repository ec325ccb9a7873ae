import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { beforeEach, it } from "node:test";
import { addDispatches, addSized, inOneMoment } from "../../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { CLIENT_LEASE_MS } from "../fetching.ts";
import { endUnfetched, findEndedLeases, findHeldByLease, leaseHeld, nextHeldInMs } from "./fetch-store.ts";

const seeded = seededDatabase();
const { sql } = seeded;
beforeEach(async () => {
  await sql("UPDATE postern.endpoints SET mode = 'pull'");
  // Of each endpoint five: four fresh, and one of a replay.
  await sql(
    "UPDATE postern.dispatches SET held = true, parked = false, lease_owner = NULL, claimable_at = now()",
  );
});

it("leases no more than is asked for, and what is replayed behind what is fresh", async () => {
  const replays: boolean[][] = [];
  for (const dispatches of [3, 3, 3]) {
    const leased = await leaseHeld(seeded.pool, seeded.acme, randomUUID(), { dispatches, bodyBytes: 1e6 });
    replays.push(leased.map(({ replayId }) => replayId !== null));
  }
  assert.deepEqual(replays, [[false, false, false], [false, true], []]);
});

it("leases what is due at this moment, and nothing that is not in one respect", async () => {
  const [leaseId, other] = [randomUUID(), randomUUID()];
  await sql("DELETE FROM postern.dispatches");
  await inOneMoment(seeded.pool, async (session) => {
    await addDispatches(session, seeded.acme, [
      { attempt: 1, held: true },
      { attempt: 2, held: true, claimableInMs: -3000 },
      { attempt: 3, held: true, claimableInMs: -4000, replayId: seeded.acme.replayId },
      { attempt: 4, held: true, claimableInMs: 1 },
      { attempt: 5, held: true, superseded: true },
      { attempt: 6, held: true, leaseOwner: other },
      { attempt: 7 },
      { attempt: 8, held: true, claimableInMs: 1, replayId: other },
    ]);
    const found = await leaseHeld(session, seeded.acme, leaseId, { dispatches: 9, bodyBytes: 1e6 });
    assert.deepEqual(
      found.map(({ attempt }) => attempt),
      [2, 1, 3],
    );
    const { rows } = await session.query(
      `SELECT attempt, claimable_at = now() + $1 * interval '1 ms' AS leased FROM postern.dispatches
        WHERE lease_owner = $2 ORDER BY attempt`,
      [CLIENT_LEASE_MS, leaseId],
    );
    assert.deepEqual(
      rows,
      [1, 2, 3].map((attempt) => ({ attempt, leased: true })),
    );
    const elsewhere = { ...seeded.acme, tenantId: seeded.globex.tenantId };
    assert.deepEqual(await leaseHeld(session, elsewhere, leaseId, { dispatches: 9, bodyBytes: 1e6 }), []);
  });
});

it("leases the others where another client leases one at this moment, and does not wait for it", async () => {
  await inOneMoment(seeded.pool, async (session) => {
    const first = await leaseHeld(session, seeded.acme, randomUUID(), { dispatches: 1, bodyBytes: 1e6 });
    const others = await leaseHeld(seeded.pool, seeded.acme, randomUUID(), { dispatches: 9, bodyBytes: 1e6 });
    assert.deepEqual([first.length, others.length], [1, 4]);
    assert.ok(others.every(({ id }) => id !== first[0]?.id));
  });
});

it("leases the longest due first, and of those due at once the event that was published first, as their bodies fit", async () => {
  await sql("DELETE FROM postern.dispatches");
  for (const [dispatches, bodyBytes, sizes] of [
    [9, 1e6, [25, 30, 20]],
    [2, 1e6, [25, 30]],
    [9, 1, [25]],
    [9, 54, [25]],
    [9, 55, [25, 30]],
  ] as const) {
    await inOneMoment(seeded.pool, async (session) => {
      await addSized(session, seeded.acme);
      const found = await leaseHeld(session, seeded.acme, randomUUID(), { dispatches, bodyBytes });
      assert.deepEqual(
        found.map(({ body }) => body?.length),
        sizes,
      );
    });
  }
});

it("says in milliseconds when the next one is due", async () => {
  await sql("UPDATE postern.dispatches SET claimable_at = now() + interval '30 seconds'");
  const inMs = await nextHeldInMs(seeded.pool, seeded.acme);
  assert.ok(inMs !== null && inMs > 15_000 && inMs <= 30_000, `${inMs} ms`);
  await sql("UPDATE postern.dispatches SET claimable_at = now() - interval '1 second'");
  await sql(
    "UPDATE postern.dispatches SET claimable_at = now() + interval '1 hour' WHERE id = $1",
    seeded.acme.leasedId,
  );
  assert.equal(await nextHeldInMs(seeded.pool, seeded.acme), 0);
  await sql(
    "UPDATE postern.dispatches SET superseded = true WHERE tenant_id = 'acme' AND id <> $1",
    seeded.acme.leasedId,
  );
  assert.ok(((await nextHeldInMs(seeded.pool, seeded.acme)) ?? 0) > 1_800_000);
  await sql("UPDATE postern.dispatches SET held = false");
  assert.equal(await nextHeldInMs(seeded.pool, seeded.acme), null);
});

it("ends what waited for longer than the retention, and nothing that a client has, or of other endpoints", async () => {
  const age = "UPDATE postern.dispatches SET claimable_at = now() - $1::interval";
  await sql(age, "2 days 23 hours");
  assert.equal(await endUnfetched(seeded.pool, 3), false);
  await sql(age, "3 days 1 hour");
  await sql(
    "UPDATE postern.dispatches SET lease_owner = $1 WHERE id = $2",
    randomUUID(),
    seeded.acme.leasedId,
  );
  await sql("UPDATE postern.endpoints SET mode = 'push' WHERE tenant_id = 'globex'");
  assert.equal(await endUnfetched(seeded.pool, 3), true);
  assert.deepEqual(await sql("SELECT id FROM postern.dispatches WHERE tenant_id = 'acme'"), [
    { id: seeded.acme.leasedId },
  ]);
  const logged =
    "SELECT count(*)::int FROM postern.deliveries WHERE error = 'not_fetched' GROUP BY tenant_id";
  assert.deepEqual(await sql(logged), [{ count: 4 }]);
});

it("finds the leases that have ended, the longest ended first, with the time at which they began", async () => {
  await sql(
    "UPDATE postern.dispatches SET lease_owner = gen_random_uuid(), claimable_at = now() + interval '1 hour'",
  );
  // Neither what no client had, nor what a worker has.
  await addDispatches(seeded.pool, seeded.acme, [
    { attempt: 3, held: true, claimableInMs: -1000 },
    { attempt: 4, leaseOwner: randomUUID(), claimableInMs: -1000 },
  ]);
  const ended = await sql(`UPDATE postern.dispatches SET claimable_at = now() - attempt * interval '1 minute'
    WHERE tenant_id = 'acme' AND (once OR id = '${seeded.acme.leasedId}') RETURNING id, claimable_at AS at`);
  const { leases, mayHaveMore } = await findEndedLeases(seeded.pool);
  assert.deepEqual(
    leases.map(({ id, attempt, leasedAt }) => ({ id, attempt, leasedAt: leasedAt.getTime() })),
    [2, 1].map((attempt) => {
      const { id, at } =
        ended[ended.findIndex((one) => (one.id === seeded.acme.leasedId) === (attempt === 1))] ?? {};
      return { id, attempt, leasedAt: at.getTime() - 60_000 };
    }),
  );
  assert.equal(mayHaveMore, false);
});

const addEndedLeases = (count: number) =>
  sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at, held, lease_owner)
      SELECT tenant_id, endpoint_id, postern.uuid_v7(), event_id, event_type, 1, now(), now(), true, gen_random_uuid()
      FROM postern.dispatches, generate_series(1, $2) WHERE id = $1 RETURNING id`,
    seeded.acme.leasedId,
    count,
  );

it("says of 500 ended leases that there may be more", async () => {
  await addEndedLeases(500);
  const { leases, mayHaveMore } = await findEndedLeases(seeded.pool);
  assert.deepEqual([leases.length, mayHaveMore], [500, true]);
});

it("finds the ended leases of others than those tenants who had their turn", async () => {
  await addEndedLeases(500);
  const { acme, globex } = seeded;
  await addDispatches(seeded.pool, globex, [{ attempt: 1, held: true, leaseOwner: randomUUID() }]);
  const { leases, mayHaveMore } = await findEndedLeases(seeded.pool, [acme.tenantId]);
  assert.deepEqual([leases.map(({ tenantId }) => tenantId), mayHaveMore], [[globex.tenantId], false]);
});

it("finds the ended leases behind 500 that others have locked", async () => {
  const locked = (await addEndedLeases(500)).map(({ id }) => id);
  const [last] = await addEndedLeases(1);
  await inOneMoment(seeded.pool, async (session) => {
    await session.query("SELECT FROM postern.dispatches WHERE id = ANY ($1) FOR UPDATE", [locked]);
    const { leases, mayHaveMore } = await findEndedLeases(seeded.pool);
    assert.deepEqual([leases.map(({ id }) => id), mayHaveMore], [[last?.["id"]], false]);
  });
});

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

it("finds what a client still has by its lease, and since when", async () => {
  const { pool, acme } = seeded;
  const leaseId = randomUUID();
  const [first, second] = await leaseHeld(pool, acme, leaseId, { dispatches: 3, bodyBytes: 1e6 });
  assert.ok(first !== undefined && second !== undefined);
  const { tenantId, endpointId } = acme;
  const found = (by: string, at = acme) => findHeldByLease(pool, at, by, [first.id, second.id]);
  const asFound = ({ id, eventType, attempt, leasedAt }: typeof first) => {
    return { tenantId, endpointId, id, leaseId, eventType, attempt, once: false, leasedAt };
  };
  assert.deepEqual((await found(leaseId)).toSorted(byId), [first, second].map(asFound).toSorted(byId));
  assert.deepEqual(await found(randomUUID()), []);
  assert.deepEqual(await found(leaseId, seeded.globex), []);
  await sql("UPDATE postern.dispatches SET claimable_at = now() WHERE id = $1", first.id);
  assert.deepEqual(await found(leaseId), [asFound(second)]);
});
