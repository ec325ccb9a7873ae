import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { NO_LANE, openTestQueue } from "../../test/support/test-queue.ts";
import { tenant } from "../../test/support/two-tenants.ts";
import type { NewEvent } from "../queue/queue.ts";
import { Refusal } from "../shared/refusal.ts";
import { Acceptor } from "./acceptor.ts";
import { checkEvents } from "./checked-events.ts";
import { makeCommitting, type Commit } from "./committing.ts";
import { openCatalog } from "./live-catalog.ts";

const catalog = (await openCatalog(undefined)).current();

let database: TestDatabase;
let acceptor: Acceptor;
let commit: Commit;
/** What each request has added. */
let counts: number[];
/** Happens before a key is looked up. */
let beforeLook: () => Promise<unknown>;
before(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("DELETE FROM postern.events; DELETE FROM postern.idempotency_keys");
  counts = [];
  beforeLook = () => Promise.resolve();
  const queue = openTestQueue(database.pool);
  acceptor = new Acceptor({
    queue: {
      ...queue,
      async findEarlier(events) {
        await beforeLook();
        return queue.findEarlier(events);
      },
    },
    ownLane: NO_LANE,
  });
  commit = makeCommitting(acceptor, (accepted) => counts.push(accepted));
});
after(() => database.drop());

function eventOf(id?: string, data: Record<string, unknown> = {}, of = "acme"): NewEvent {
  const [event] = checkEvents({ type: "invoice.paid", data, id }, tenant(of), catalog);
  assert.ok(event !== undefined);
  return event;
}

/** Through a queue that is another in part. */
const committing = (queue: Acceptor["queue"]): Commit =>
  makeCommitting(new Acceptor({ queue, ownLane: NO_LANE }), (accepted) => counts.push(accepted));

/** Arrays for many endpoints, whose transactions end when the gate is opened; `running`: the tenants of those that have begun. */
function heldArrays() {
  const running: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { queue } = acceptor;
  commit = committing({
    ...queue,
    async acceptParts(...given: Parameters<typeof queue.acceptParts>) {
      running.push(given[0][0]?.[0]?.tenantId ?? "");
      await gate.promise;
      return queue.acceptParts(...given);
    },
  });
  const wide = (of: string) => commit(Array.from({ length: 60 }, () => eventOf(undefined, {}, of)));
  return { running, gate, wide };
}

/** Arrays meet a key that is held where theirs begins with "held": at once, and when they are tried again until it is given back. */
function heldKeys() {
  const held = Promise.withResolvers<void>();
  const tries = { first: new Set<string>(), again: 0 };
  const { queue } = acceptor;
  commit = committing({
    ...queue,
    async acceptParts(...given: Parameters<typeof queue.acceptParts>) {
      const key = given[0][0]?.[0]?.idempotencyKey;
      if (key?.startsWith("held") !== true) return queue.acceptParts(...given);
      if (!tries.first.has(key)) {
        tries.first.add(key);
        throw Object.assign(new Error("locked"), { code: "55P03" });
      }
      tries.again++;
      await held.promise;
      return queue.acceptParts(...given);
    },
  });
  return { tries, held };
}

const isRefused = (code: Refusal["code"]) => (error: unknown) =>
  error instanceof Refusal && error.code === code;

describe("the events of a request", () => {
  it("tell how many endpoints their tenant's next ones go to: as many go into one statement", async () => {
    const events = Array.from({ length: 200 }, () => eventOf());
    const partsOfNext = () => acceptor.fanOut.parts(events).length;
    const unknown = partsOfNext();
    await commit([eventOf()]);
    assert.deepEqual([unknown, partsOfNext()], [5, 1]);
  });

  it("are counted where they are new, alone and in arrays", async () => {
    for (const events of [
      [eventOf()],
      [eventOf("key")],
      [eventOf("key")],
      [eventOf("key"), eventOf("another"), eventOf()],
      [eventOf(), eventOf()],
    ]) {
      await commit(events);
    }
    await assert.rejects(commit([eventOf("key", { other: 1 })]), isRefused("idempotency_key_reused"));
    await assert.rejects(
      commit([eventOf(), eventOf("key", { other: 1 })]),
      isRefused("idempotency_key_reused"),
    );
    assert.deepEqual(counts, [1, 1, 0, 2, 2]);
  });

  it("in a long array tell how many dispatches its tenant's events make", async () => {
    const events = Array.from({ length: 60 }, () => eventOf());
    assert.equal(acceptor.fanOut.parts(events).length, 2);
    await commit(events);
    assert.equal(acceptor.fanOut.parts(events).length, 1);
  });

  it("fail where one without a key was not accepted, which cannot be", async () => {
    const none = { accepted: [], leased: [], parked: [], unleased: [] };
    const queue = { ...acceptor.queue, accept: () => Promise.resolve(none) };
    await assert.rejects(committing(queue)([eventOf(), eventOf()]), Error);
    assert.deepEqual(counts, []);
  });

  it(
    "in arrays whose keys are held keep no connection from their tenant's others",
    { timeout: 20_000 },
    async () => {
      const { tries, held } = heldKeys();
      const waiting = ["held 1", "held 2"].map((key) => commit([eventOf(key), eventOf()]));
      await eventually(async () => tries.again > 0);
      // Two of a tenant's are tried at once; of those that are tried again, one.
      await commit([eventOf("free"), eventOf()]);
      assert.equal(tries.again, 1);
      held.resolve();
      await Promise.all(waiting);
      assert.deepEqual([tries.again, counts], [2, [2, 2, 2]]);
    },
  );

  it("in arrays for many endpoints keep connections for others: a tenant has two, all together four", async () => {
    const { running, gate, wide } = heldArrays();
    const waiting = ["acme", "acme", "acme", "globex", "initech", "hooli"].map(wide);
    await commit([eventOf()]);
    assert.deepEqual(running, ["acme", "acme", "globex", "initech"]);
    gate.resolve();
    await Promise.all(waiting);
    assert.deepEqual(running.slice(4).toSorted(), ["acme", "hooli"]);
  });

  it("in arrays that waited five seconds for their turn are refused, and never accepted", async (test) => {
    const { running, gate, wide } = heldArrays();
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const [first, second, third] = ["acme", "acme", "acme"].map(wide);
    assert.ok(third !== undefined);
    const refused = assert.rejects(third, isRefused("unavailable"));
    await new Promise(setImmediate);
    test.mock.timers.tick(5000);
    await refused;
    test.mock.timers.reset();
    gate.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(
      [running, counts],
      [
        ["acme", "acme"],
        [60, 60],
      ],
    );
  });

  it(
    "in arrays that met a key that is held wait no longer for their next turn",
    { timeout: 20_000 },
    async (test) => {
      const { tries, held } = heldKeys();
      test.mock.timers.enable({ apis: ["setTimeout"] });
      const both = ["held 1", "held 2"].map((key) => commit([eventOf(key), eventOf()]).catch(String));
      const outcomes: unknown[] = [];
      void Promise.race(both).then((outcome) => outcomes.push(outcome));
      while (outcomes.length === 0 && !test.signal.aborted) {
        await new Promise(setImmediate);
        test.mock.timers.tick(100);
      }
      assert.deepEqual(outcomes, ["Refusal: unavailable"]);
      test.mock.timers.reset();
      held.resolve();
      await Promise.all(both);
      assert.deepEqual([tries.again, counts], [1, [2]]);
    },
  );

  it("are new where their key ran out as it was looked up", async () => {
    await commit([eventOf("key")]);
    beforeLook = () => database.pool.query("DELETE FROM postern.idempotency_keys");
    const again = eventOf("key");
    const [published] = await commit([again]);
    assert.deepEqual([published?.id, published?.isNew], [again.id, true]);
    assert.deepEqual(counts, [1, 1]);
  });
});
