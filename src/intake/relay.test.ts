import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { checkEvents } from "../events/checked-events.ts";
import { openCatalog } from "../events/live-catalog.ts";
import type { Taken } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import { sleep } from "../shared/clock.ts";
import { parseTenantId } from "../shared/id.ts";
import { Refusal } from "../shared/refusal.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { writeAccepted } from "./accepted-message.ts";
import { GRACE_LOOKS, GRACE_MS } from "./course.ts";
import { onlyHome, type Home } from "./homes.ts";
import { makeStreamRelay, type RelayServices } from "./relay.ts";
import { ACCEPTED_SUBJECT, type StreamMessage } from "./stream.ts";

const catalog = await openCatalog(undefined);

type Accepting = (event: NewEvent, how: "grouped" | "alone") => Promise<Taken>;

/** A worker's relay on a clock of its own, with what it asks of the stream and says of each message. */
function relayOver(accept: Accepting, given: Partial<RelayServices> = {}) {
  const clock = new VirtualClock();
  const metrics = makeMetrics();
  const waiting: StreamMessage[] = [];
  const asked: number[] = [];
  const said: string[] = [];
  const kept = makeKeptLog();
  const relay = makeStreamRelay({
    stream: {
      async *take(most, signal) {
        asked.push(most);
        yield* waiting.splice(0, most);
        await sleep(clock, 1000, signal);
      },
    },
    homes: onlyHome({ accept }, metrics),
    catalog,
    tracing: null,
    clock,
    log: kept.log,
    metrics,
    ...given,
  });
  return {
    told: kept.lines,
    clock,
    metrics,
    asked,
    said,
    relay,
    put(given: Partial<StreamMessage> = {}) {
      const name = `${waiting.length + 1}`;
      waiting.push({
        subject: "postern.events.acme",
        sequence: waiting.length + 1,
        storedAtMs: Date.now(),
        deliveries: 1,
        traceparent: undefined,
        bytes: Buffer.from(JSON.stringify({ type: "invoice.paid", data: {} })),
        end: () => said.push(`end ${name}`),
        putBack: (afterMs) => said.push(`put back ${name} for ${afterMs}`),
        hold: () => said.push(`hold ${name}`),
        ...given,
      });
    },
    shown: async (metric: "intakeRefused" | "intakePutBack" | "eventsAccepted") => {
      const { values } = await metrics[metric].get();
      return values.map(({ labels, value }) => Object.assign({ value }, labels));
    },
  };
}

describe("relaying from the stream", () => {
  it("ends what is accepted, and counts each event that was not known before", async () => {
    const answers: Taken[] = ["accepted", "known", "repeated", "accepted"];
    const worker = relayOver(async () => answers.shift() ?? "known");
    for (let n = 0; n < 4; n++) worker.put();
    worker.relay.start();
    await worker.clock.runUntil(100);
    await worker.relay.stop();
    assert.deepEqual(worker.said, ["end 1", "end 2", "end 3", "end 4"]);
    assert.deepEqual(await worker.shown("eventsAccepted"), [{ value: 2 }]);
  });

  it("tries an event that fails alone from then on, and puts it back after five tries", async () => {
    const tried: string[] = [];
    const worker = relayOver((_event, how) => {
      tried.push(how);
      return Promise.reject(new Error("violates a constraint"));
    });
    worker.put();
    worker.relay.start();
    await worker.clock.runUntil(10_000);
    await worker.relay.stop();
    assert.deepEqual(tried, ["grouped", "alone", "alone", "alone", "alone"]);
    assert.deepEqual(worker.said, ["put back 1 for 5000"]);
    assert.deepEqual(await worker.shown("intakePutBack"), [{ reason: "failed", value: 1 }]);
  });

  it("puts an event of an unknown type back, and counts it by that reason", async () => {
    const worker = relayOver(async () => "accepted");
    worker.put({ bytes: Buffer.from(JSON.stringify({ type: "nobody.knows", data: {} })) });
    worker.relay.start();
    await worker.clock.runUntil(100);
    await worker.relay.stop();
    assert.deepEqual(worker.said, ["put back 1 for 10000"]);
    assert.deepEqual(await worker.shown("intakePutBack"), [{ reason: "unknown_event_type", value: 1 }]);
  });

  it("counts the refusal of a reused key once, however often its message comes", async () => {
    const worker = relayOver(async () => "key_reused");
    const events = checkEvents(
      [{ type: "invoice.paid", data: {} }],
      parseTenantId("acme"),
      catalog.current(),
    );
    const stored = { subject: ACCEPTED_SUBJECT, bytes: writeAccepted(events) };
    worker.put(stored);
    worker.put(stored);
    worker.relay.start();
    await worker.clock.runUntil(100);
    await worker.relay.stop();
    assert.deepEqual(worker.said, ["end 1", "end 2"]);
    assert.deepEqual(await worker.shown("intakeRefused"), [{ reason: "idempotency_key_reused", value: 1 }]);
  });

  it("says of what it still tries, three times until another would get it, that it is its own", async () => {
    const trying = Promise.withResolvers<Taken>();
    const worker = relayOver(() => trying.promise);
    worker.put();
    worker.relay.start();
    await worker.clock.runUntil(15_000);
    assert.deepEqual(worker.said, ["hold 1", "hold 1", "hold 1"]);
    trying.resolve("accepted");
    await worker.clock.runUntil(20_000);
    assert.deepEqual(worker.said.slice(3), ["end 1"]);
    await worker.relay.stop();
  });

  it("puts back at once, at a stop, what it would try again", async () => {
    const worker = relayOver(() => Promise.reject(new Error("violates a constraint")));
    worker.put();
    worker.relay.start();
    await worker.clock.runUntil(50);
    await worker.relay.stop();
    assert.deepEqual(worker.said.at(-1), "put back 1 for 0");
  });

  it("takes one message at a time while the database is away, and goes on when it is back", async () => {
    let isAway = true;
    const worker = relayOver(async () => {
      if (isAway) throw new Refusal("unavailable", { retryAfterS: 1 });
      return "accepted";
    });
    for (let n = 0; n < 3; n++) worker.put();
    worker.relay.start();
    await worker.clock.runUntil(30_000);
    worker.put();
    await worker.clock.runUntil(60_000);
    isAway = false;
    worker.put();
    worker.put();
    await worker.clock.runUntil(90_000);
    await worker.relay.stop();
    assert.deepEqual(
      worker.said.slice(0, 3).toSorted(),
      [1, 2, 3].map((n) => `put back ${n} for 2000`),
    );
    // The names of later ones are their places among those that waited.
    assert.deepEqual(worker.said.slice(3), ["put back 1 for 2000", "end 1", "end 2"]);
    assert.equal(worker.asked[1], 1);
  });

  it("takes no more while it holds 8 MiB, and as much as before when those have ended", async () => {
    const held = Promise.withResolvers<Taken>();
    const worker = relayOver(() => held.promise);
    const event = { id: crypto.randomUUID(), type: "invoice.paid", data: {} };
    const bytes = Buffer.from(JSON.stringify(event).padEnd(1024 * 1024));
    for (let n = 0; n < 8; n++) worker.put({ bytes });
    worker.relay.start();
    await worker.clock.runUntil(10_000);
    assert.deepEqual(worker.asked, [32]);
    held.resolve("accepted");
    await worker.clock.runUntil(10_100);
    assert.deepEqual(worker.asked, [32, 32]);
    await worker.relay.stop();
  });
});

/** One message, for so long. */
async function relayOne(
  given: Partial<StreamMessage>,
  accept: Accepting = async () => "accepted",
  services: Partial<RelayServices> = {},
) {
  const worker = relayOver(accept, services);
  worker.put(given);
  worker.relay.start();
  await worker.clock.runUntil(10_000);
  await worker.relay.stop();
  return worker;
}

describe("what a relay tells", () => {
  const of1 = { subject: "postern.events.acme", sequence: 1 };

  const unknown = { bytes: Buffer.from(JSON.stringify({ type: "nobody.knows", data: {} })) };

  it("is a message that fails, each time that it is put back", async () => {
    const { told } = await relayOne({}, () => Promise.reject(new Error("violates a constraint")));
    const line = { level: 50, err: "violates a constraint", reason: "failed", deliveries: 1, afterMs: 5000 };
    assert.deepEqual(told, [{ ...line, ...of1 }]);
  });

  it("is a message that waits for its type, the first time", async () => {
    const { told } = await relayOne(unknown);
    const [{ issues, ...line } = {}, ...others] = told;
    const reason = "unknown_event_type";
    assert.deepEqual(line, { level: 40, reason, ...of1, deliveries: 1, afterMs: 10_000 });
    assert.ok(Array.isArray(issues) && issues.length === 1);
    assert.deepEqual(others, []);
    assert.deepEqual((await relayOne({ ...unknown, deliveries: 2 })).told, []);
  });

  it("is a message that is refused, and ends: its type stayed unknown, or it holds no events", async () => {
    for (const [given, reason] of [
      [{ ...unknown, deliveries: GRACE_LOOKS + 1, storedAtMs: Date.now() - GRACE_MS }, "unknown_event_type"],
      [{ bytes: Buffer.from('{"data":{}}') }, "malformed"],
    ] as const) {
      const { told, said, shown } = await relayOne(given);
      const [{ issues, ...line } = {}, ...others] = told;
      assert.deepEqual(line, { level: 50, reason, ...of1, bytes: given.bytes.length });
      assert.ok(Array.isArray(issues) && issues.length === 1);
      assert.deepEqual([others, said], [[], ["end 1"]]);
      assert.deepEqual(await shown("intakeRefused"), [{ reason, value: 1 }]);
      assert.deepEqual(await shown("intakePutBack"), []);
    }
  });

  it("is an event whose key was used for other content, with its shard where there are several", async () => {
    for (const shard of [null, "eu1"]) {
      const metrics = makeMetrics();
      const home: Home = { shard, metrics, isAway: () => false, accept: async () => "key_reused" };
      const homes = { all: [home], keeper: home, peek: () => home, find: async () => home };
      const { told, shown } = await relayOne({}, undefined, { homes });
      const [{ eventId, ...line } = {}] = told;
      const named = shard === null ? {} : { shard };
      const reason = "idempotency_key_reused";
      const eventIs = { eventType: "invoice.paid", tenantId: "acme" };
      const bytes = 33;
      assert.deepEqual(line, { level: 50, reason, ...of1, bytes, ...eventIs, ...named, issues: [] });
      assert.equal(typeof eventId, "string");
      assert.deepEqual(await shown("intakeRefused"), [{ reason, ...named, value: 1 }]);
    }
  });

  it("is nothing of what waits for a shard, which is counted as away, under its name", async () => {
    const metrics = makeMetrics();
    const [one, other] = ["eu1", "eu2"].map((shard): Home => ({
      shard,
      metrics,
      isAway: () => shard === "eu1",
      accept: async () => "accepted",
    }));
    assert.ok(one !== undefined && other !== undefined);
    const homes = { all: [one, other], keeper: other, peek: () => one, find: async () => one };
    const { told, shown, said } = await relayOne({}, undefined, { homes });
    assert.deepEqual(told, []);
    assert.deepEqual(await shown("intakePutBack"), [{ reason: "away", shard: "eu1", value: 1 }]);
    assert.match(said.join(), /^put back 1 for [5-9][0-9]{2}$/);
  });

  it("is why a stream hands out nothing, once until it does again, and asks it each second", async () => {
    const clock = new VirtualClock();
    const asked: number[] = [];
    let trouble: string | null = "no leader";
    const stream: RelayServices["stream"] = {
      async *take(_most, signal) {
        asked.push(clock.nowMs());
        if (trouble !== null) throw new Error(trouble);
        yield* [];
        await sleep(clock, 1000, signal);
      },
    };
    const { relay, told } = relayOver(async () => "accepted", { stream, clock });
    relay.start();
    await clock.runUntil(2500);
    const line = { level: 40, err: "no leader" };
    assert.deepEqual([asked, told], [[0, 1000, 2000], [line]]);
    trouble = null;
    await clock.runUntil(3500);
    trouble = "no leader";
    await clock.runUntil(5500);
    trouble = "not a pull consumer";
    await clock.runUntil(7500);
    await relay.stop();
    assert.deepEqual(told, [line, line, { level: 40, err: "not a pull consumer" }]);
  });

  it("is a stop that leaves messages behind after ten seconds", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    const worker = relayOver(() => Promise.withResolvers<Taken>().promise);
    worker.put();
    worker.relay.start();
    await worker.clock.runUntil(100);
    let isStopped = false;
    const stopped = (async () => {
      await worker.relay.stop();
      isStopped = true;
    })();
    test.mock.timers.tick(9_999);
    await new Promise(setImmediate);
    assert.deepEqual([isStopped, worker.told], [false, []]);
    test.mock.timers.tick(1);
    await stopped;
    assert.deepEqual(worker.told, [{ level: 40, err: "its tries did not end" }]);
  });

  it("is a trace of each event that it accepts of a producer, and none of what the API told of", async () => {
    const traced: object[] = [];
    const tracing = {
      continues: (header: unknown) =>
        header === "good" ? `00-${"a".repeat(32)}-${"b".repeat(16)}-01` : undefined,
      accepted: (event: object) => void traced.push(event),
      attempt: () => assert.fail(),
      close: async () => undefined,
    };
    const traceparent = tracing.continues("good");
    for (const [given, taken] of [
      [{ traceparent: "good" }, "accepted"],
      [{ traceparent: "bad" }, "accepted"],
      [{ traceparent: "good" }, "known"],
    ] as const) {
      await relayOne(given, async () => taken, { tracing });
    }
    const events = checkEvents(
      [{ type: "invoice.paid", data: {} }],
      parseTenantId("acme"),
      catalog.current(),
    );
    await relayOne({ subject: ACCEPTED_SUBJECT, bytes: writeAccepted(events) }, undefined, { tracing });
    const known = traced.map((event) => Object.assign({}, event, { eventId: "" }));
    const event = { eventId: "", eventType: "invoice.paid", tenantId: "acme" };
    assert.deepEqual(known, [
      { ...event, traceparent },
      { ...event, traceparent: undefined },
    ]);
  });
});
