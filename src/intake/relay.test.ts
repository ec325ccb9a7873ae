import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { checkEvents } from "../events/checked-events.ts";
import { openCatalog } from "../events/live-catalog.ts";
import type { Taken } from "../events/taken-events.ts";
import type { NewEvent } from "../queue/queue.ts";
import { sleep } from "../shared/clock.ts";
import { parseTenantId } from "../shared/id.ts";
import { makeLog } from "../telemetry/log.ts";
import { makeMetrics } from "../telemetry/metrics.ts";
import { writeAccepted } from "./accepted-message.ts";
import { onlyHome } from "./homes.ts";
import { makeStreamRelay } from "./relay.ts";
import { ACCEPTED_SUBJECT, type StreamMessage } from "./stream.ts";

const catalog = await openCatalog(undefined);

type Accepting = (event: NewEvent, how: "grouped" | "alone") => Promise<Taken>;

/** A worker's relay on a clock of its own, with what it asks of the stream and says of each message. */
function relayOver(accept: Accepting) {
  const clock = new VirtualClock();
  const metrics = makeMetrics();
  const waiting: StreamMessage[] = [];
  const asked: number[] = [];
  const said: string[] = [];
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
    log: makeLog("silent"),
    metrics,
  });
  return {
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
    async shown(metric: "intakeRefused" | "intakePutBack" | "eventsAccepted") {
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
