import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { pidOf, waitersFor } from "../../../test/support/lock-waits.ts";
import { openTenantPool } from "../../../test/support/tenant-pool.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { event } from "../../../test/support/store-inputs.ts";
import { EVENT_TYPE, seedTwoTenants, type Rows } from "../../../test/support/two-tenants.ts";
import type { TenantPool } from "../../database/tenant-pool.ts";
import { isMisrouted } from "../../database/residence.ts";
import { newEventId, type EventId } from "../../shared/id.ts";
import { KeyReusedError, type NewEvent, type OutboxEvent } from "../queue.ts";
import { ALL_SLOTS } from "../slots.ts";
import { makeLeaseIds } from "./lease-ids.ts";
import { makePostgresQueue } from "./postgres-queue.ts";

let database: TestDatabase;
let tenants: TenantPool;
let rows: Rows;
let othersRows: Rows;

before(async () => {
  database = await createTestDatabase();
  tenants = openTenantPool(database, 1);
});
after(async () => {
  await tenants.end();
  await database.drop();
});
beforeEach(async () => {
  ({ acme: rows, globex: othersRows } = await seedTwoTenants(database.pool));
});

const sql = async (text: string, ...values: unknown[]) => (await database.pool.query(text, values)).rows;

const queueOf = (firstDelayMs: number, options: Parameters<typeof makePostgresQueue>[2] = {}) =>
  makePostgresQueue({ publisher: database.pool, worker: database.pool, tenants }, firstDelayMs, options);

it("leases no first attempt that is due later, since the process could not make it now", async () => {
  const given = event(rows, null);
  const { leased, unleased } = await queueOf(3_600_000).accept([given], { lease: ALL_SLOTS, parked: [] });
  assert.deepEqual({ leased, unleased }, { leased: [], unleased: [rows.endpointId] });
  assert.deepEqual(await sql("SELECT lease_owner FROM postern.dispatches WHERE event_id = $1", given.id), [
    { lease_owner: null },
  ]);
});

it("asks by the connections of those whose work it is: a worker's for what workers do, and else the publishers'", async () => {
  const used: string[] = [];
  const of = (name: string) =>
    new Proxy(database.pool, {
      get(pool, member) {
        used.push(name);
        const value: unknown = Reflect.get(pool, member);
        return typeof value === "function" ? value.bind(pool) : value;
      },
    });
  const queue = makePostgresQueue({ publisher: of("publisher"), worker: of("worker"), tenants }, 0);
  const events = [event(rows, null)];
  const lease = { lease: ALL_SLOTS, parked: [] };
  const verbs: Record<string, [name: string, work: () => Promise<unknown>][]> = {
    publisher: [
      ["accept", () => queue.accept(events, lease)],
      ["acceptParts", () => queue.acceptParts([[event(rows, null)]], { parked: [] })],
      ["findEarlier", () => queue.findEarlier([event(rows, "k")])],
      ["findKnown", () => queue.findKnown(events)],
    ],
    worker: [
      ["relay", () => queue.relay({ types: [EVENT_TYPE], limits: LIMITS, judge: () => [] })],
      ["claim", () => queue.claim({ dispatches: 1, bodyBytes: 1000 }, [])],
      ["park", () => queue.park([rows.endpointId])],
      ["parkOldest", () => queue.parkOldest([rows])],
      ["pull", () => queue.pull([{ ...rows, dispatches: 1, bodyBytes: 1000 }])],
      ["findDue", () => queue.findDue(ALL_SLOTS)],
      ["findBacklogs", () => queue.findBacklogs()],
      ["measure", () => queue.measure()],
    ],
  };
  for (const [user, works] of Object.entries(verbs)) {
    for (const [verb, work] of works) {
      used.length = 0;
      await work();
      assert.deepEqual([...new Set(used)], [user], verb);
    }
  }
});

it("leases under ids of its process, each claim under the next", async () => {
  const leaseIds = makeLeaseIds();
  const process = leaseIds.first.slice(0, 18);
  const queue = queueOf(0, { leaseIds });
  await sql("UPDATE postern.dispatches SET lease_owner = NULL, claimable_at = now() WHERE NOT held");
  const { leased } = await queue.accept([event(rows, null)], { lease: ALL_SLOTS, parked: [] });
  const { claimed } = await queue.claim({ dispatches: 1, bodyBytes: 1000 }, []);
  const pulled = await queue.pull([{ ...rows, dispatches: 1, bodyBytes: 1000 }]);
  const ids = [...leased, ...claimed, ...(pulled.get(rows.endpointId)?.claimed ?? [])].map(
    ({ leaseId }) => leaseId,
  );
  assert.deepEqual(
    ids,
    [1, 2, 3].map((claim) => `${process}-0000-00000000000${claim}`),
  );
});

const LIMITS = { events: 10, bodyBytes: 10_000 };
const asNew = ({ key: _claimed, unclaimedKey, ...taken }: OutboxEvent): NewEvent => ({
  ...taken,
  patterns: ["*"],
  idempotencyKey: unclaimedKey ?? null,
});
/** Where other databases exist. */
const RESIDENCE = { versionOf: () => 1 };
const relay = (options: Parameters<typeof queueOf>[1] = { residence: RESIDENCE }) =>
  queueOf(0, options).relay({ types: [EVENT_TYPE], limits: LIMITS, judge: (taken) => [asNew(taken)] });

async function publish(given: {
  of?: string;
  key?: string;
  claimed?: boolean;
  versions?: string;
}): Promise<string> {
  const id = newEventId();
  await sql(
    "INSERT INTO postern.outbox (id, tenant_id, type, body, key, claimed, versions) VALUES ($1, $2, $3, '{}', $4, $5, $6)",
    id,
    given.of ?? "acme",
    EVENT_TYPE,
    given.key ?? null,
    given.claimed ?? false,
    given.versions ?? null,
  );
  return id;
}

it("lays an event of the outbox aside whose key is yet to be claimed, though its tenant lives here", async () => {
  await sql("DELETE FROM postern.outbox; DELETE FROM postern.handovers");
  const plain = await publish({});
  const keyed = await publish({ key: "invoice 7" });
  await relay();
  assert.deepEqual(await sql("SELECT id, key, claimed FROM postern.handovers"), [
    { id: keyed, key: "invoice 7", claimed: false },
  ]);
  assert.deepEqual(
    await sql("SELECT id FROM postern.events WHERE id = ANY ($1) ORDER BY id", [plain, keyed]),
    [{ id: plain }],
  );
});

it("counts an event's other versions where it takes no more of the outbox than it may hold", async () => {
  await sql("DELETE FROM postern.outbox");
  const versions = JSON.stringify({ 2: "x".repeat(LIMITS.bodyBytes) });
  await publish({ versions });
  await publish({ versions });
  assert.deepEqual(await relay(), { relayed: 1, mayHaveMore: true });
});

const accepted = async () => (await sql("SELECT id FROM postern.events ORDER BY id")).map(({ id }) => id);

describe("with events of several tenants in the outbox", () => {
  let here: string;
  let away: string;
  let keyed: string;

  beforeEach(async () => {
    await sql("DELETE FROM postern.outbox; DELETE FROM postern.handovers; DELETE FROM postern.events");
    await sql("DELETE FROM postern.shard_tenants WHERE tenant_id = 'globex'");
    here = await publish({});
    away = await publish({ of: "globex" });
    keyed = await publish({ of: "globex", key: "invoice 7", claimed: true });
  });

  it("accepts those of tenants that live here, and lays the others aside with the keys that were claimed here", async () => {
    assert.deepEqual(await relay(), { relayed: 1, mayHaveMore: false });
    assert.deepEqual(await accepted(), [here]);
    assert.deepEqual(await sql("SELECT id, key, claimed FROM postern.handovers ORDER BY id"), [
      { id: away, key: null, claimed: false },
      { id: keyed, key: "invoice 7", claimed: true },
    ]);
    assert.deepEqual(await relay(), { relayed: 0, mayHaveMore: false });
  });

  it("accepts them all where there is no other database", async () => {
    assert.deepEqual(await relay({}), { relayed: 3, mayHaveMore: false });
    assert.deepEqual(await accepted(), [here, away, keyed]);
    assert.deepEqual(await sql("SELECT FROM postern.handovers"), []);
  });
});

const idsOf = (events: readonly { id: EventId }[]) => events.map(({ id }) => id);

describe("events of several tenants", () => {
  const UNLEASED = { lease: null, parked: [] };

  it("are accepted where all of them are known to live here, under the version that the database has", async () => {
    for (const [version, isHere] of [
      [1, true],
      [2, false],
      [null, false],
    ] as const) {
      const queue = queueOf(0, {
        residence: { versionOf: (tenantId) => (tenantId === othersRows.tenantId ? version : 1) },
      });
      for (const accept of [
        (events: NewEvent[]) => queue.accept(events, UNLEASED),
        (events: NewEvent[]) => queue.acceptParts([events.slice(0, 1), events.slice(1)], { parked: [] }),
      ]) {
        const events = [event(rows, null), event(othersRows, null)];
        if (isHere) await accept(events);
        else await assert.rejects(accept(events), isMisrouted);
        assert.equal((await queue.findKnown(events)).size, isHere ? 2 : 0);
      }
    }
  });

  it("claim their keys in one order over all parts of an array, so that two arrays never have each the other's", async () => {
    const queue = queueOf(0);
    const holder = await database.pool.connect();
    try {
      await holder.query("BEGIN");
      await holder.query(
        "INSERT INTO postern.idempotency_keys (tenant_id, key, event_id, fingerprint) VALUES ($1, 'b', $2, '')",
        [rows.tenantId, newEventId()],
      );
      const given = ["d", null, "a", "b"].map((key) => event(rows, key));
      const accepting = queue.acceptParts([given.slice(0, 2), given.slice(2)], { parked: [] });
      const pid = await pidOf(holder);
      await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
      const other = event(rows, "d");
      const { accepted } = await queue.accept([other], { lease: null, parked: [], lockWaitMs: 1000 });
      assert.deepEqual(idsOf(accepted), [other.id]);
      await holder.query("ROLLBACK");
      const array = await accepting;
      assert.deepEqual(idsOf(array.accepted), idsOf(given.slice(1)));
      assert.deepEqual([...array.earlier.values()], [{ id: other.id, dispatchCount: 1, sameContent: true }]);
    } finally {
      holder.release(true);
    }
  });

  it("are all accepted or none, with what they leave for other databases", async () => {
    await sql("DELETE FROM postern.handovers; DELETE FROM postern.dispatches");
    const queue = queueOf(0);
    const [first, other, reused] = [
      event(rows, "order-1"),
      event(othersRows, "order-1"),
      { ...event(rows, "order-1"), body: '{"data":2}' },
    ];
    const away = event(rows, null);
    const parts = { parked: [rows.endpointId], handOver: [away] };
    await assert.rejects(queue.acceptParts([[other], [first], [reused]], parts), KeyReusedError);
    assert.equal((await queue.measure()).handoversWaiting, 0);
    assert.equal((await queue.findKnown([first, other])).size, 0);
    const repeated = event(rows, "order-1");
    assert.deepEqual(await queue.acceptParts([[first], [other, repeated]], parts), {
      accepted: [first, other].map(({ id }) => ({ id, dispatchCount: 1 })),
      unleased: [othersRows.endpointId],
      parked: [{ tenantId: rows.tenantId, endpointId: rows.endpointId }],
      earlier: new Map([[repeated.id, { id: first.id, dispatchCount: 1, sameContent: true }]]),
    });
    assert.deepEqual(await sql("SELECT id FROM postern.handovers"), [{ id: away.id }]);
    assert.deepEqual(
      (await queue.findBacklogs()).map(({ endpointId }) => endpointId),
      [rows.endpointId],
    );
  });
});
