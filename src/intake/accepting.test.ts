import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { openCatalog } from "../events/live-catalog.ts";
import { checkEvents } from "../events/checked-events.ts";
import type { Taken } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import { systemClock } from "../shared/clock.ts";
import { parseTenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { makeAccepting, type Trial } from "./accepting.ts";
import { TenantMovingError, type Home } from "./homes.ts";

const catalog = (await openCatalog(undefined)).current();

function eventOf(tenant: string): NewEvent {
  const [event] = checkEvents([{ type: "invoice.paid", data: {} }], parseTenantId(tenant), catalog);
  assert.ok(event !== undefined);
  return event;
}

const metrics = makeMetrics();
const MOVING = new TenantMovingError();
const AWAY = new Refusal("unavailable", { retryAfterS: 1 });

type FakeHome = Home & { tried: string[]; answers: (event: NewEvent) => Promise<Taken> };

function fakeHome(shard: string | null): FakeHome {
  const home: FakeHome = {
    shard,
    tried: [],
    metrics,
    isAway: () => false,
    answers: async () => "accepted",
    accept(event) {
      home.tried.push(event.tenantId);
      return home.answers(event);
    },
  };
  return home;
}

/** What a worker does with messages for `acme` at eu1, `globex` at eu2, and `initech` at eu2 where it is found. */
function workerOf(...homes: [FakeHome, ...FakeHome[]]) {
  let nowMs = 0;
  const [keeper, last = keeper] = homes;
  const kept = makeKeptLog();
  const finding = { answers: async (): Promise<Home | null> => last };
  const accepting = makeAccepting({
    homes: {
      all: homes,
      keeper,
      peek: (tenantId) => (tenantId === "initech" ? undefined : tenantId === "acme" ? keeper : last),
      find: () => finding.answers(),
    },
    clock: { ...systemClock, nowMs: () => nowMs },
    log: kept.log,
  });
  return {
    accepting,
    finding,
    told: kept.lines,
    move: (ms: number) => (nowMs += ms),
    trial: (): Trial => ({
      bytes: 100,
      how: "grouped",
      accepted: new Set(),
      entered: new Set(),
      done: () => undefined,
    }),
  };
}

const two = () => [fakeHome("eu1"), fakeHome("eu2")] as const;

const databaseError = (code: string) => Object.assign(new Error("refused"), { code });

const fails = (error: unknown) => async (): Promise<never> => {
  throw error;
};

describe("accepting a message of two shards", () => {
  it("accepts each event in its tenant's shard", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    const events = ["acme", "globex", "initech"].map(eventOf);
    assert.equal((await accepting.accept(events, trial())).outcome, "accepted");
    assert.deepEqual([one.tried, other.tried], [["acme"], ["globex", "initech"]]);
  });

  it("accepts what it can, and tries only the rest again", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    const events = ["acme", "globex"].map(eventOf);
    const taken = trial();
    other.answers = fails(AWAY);
    assert.deepEqual(await accepting.accept(events, taken), { outcome: "away", home: other, error: AWAY });
    other.answers = async () => "known";
    assert.equal((await accepting.accept(events, taken)).outcome, "accepted");
    assert.deepEqual([one.tried, other.tried], [["acme"], ["globex", "globex"]]);
  });

  it("does not try a shard that failed before its pause is over, and then tries one message", async () => {
    const [one, other] = two();
    const { accepting, trial, move } = workerOf(one, other);
    other.answers = fails(AWAY);
    const first = trial();
    await accepting.accept([eventOf("globex")], first);
    accepting.leave(first);
    const closed = { outcome: "closed", home: other };
    const next = ["acme", "globex"].map(eventOf);
    assert.deepEqual(await accepting.accept(next, trial()), closed);
    assert.deepEqual([one.tried, other.tried], [["acme"], ["globex"]]);
    move(100);
    other.answers = async () => "accepted";
    const probing = accepting.accept([eventOf("globex")], trial());
    assert.deepEqual(await accepting.accept(next, trial()), closed);
    assert.equal((await probing).outcome, "accepted");
    assert.equal((await accepting.accept(next, trial())).outcome, "accepted");
  });

  for (const [what, error, outcome] of [
    ["a tenant that moves", MOVING, "moving"],
    ["a refusal of one event", new Error("violates a constraint"), "failed"],
    ["a refusal that others need not get", new Refusal("forbidden"), "failed"],
    ["a lock that another held", databaseError("55P03"), "failed"],
  ] as const) {
    it(`goes on with others of the shard after ${what}`, async () => {
      const [one, other] = two();
      const { accepting, trial } = workerOf(one, other);
      other.answers = fails(error);
      assert.equal((await accepting.accept([eventOf("globex")], trial())).outcome, outcome);
      other.answers = async () => "accepted";
      assert.equal((await accepting.accept([eventOf("globex")], trial())).outcome, "accepted");
    });
  }

  it("answers the worst of what came of it", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    const events = ["acme", "globex"].map(eventOf);
    one.answers = fails(MOVING);
    other.answers = fails(new Error("violates a constraint"));
    assert.equal((await accepting.accept(events, trial())).outcome, "failed");
    other.answers = fails(AWAY);
    assert.equal((await accepting.accept(events, trial())).outcome, "away");
    // Closed by that.
    assert.equal((await accepting.accept(events, trial())).outcome, "moving");
  });

  it("needs the first shard for tenants that it does not know, and for no others", async () => {
    const [one, other] = two();
    const { accepting, finding, trial } = workerOf(one, other);
    const events = ["globex", "initech"].map(eventOf);
    finding.answers = fails(AWAY);
    const first = trial();
    assert.deepEqual(await accepting.accept(events, first), { outcome: "away", home: one, error: AWAY });
    assert.deepEqual(other.tried, ["globex"]);
    accepting.leave(first);
    assert.deepEqual(await accepting.accept(events, trial()), { outcome: "closed", home: one });
    assert.deepEqual(other.tried, ["globex", "globex"]);
  });

  for (const [what, answers] of [
    ["was found to be in another", undefined],
    ["could not be looked up", fails(MOVING)],
  ] as const) {
    it(`takes no room from the first shard for what ${what}`, async () => {
      const [one, other] = two();
      const { accepting, finding, trial, move } = workerOf(one, other);
      finding.answers = answers ?? finding.answers;
      // More than half of a shard's share of the room, which ends once less is taken.
      for (let n = 0; n < 200; n++) {
        const found = trial();
        await accepting.accept([eventOf("initech")], found);
        accepting.leave(found);
      }
      move(1001);
      assert.equal((await accepting.accept([eventOf("acme")], trial())).outcome, "accepted");
    });
  }

  it("puts back what lives in a shard that this process does not have", async () => {
    const { accepting, finding, trial } = workerOf(...two());
    finding.answers = async () => null;
    assert.deepEqual(await accepting.accept([eventOf("initech")], trial()), {
      outcome: "closed",
      home: null,
    });
  });

  it("gives the room of what waits for a closed shard to others, and takes it back when that is left", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    const held = { messages: 256, bytes: 25_600 };
    const waiting = Promise.withResolvers<Taken>();
    other.answers = () => waiting.promise;
    const trials = Array.from({ length: 8 }, trial);
    // All but one were found out first.
    const trying = trials.map((taken, n) =>
      accepting.accept([eventOf(n === 0 ? "initech" : "globex")], taken),
    );
    await new Promise(setImmediate);
    assert.equal(accepting.room(held), 0);
    waiting.reject(AWAY);
    await Promise.all(trying);
    assert.equal(accepting.room(held), 8);
    for (const taken of trials) accepting.leave(taken);
    assert.equal(accepting.room(held), 0);
  });
});

describe("a database that is silent", () => {
  it("counts as away after a minute, and an event that it took meanwhile is counted once", async () => {
    const only = fakeHome(null);
    const { accepting, trial, told } = workerOf(only);
    const silence = Promise.withResolvers<Taken>();
    only.answers = () => silence.promise;
    let counted = 0;
    const taken = { ...trial(), done: () => void counted++ };
    const events = [eventOf("acme")];
    test.mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const trying = accepting.accept(events, taken);
      test.mock.timers.tick(60_000);
      assert.equal((await trying).outcome, "away");
    } finally {
      test.mock.timers.reset();
    }
    assert.deepEqual(told, [{ level: 40, err: "the database does not answer" }]);
    const again = accepting.accept(events, taken);
    silence.resolve("accepted");
    assert.equal((await again).outcome, "accepted");
    assert.equal(counted, 1);
  });
});

describe("accepting a message of the only database", () => {
  it("tries it also behind failures, since the pace bounds what is taken", async () => {
    const only = fakeHome(null);
    const { accepting, trial } = workerOf(only);
    only.answers = fails(AWAY);
    for (let n = 0; n < 3; n++)
      assert.equal((await accepting.accept([eventOf("acme")], trial())).outcome, "away");
    assert.equal(only.tried.length, 3);
    assert.equal(accepting.room({ messages: 3, bytes: 300 }), 0);
  });
});

describe("what came of a message", () => {
  const outcomes: [string, (home: FakeHome) => void][] = [
    ["accepted", () => undefined],
    ["closed", (home) => (home.isAway = () => true)],
    ["moving", (home) => (home.answers = fails(MOVING))],
    ["away", (home) => (home.answers = fails(AWAY))],
    ["failed", (home) => (home.answers = fails(new Error("violates a constraint")))],
  ];
  for (const [place, [worse, makeWorse]] of outcomes.entries()) {
    it(`is ${worse} where the rest of it was no worse, whichever came first`, async () => {
      for (const [other, makeOther] of outcomes.slice(0, place)) {
        for (const tenants of [
          ["acme", "globex"],
          ["globex", "acme"],
        ]) {
          const homes = two();
          const { accepting, trial } = workerOf(...homes);
          makeWorse(homes[0]);
          makeOther(homes[1]);
          const { outcome, home } = await accepting.accept(tenants.map(eventOf), trial());
          assert.deepEqual([outcome, home?.shard], [worse, "eu1"], other);
        }
      }
    });
  }

  it("is told of the first of two shards that are as bad", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    one.answers = fails(AWAY);
    other.answers = fails(AWAY);
    assert.equal((await accepting.accept(["globex", "acme"].map(eventOf), trial())).home, other);
  });

  it("is away where the database ends its sessions", async () => {
    const only = fakeHome(null);
    const { accepting, trial } = workerOf(only);
    only.answers = fails(databaseError("57P01"));
    assert.equal((await accepting.accept([eventOf("acme")], trial())).outcome, "away");
  });

  it("is accepted where nothing is left of it", async () => {
    const { accepting, trial } = workerOf(...two());
    assert.deepEqual(await accepting.accept([], trial()), { outcome: "accepted", home: null });
  });

  it("is told once of a database that takes nothing, with the shard's name, and again after it took something", async () => {
    for (const shard of [null, "eu1"]) {
      const only = fakeHome(shard);
      const { accepting, trial, told } = workerOf(only);
      const accept = () => accepting.accept([eventOf("acme")], trial());
      only.answers = fails(AWAY);
      await accept();
      await accept();
      const line = { level: 40, err: "unavailable", ...(shard === null ? {} : { shard }) };
      assert.deepEqual(told, [line]);
      only.answers = async () => "accepted";
      await accept();
      only.answers = fails(AWAY);
      await accept();
      assert.deepEqual(told, [line, line]);
    }
  });

  it("tells each event that was accepted with its home, and none twice", async () => {
    const [one, other] = two();
    const { accepting, trial } = workerOf(one, other);
    const events = ["acme", "globex"].map(eventOf);
    const done: unknown[] = [];
    const taken: Trial = {
      ...trial(),
      done: (home, event, how) => void done.push([home.shard, event.tenantId, how]),
    };
    other.answers = async () => "key_reused";
    await accepting.accept(events, taken);
    await accepting.accept(events, taken);
    assert.deepEqual(done, [
      ["eu1", "acme", "accepted"],
      ["eu2", "globex", "key_reused"],
    ]);
  });
});
