import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { pidOf, waitersFor } from "../../test/support/lock-waits.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { eventually } from "../../test/support/eventually.ts";
import { NO_LANE, openTestQueue } from "../../test/support/test-queue.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import { isLockTimeout } from "../database/passing-errors.ts";
import type { NewEvent } from "../queue/queue.ts";
import { Acceptor } from "./acceptor.ts";
import { checkEvents } from "./checked-events.ts";
import { openCatalog } from "./live-catalog.ts";
import { makeTakenEvents, type TakenEvents } from "./taken-events.ts";

const catalog = (await openCatalog(undefined)).current();

let database: TestDatabase;
let taken: TakenEvents;
/** How many events each statement stored. */
let groups: number[];
/** Whose they were. */
let tenants: string[];
/** Happens before an event's key is looked up. */
let beforeLook: () => Promise<unknown>;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("DELETE FROM postern.events; DELETE FROM postern.idempotency_keys");
  [groups, tenants] = [[], []];
  beforeLook = () => Promise.resolve();
  const queue = openTestQueue(database.pool);
  const acceptor = new Acceptor({
    queue: {
      ...queue,
      async accept(events, options) {
        groups.push(events.length);
        tenants.push([...new Set(events.map(({ tenantId }) => tenantId))].join());
        return queue.accept(events, options);
      },
      async findEarlier(events) {
        await beforeLook();
        return queue.findEarlier(events);
      },
    },
    ownLane: NO_LANE,
  });
  taken = makeTakenEvents(acceptor);
});
after(() => database.drop());

function eventOf(data: Record<string, unknown> = {}, id?: string, of = tenant("acme")): NewEvent {
  const [event] = checkEvents({ type: "invoice.paid", data, id }, of, catalog);
  assert.ok(event !== undefined);
  return event;
}

async function stored(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM postern.events",
  );
  return rows[0]?.count ?? 0;
}

for (const how of ["grouped", "alone"] as const) {
  describe(`an event of a stream, ${how}`, () => {
    it("is accepted once, and known from then on", async () => {
      for (const event of [eventOf(), eventOf({}, "key")]) {
        assert.equal(await taken.accept(event, how), "accepted");
        assert.equal(await taken.accept(event, how), "known");
        // To another worker too.
        assert.equal(await taken.accept({ ...event }, how), "known");
      }
      assert.equal(await stored(), 2);
    });

    it("is accepted once when it comes twice at the same time", async () => {
      for (const event of [eventOf(), eventOf({}, "twice")]) {
        const outcomes = await Promise.all([taken.accept(event, how), taken.accept({ ...event }, how)]);
        assert.deepEqual(outcomes.toSorted(), ["accepted", "known"]);
      }
      assert.equal(await stored(), 2);
    });

    it("is not stored where its key belongs to another event", async () => {
      assert.equal(await taken.accept(eventOf({ a: 1 }, "key"), how), "accepted");
      assert.equal(await taken.accept(eventOf({ a: 1 }, "key"), how), "repeated");
      assert.equal(await taken.accept(eventOf({ a: 2 }, "key"), how), "key_reused");
      assert.equal(await stored(), 1);
    });

    it("is accepted where its key ran out as it was looked up", async () => {
      assert.equal(await taken.accept(eventOf({ a: 1 }, "key"), how), "accepted");
      beforeLook = () => database.pool.query("DELETE FROM postern.idempotency_keys");
      assert.equal(await taken.accept(eventOf({ a: 2 }, "key"), how), "accepted");
      assert.equal(await stored(), 2);
    });
  });
}

describe("events that come at the same time", () => {
  it("are stored together, those with keys apart from the others", async () => {
    const events = [1, 2, 3].flatMap((n) => [eventOf({ n }), eventOf({ n }, `key ${n}`)]);
    const outcomes = await Promise.all(events.map((event) => taken.accept(event, "grouped")));
    assert.deepEqual([...new Set(outcomes)], ["accepted"]);
    assert.deepEqual(groups, [3, 3]);
  });

  it("are stored in statements of 5,000 rows at most", async () => {
    // Of an unknown tenant each may make a hundred dispatches.
    await Promise.all(Array.from({ length: 100 }, () => taken.accept(eventOf(), "grouped")));
    assert.equal(groups[0], 49);
    assert.equal(await stored(), 100);
  });

  it("are stored one by one where they are to be alone", async () => {
    const events = [eventOf(), eventOf(), eventOf({}, "key")];
    await Promise.all(events.map((event) => taken.accept(event, "alone")));
    assert.deepEqual(groups, [1, 1, 1]);
  });

  it("are stored by tenants in turn where they are to be alone, as each may wait for a key", async () => {
    const events = [...Array.from({ length: 5 }, () => eventOf()), eventOf({}, "key", tenant("globex"))];
    await Promise.all(events.map((event) => taken.accept(event, "alone")));
    // Behind the one under way, and the next that waited already.
    assert.deepEqual(tenants, ["acme", "acme", "globex", "acme", "acme", "acme"]);
  });
});

describe("an event whose key a producer's transaction holds", () => {
  it("fails soon when it is alone, and waits when it is grouped", async () => {
    const client = await database.pool.connect();
    const held = eventOf({}, "held");
    try {
      await client.query("BEGIN");
      await client.query(
        `INSERT INTO postern.idempotency_keys
          VALUES ('acme', 'held', postern.uuid_v7(), postern.content_fingerprint('invoice.paid', '{"data":{}}'))`,
      );
      await assert.rejects(taken.accept(held, "alone"), isLockTimeout);
      const waiting = taken.accept(held, "grouped");
      const pid = await pidOf(client);
      await eventually(async () => (await waitersFor(database.pool, pid)) === 1);
      await client.query("ROLLBACK");
      assert.equal(await waiting, "accepted");
    } finally {
      client.release();
    }
  });
});
