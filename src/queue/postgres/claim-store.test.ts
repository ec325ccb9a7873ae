import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { addDispatches, addSized, inOneMoment } from "../../../test/support/dispatch-rows.ts";
import { seededDatabase } from "../../../test/support/seeded-database.ts";
import { completed, event } from "../../../test/support/store-inputs.ts";
import { LEASE_OWNER } from "../../../test/support/two-tenants.ts";
import type { Db } from "../../database/pool.ts";
import { newEndpointId } from "../../shared/id.ts";
import { LEASE_MS, type Claimed, type ClaimLimits } from "../queue.ts";
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

const OTHER_OWNER = randomUUID();
const PLENTY: ClaimLimits = { dispatches: 9, bodyBytes: 1e6 };

const claim = (db: Db, limits = PLENTY) =>
  claimDispatches(db, LEASE_OWNER, limits, { slots: ALL_SLOTS, without: [] });
async function pull(db: Db, limits = PLENTY, ask = {}): Promise<Claimed | undefined> {
  const pulled = await pullDispatches(db, LEASE_OWNER, [{ ...seeded.acme, ...limits, ...ask }]);
  return pulled.get(seeded.acme.endpointId);
}
const bothOf = (leased: Claimed | undefined) => [...(leased?.claimed ?? []), ...(leased?.withoutEvent ?? [])];

/** Of one endpoint, by attempt. */
async function statesOf(db: Db, { endpointId } = seeded.acme) {
  const { rows } = await db.query<{ attempt: number }>(
    `SELECT attempt, lease_owner AS owner, parked, (extract(epoch FROM claimable_at - now()) * 1000)::int AS "inMs"
      FROM postern.dispatches WHERE endpoint_id = $1 ORDER BY attempt`,
    [endpointId],
  );
  return rows;
}

describe("of dispatches that are due, or not in one respect", () => {
  const LEASED = { owner: LEASE_OWNER, parked: false, inMs: LEASE_MS };
  const due = [
    { attempt: 1 },
    { attempt: 2, leaseOwner: OTHER_OWNER, claimableInMs: -3000 },
    { attempt: 3, claimableInMs: -2000 },
  ];
  const others = [
    { attempt: 4, claimableInMs: 1 },
    { attempt: 5, leaseOwner: OTHER_OWNER, claimableInMs: 1 },
    { attempt: 6, held: true },
    { attempt: 7, superseded: true },
  ];
  const parked = [
    { attempt: 8, parked: true, claimableInMs: 5000 },
    { attempt: 9, parked: true, held: true },
    { attempt: 10, parked: true, superseded: true },
  ];

  for (const [verb, act, changed] of [
    ["claims", claim, new Map([1, 2, 3].map((attempt) => [attempt, LEASED]))],
    ["pulls", pull, new Map([[8, LEASED]])],
    ["parks", (db: Db) => parkDispatches(db, [seeded.acme.endpointId]), null],
    ["parks by itself", (db: Db) => parkOldest(db, [seeded.acme]), null],
  ] as const) {
    it(`${verb} those alone`, async () => {
      await sql("DELETE FROM postern.dispatches");
      await inOneMoment(seeded.pool, async (session) => {
        await addDispatches(session, seeded.acme, [...due, ...others, ...parked]);
        await addDispatches(session, seeded.globex, verb === "claims" ? parked : [...due, ...parked]);
        const [before, beside] = [await statesOf(session), await statesOf(session, seeded.globex)];
        const found = await act(session);
        if (typeof found === "object") {
          const attempts = bothOf(found).map(({ attempt }) => attempt);
          assert.deepEqual(attempts, verb === "claims" ? [2, 3, 1] : [8]);
        }
        assert.deepEqual(
          await statesOf(session),
          before.map((row) => {
            const parkedNow = row.attempt > 3 ? {} : { owner: null, parked: true };
            return Object.assign(row, changed === null ? parkedNow : changed.get(row.attempt));
          }),
        );
        assert.deepEqual(await statesOf(session, seeded.globex), beside);
      });
    });
  }
});

describe("the longest due first, and of those due at once the event that was published first,", () => {
  for (const [verb, act, sizes] of [
    ["claims", claim, [25, 30, 20]],
    ["pulls", pull, [25, 30, 20, 11, 11]],
  ] as const) {
    it(`${verb} as many as it may, and as their bodies fit`, async () => {
      await sql("DELETE FROM postern.dispatches");
      for (const [limits, count] of [
        [PLENTY, sizes.length],
        [{ dispatches: 1, bodyBytes: 1e6 }, 1],
        [{ dispatches: 4, bodyBytes: 1e6 }, Math.min(4, sizes.length)],
        [{ dispatches: 9, bodyBytes: 54 }, 1],
        [{ dispatches: 9, bodyBytes: 55 }, 2],
        [{ dispatches: 9, bodyBytes: 86 }, Math.min(4, sizes.length)],
      ] as const) {
        await inOneMoment(seeded.pool, async (session) => {
          await addSized(session, seeded.acme);
          if (verb === "pulls") {
            // Replays come behind all that is fresh, one after the other.
            const replay = (digit: string) => digit.repeat(8) + seeded.acme.replayId.slice(8);
            await addDispatches(session, seeded.acme, [
              { attempt: 2, replayId: replay("f"), dueInMs: -9000 },
              { attempt: 3, replayId: replay("0"), dueInMs: -5000 },
            ]);
            await session.query("UPDATE postern.dispatches SET parked = true");
          }
          const leased = await act(session, limits);
          assert.deepEqual(
            bothOf(leased).map(({ body }) => body.length),
            sizes.slice(0, count),
            JSON.stringify(limits),
          );
          assert.deepEqual(
            bothOf(leased)
              .slice(3)
              .map(({ attempt }) => attempt),
            [3, 2].slice(0, Math.max(0, count - 3)),
          );
        });
      }
    });
  }

  it("pulls nothing for another tenant", async () => {
    const leased = await pull(seeded.pool, PLENTY, { tenantId: seeded.globex.tenantId });
    assert.deepEqual(bothOf(leased), []);
  });
});

it("finds the endpoints with due dispatches in some slots, however few of them it may read, and with parked ones", async () => {
  const { acme, globex, pool } = seeded;
  // Three of each, since the second of two is the last too.
  const endpoints = [acme, globex].flatMap((rows) =>
    [rows.endpointId, newEndpointId(), newEndpointId()].map((endpointId) =>
      Object.assign({ ...rows }, { endpointId }),
    ),
  );
  for (const endpoint of endpoints) {
    await addDispatches(pool, endpoint, [{ attempt: 1 }, { attempt: 2, parked: true }]);
  }
  const idle = { ...acme, endpointId: newEndpointId() };
  await addDispatches(pool, idle, [
    { attempt: 1, parked: true, held: true },
    { attempt: 2, held: true },
    { attempt: 3, superseded: true },
    { attempt: 4, claimableInMs: 60_000 },
  ]);
  for (const mostRead of [1, 1000]) {
    const found = await findDue(pool, ALL_SLOTS, mostRead);
    assert.deepEqual(found.toSorted(), endpoints.map(({ endpointId }) => endpointId).toSorted());
    assert.deepEqual(await findDue(pool, NO_SLOTS, mostRead), []);
  }
  assert.deepEqual(
    await findBacklogs(pool),
    endpoints.map(({ tenantId, endpointId }) => ({ tenantId, endpointId })),
  );
});

it("takes an endpoint whose first 500 dispatches are not due for one with due ones, and parks nothing of it by itself", async () => {
  await sql("DELETE FROM postern.dispatches");
  const line = Array.from({ length: 499 }, (_, n) => ({ attempt: n + 1, claimableInMs: 60_000 }));
  const found = async () => {
    await addDispatches(seeded.pool, seeded.globex, [{ attempt: 1 }]);
    const ids = await findDue(seeded.pool, ALL_SLOTS, 1);
    await sql("DELETE FROM postern.dispatches WHERE tenant_id = 'globex'");
    return ids.includes(seeded.acme.endpointId);
  };
  const parked = async () => {
    await parkOldest(seeded.pool, [seeded.acme]);
    return (await sql("SELECT attempt FROM postern.dispatches WHERE parked")).map(({ attempt }) => attempt);
  };
  await addDispatches(seeded.pool, seeded.acme, line);
  assert.equal(await found(), false);
  await addDispatches(seeded.pool, seeded.acme, [{ attempt: 500, claimableInMs: 60_000 }]);
  assert.equal(await found(), true);
  await addDispatches(seeded.pool, seeded.acme, [{ attempt: 501 }]);
  assert.deepEqual(await parked(), []);
  await sql("DELETE FROM postern.dispatches WHERE attempt = 1");
  assert.deepEqual(await parked(), [501]);
});

it("parks the 5000 that are due the longest at once, and says whether that was all", async () => {
  await sql("DELETE FROM postern.dispatches");
  await sql(
    `INSERT INTO postern.dispatches (tenant_id, endpoint_id, id, event_id, event_type, attempt, due_at, claimable_at)
      SELECT $1, $2, postern.uuid_v7(), $3, 'invoice.paid', n, now(), now() - n * interval '1 ms'
      FROM generate_series(1, 5001) AS n`,
    seeded.acme.tenantId,
    seeded.acme.endpointId,
    seeded.acme.eventId,
  );
  const park = async () => {
    const isAll = await parkDispatches(seeded.pool, [seeded.acme.endpointId]);
    const left = await sql("SELECT attempt FROM postern.dispatches WHERE NOT parked");
    return [isAll, left.map(({ attempt }) => attempt)];
  };
  assert.deepEqual(
    [await park(), await park()],
    [
      [false, [1]],
      [true, []],
    ],
  );
});
