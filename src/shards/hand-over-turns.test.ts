/** Which events are handed over when, and what of each; the rows and the shards are the test's. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { eventually } from "../../test/support/eventually.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/postgres.ts";
import { EVENT_TYPE, tenant } from "../../test/support/two-tenants.ts";
import type { Taken } from "../events/taken-events.ts";
import type { HandedOver, NewEvent } from "../queue/queue.ts";
import { newEventId, type TenantId } from "../shared/id.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { Directory } from "./directory.ts";
import { makeHandOver } from "./hand-over.ts";

const acme = tenant("acme");
const MIB = 1024 * 1024;

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

/** Rows that lie in eu1, by where they go; each look of a worker takes one of the lists of destinations. */
class Hand {
  destinations: (string | null)[][] = [];
  /** What each look finds, at its first claim. */
  readonly events = new Map<string | null, HandedOver[]>();
  readonly #given = new Set<string | null>();
  /** Claims that found nothing are none. */
  readonly steps: unknown[] = [];
  readonly tried: NewEvent[] = [];
  readonly metrics = makeMetrics();
  readonly kept = makeKeptLog();
  away: string[] = [];
  accept: (event: NewEvent) => Promise<Taken> = async () => "accepted";
  readonly directory: Directory;
  readonly handOver: ReturnType<typeof makeHandOver>;

  constructor(shards: readonly string[] = ["eu1", "eu2"]) {
    const db = database.pool;
    const pulse = { isAway: () => false, guard: <T>(work: () => Promise<T>) => work() };
    const reached = shards.map((name) => [name, { db, pulse }] as const);
    this.directory = new Directory({
      first: "eu1",
      shards: new Map(reached),
      // Of what is placed here the name says where.
      choose: (tenantId) => tenantId.split("-")[1] ?? "eu2",
      log: this.kept.log,
    });
    const target = (name: string) => ({
      taken: {
        accept: (event: NewEvent, how: string) => {
          assert.equal(how, "grouped");
          this.tried.push(event);
          return this.accept(event);
        },
      },
      metrics: this.metrics,
      pulse: { ...pulse, isAway: () => this.away.includes(name) },
    });
    this.handOver = makeHandOver({
      from: { name: "eu1", db },
      rows: {
        destinations: async () => this.destinations.shift() ?? [],
        claim: async (_, shard, limits) => {
          const found = this.claim(shard);
          if (found.length > 0) this.steps.push(["claim", shard, limits]);
          return found;
        },
        remove: async (_, ids) => void this.steps.push(["remove", [...ids]]),
        redirect: async (_, rows, delayMs) => {
          if (rows.length > 0) this.steps.push(["redirect", rows, delayMs]);
        },
      },
      directory: this.directory,
      shards: new Map(shards.map((name) => [name, target(name)])),
      log: this.kept.log,
    });
  }

  /** The first claim of a look finds what is there, the next nothing. */
  claim = (shard: string | null): HandedOver[] => {
    const found = this.#given.delete(shard) ? [] : (this.events.get(shard) ?? []);
    if (found.length > 0) this.#given.add(shard);
    return found;
  };

  /** One look, and what follows from it. */
  async look(...destinations: (string | null)[]): Promise<void> {
    this.destinations = [destinations];
    this.handOver.start();
    await this.handOver.stop();
  }
}

function waiting(tenantId: TenantId, given: Partial<HandedOver> = {}): HandedOver {
  const event = { type: EVENT_TYPE, version: 1, body: "{}", others: null, idempotencyKey: null };
  return { id: newEventId(), tenantId, ...event, traceparent: null, claimed: false, ...given };
}

const LIMITS = { events: 200, bodyBytes: 8 * MIB, leaseMs: 15_000 };

let hand: Hand;
beforeEach(async () => {
  for (const table of ["shard_directory", "shard_tenants"])
    await database.pool.query(`DELETE FROM postern.${table}`);
  hand = new Hand();
});

describe("events for another shard", () => {
  it("are handed over as what they are, and deleted", async () => {
    const plain = waiting(acme);
    const others = { "1": '{"old":true}' };
    const full = waiting(acme, {
      version: 2,
      others,
      idempotencyKey: "k",
      claimed: true,
      traceparent: "00-t",
    });
    hand.events.set("eu2", [plain, full]);
    await hand.look("eu2");
    assert.deepEqual(hand.steps, [
      ["claim", "eu2", LIMITS],
      ["remove", [plain.id, full.id]],
    ]);
    const { traceparent: _, claimed: _c, ...bare } = plain;
    const { claimed: _claimed, ...whole } = full;
    const patterns = ["*", "invoice.*", "invoice.paid", "invoice.paid@1"];
    assert.deepEqual(hand.tried, [
      { ...bare, patterns },
      { ...whole, patterns: [...patterns.slice(0, 3), "invoice.paid@2", "invoice.paid@1"] },
    ]);
    assert.equal((await hand.metrics.eventsAccepted.get()).values[0]?.value, 2);
    assert.deepEqual(hand.kept.lines, []);
  });

  it("need no key at home that they claimed there, and only there", async () => {
    const home = tenant("home-eu1");
    const claimed = waiting(home, { idempotencyKey: "mine", claimed: true });
    const unclaimed = waiting(home, { idempotencyKey: "other" });
    hand.events.set("eu1", [claimed, unclaimed]);
    await hand.look("eu1");
    assert.deepEqual(
      hand.tried.map(({ idempotencyKey }) => idempotencyKey),
      [null, "other"],
    );
  });

  it("whose key was used for other content are deleted as well, which is told and counted", async () => {
    const event = waiting(acme, { idempotencyKey: "k" });
    hand.events.set("eu2", [event]);
    hand.accept = async () => "key_reused";
    await hand.look("eu2");
    assert.deepEqual(hand.steps.slice(1), [["remove", [event.id]]]);
    const line = { level: 50, tenantId: acme, eventId: event.id, eventType: EVENT_TYPE };
    assert.deepEqual(hand.kept.lines, [line]);
    const [rejected] = (await hand.metrics.eventsRejected.get()).values;
    assert.deepEqual([rejected?.labels, rejected?.value], [{ reason: "idempotency_key_reused" }, 1]);
    assert.equal((await hand.metrics.eventsAccepted.get()).values[0]?.value, 0);
  });

  it("whose tenant lives elsewhere by now are directed anew at once, without a try", async () => {
    const event = waiting(tenant("moved-eu1"));
    hand.events.set("eu2", [event]);
    await hand.look("eu2");
    assert.deepEqual(hand.steps.slice(1), [
      ["remove", []],
      ["redirect", [{ id: event.id, shard: null }], 0],
    ]);
    assert.deepEqual(hand.tried, []);
  });

  it("that fail wait, which is told with where they lie", async () => {
    const event = waiting(acme);
    hand.events.set("eu2", [event]);
    hand.accept = async () => {
      throw new Error("no luck");
    };
    await hand.look("eu2");
    assert.deepEqual(hand.steps.slice(1), [
      ["remove", []],
      ["redirect", [{ id: event.id, shard: "eu2" }], 2000],
    ]);
    assert.deepEqual(hand.kept.lines, [{ level: 40, from: "eu1", err: "no luck", times: 1 }]);
  });

  it("are left where they are while their shard is away, or is none that this process has", async () => {
    hand.away = ["eu2"];
    await hand.look("eu2", "eu9");
    assert.deepEqual(hand.steps, []);
    assert.deepEqual(hand.kept.lines, []);
  });
});

describe("events whose shard is not known yet", () => {
  it("are directed to their tenants' shards, and wait where the directory does not say", async () => {
    const [one, other] = [waiting(tenant("a-eu1")), waiting(tenant("b-eu2"))];
    hand.events.set(null, [one, other]);
    await hand.look(null);
    assert.deepEqual(hand.steps, [
      ["claim", null, LIMITS],
      [
        "redirect",
        [
          { id: one.id, shard: "eu1" },
          { id: other.id, shard: "eu2" },
        ],
        0,
      ],
    ]);
    const silent = new Hand([]);
    silent.events.set(null, [one]);
    await silent.look(null);
    assert.deepEqual(silent.steps.slice(1), [["redirect", [{ id: one.id, shard: null }], 2000]]);
  });

  it("are asked for where there are some alone", async () => {
    hand.events.set(null, [waiting(acme)]);
    hand.events.set("eu2", [waiting(acme)]);
    await hand.look("eu2");
    assert.deepEqual(hand.steps[0], ["claim", "eu2", LIMITS]);
  });
});

/** One look, which is not stopped before these takes were asked for. */
async function lookFor(shard: string | null, takes: HandedOver[][]): Promise<void> {
  hand.claim = () => takes.shift() ?? [];
  if (hand.destinations.length === 0) hand.destinations = [[shard]];
  hand.handOver.start();
  await eventually(async () => takes.length === 0);
  await hand.handOver.stop();
}

describe("more than a take brings", () => {
  it("is handed over within one look, until a take brings none", async () => {
    await lookFor("eu2", [[waiting(acme)], [waiting(acme), waiting(acme)], []]);
    assert.equal(hand.tried.length, 3);
  });

  it("is directed within one look", async () => {
    await lookFor(null, [[waiting(tenant("a-eu1"))], [waiting(tenant("b-eu2"))], []]);
    assert.equal(hand.steps.filter((step) => Array.isArray(step) && step[0] === "redirect").length, 2);
  });

  it("waits for the next look behind events that a shard refuses", async () => {
    const takes = [[waiting(acme)], [waiting(acme)]];
    hand.accept = async () => {
      throw Object.assign(new Error("is not here"), { code: "PS001" });
    };
    hand.destinations = [["eu2"], [], ["eu2"]];
    await lookFor("eu2", takes);
    assert.equal(hand.tried.length, 2);
    assert.deepEqual(hand.destinations, []);
  });

  it("is left at a stop", async () => {
    const takes = [[waiting(acme)], [waiting(acme)]];
    hand.claim = () => takes.shift() ?? [];
    const accepting = Promise.withResolvers<Taken>();
    const begun = Promise.withResolvers<void>();
    hand.accept = () => {
      begun.resolve();
      return accepting.promise;
    };
    hand.destinations = [["eu2"]];
    hand.handOver.start();
    await begun.promise;
    const stopped = hand.handOver.stop();
    accepting.resolve("accepted");
    await stopped;
    assert.equal(takes.length, 1);
  });
});

describe("a shard that is slow", () => {
  it("keeps no other waiting, is given nothing more meanwhile, and is waited for at a stop", async () => {
    const [slow, quick] = [waiting(acme), waiting(tenant("quick-eu1"))];
    hand.events.set("eu2", [slow]);
    hand.events.set("eu1", [quick]);
    const ends = Promise.withResolvers<Taken>();
    const again = Promise.withResolvers<void>();
    let quickTries = 0;
    hand.accept = async ({ id }) => {
      if (id === slow.id) return ends.promise;
      if (++quickTries === 2) {
        hand.destinations = [];
        again.resolve();
      }
      return "accepted";
    };
    // At a look that comes too soon the quick one is under way still.
    hand.destinations = Array.from({ length: 1000 }, () => ["eu2", "eu1"]);
    hand.handOver.start();
    await again.promise;
    const claims = hand.steps.filter(
      (step) => Array.isArray(step) && step[0] === "claim" && step[1] === "eu2",
    );
    assert.equal(claims.length, 1);
    let isStopped = false;
    const stopped = (async () => {
      await hand.handOver.stop();
      isStopped = true;
    })();
    await new Promise(setImmediate);
    await database.pool.query("SELECT 1");
    assert.equal(isStopped, false);
    ends.resolve("accepted");
    await stopped;
    assert.deepEqual(hand.steps.at(-1), ["remove", [slow.id]]);
  });

  it("is given more beside an event that waits for its key, which is waited for at a stop", async () => {
    const held = waiting(acme, { idempotencyKey: "k" });
    const [free, next] = [waiting(tenant("globex-eu2")), waiting(tenant("b-eu2"))];
    const takes = [[held], [free, next], []];
    hand.claim = () => takes.shift() ?? [];
    const ends = Promise.withResolvers<Taken>();
    const following = Promise.withResolvers<void>();
    hand.accept = async ({ id }) => {
      if (id === held.id) return ends.promise;
      if (id === next.id) following.resolve();
      return "accepted";
    };
    hand.destinations = [["eu2"]];
    hand.handOver.start();
    await following.promise;
    await eventually(async () => takes.length === 0);
    const stopped = hand.handOver.stop();
    ends.resolve("accepted");
    await stopped;
    const removed = hand.steps.flatMap((step) =>
      Array.isArray(step) && step[0] === "remove" ? [step[1]] : [],
    );
    assert.deepEqual(
      removed.filter((ids) => ids.length > 0),
      [[free.id, next.id], [held.id]],
    );
  });

  it("is given more when it is done", async () => {
    hand.events.set("eu2", [waiting(acme)]);
    const twice = Promise.withResolvers<void>();
    let tries = 0;
    hand.accept = async () => {
      if (++tries === 2) {
        hand.destinations = [];
        twice.resolve();
      }
      return "accepted";
    };
    hand.destinations = Array.from({ length: 1000 }, () => ["eu2"]);
    hand.handOver.start();
    await twice.promise;
    await hand.handOver.stop();
  });
});
