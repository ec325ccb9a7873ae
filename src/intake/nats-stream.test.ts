/** The intake's stream on a real NATS server: what is made, what it takes, what it hands out, and what it tells. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import { AckPolicy, DiscardPolicy, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { headers, nanos } from "@nats-io/transport-node";
import { store, storeRaw } from "../../test/support/intake.ts";
import { makeKeptLog } from "../../test/support/kept-log.ts";
import { NatsCluster, withoutNats } from "../../test/support/nats-cluster.ts";
import { eventually } from "../../test/support/eventually.ts";
import { parseIntakeUrl } from "./intake-url.ts";
import { openNatsStream } from "./nats-stream.ts";
import {
  ACCEPTED_SUBJECT,
  CONSUMER,
  MessageTooLargeError,
  STREAM,
  StreamUnavailableError,
  type IntakeStream,
  type StreamMessage,
} from "./stream.ts";

const SUBJECT = "postern.events.acme";
const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

describe("the intake's stream", { skip: withoutNats() }, () => {
  let cluster: NatsCluster;
  let stream: IntakeStream;
  let kept: ReturnType<typeof makeKeptLog>;
  let opened: IntakeStream[];
  // A server for each: one still writes and removes files of a stream when that is deleted and made again.
  beforeEach(async () => {
    opened = [];
    cluster = await NatsCluster.start(1);
  });
  afterEach(async () => {
    for (const one of opened) await one.close();
    await cluster.stop();
  });

  function open(makes = true, url = cluster.url): void {
    const place = parseIntakeUrl(url) ?? assert.fail();
    kept = makeKeptLog();
    stream = openNatsStream(place, { name: "postern test", log: kept.log, makes });
    opened.push(stream);
  }
  const isOpen = () => kept.lines.some(({ level }) => level === 30);

  /** One that is made. */
  async function opens(): Promise<void> {
    open();
    await eventually(async () => isOpen());
  }

  /** Until there are so many of the stream's messages, the least of them first. */
  async function takes(count: number): Promise<StreamMessage[]> {
    const taken: StreamMessage[] = [];
    const enough = new AbortController();
    for await (const message of stream.take(count, enough.signal)) {
      taken.push(message);
      if (taken.length === count) enough.abort();
    }
    return taken;
  }
  async function takesOne(): Promise<StreamMessage> {
    const [message] = await takes(1);
    return message ?? assert.fail("nothing was handed out");
  }

  describe("where there was none", () => {
    it("is made so that it drops nothing, with the consumer of all workers", async () => {
      await opens();
      assert.deepEqual(
        kept.lines.map(({ level, stream: name }) => [level, name]),
        [[30, STREAM]],
      );
      await cluster.withManager(async (manager) => {
        const { config } = await manager.streams.info(STREAM);
        const { subjects, retention, storage, discard, num_replicas, duplicate_window, max_age } = config;
        assert.deepEqual(
          [subjects, retention, storage, discard, num_replicas, max_age],
          [
            [ACCEPTED_SUBJECT, "postern.events.>"],
            RetentionPolicy.Workqueue,
            StorageType.File,
            DiscardPolicy.New,
            1,
            0,
          ],
        );
        assert.equal(duplicate_window, nanos(100));
        assert.match(config.description ?? "", /accepted/);
        const { config: consumer } = await manager.consumers.info(STREAM, CONSUMER);
        const { durable_name, ack_policy, ack_wait, max_deliver, max_ack_pending } = consumer;
        assert.deepEqual(
          [durable_name, ack_policy, ack_wait, max_deliver, max_ack_pending],
          [CONSUMER, AckPolicy.Explicit, nanos(15_000), -1, -1],
        );
        assert.match(consumer.description ?? "", /workers/);
      });
    });

    it("is not made by who only looks", async () => {
      open(false);
      await eventually(async () =>
        stream.status().then(
          () => false,
          (error: unknown) =>
            /stream not found/.test(String(error)) && error instanceof StreamUnavailableError,
        ),
      );
      await assert.rejects(stream.store(Buffer.from("{}")), StreamUnavailableError);
      await cluster.withManager((manager) => assert.rejects(manager.streams.info(STREAM)));
      assert.deepEqual(
        kept.lines.map(({ level }) => level),
        [40],
      );
      // The same trouble again is told once.
      await assert.rejects(stream.store(Buffer.from("{}")), StreamUnavailableError);
      assert.equal(kept.lines.length, 1);
    });
  });

  describe("its status", () => {
    it("is that of a server alone, with what is in it and what workers hold", async () => {
      await opens();
      const empty = {
        replicas: 1,
        current: 1,
        leader: "n1",
        messages: 0,
        bytes: 0,
        consumer: "there",
        taken: 0,
        waiting: 0,
        oldestAtMs: null,
        maxMessageBytes: MIB,
        unsafe: [],
        takesNone: null,
      };
      assert.deepEqual(await stream.status(), empty);
      const earliestMs = Date.now() - 1000;
      await stream.store(Buffer.from("{}"));
      await stream.store(Buffer.from("{}"));
      await takesOne();
      const { bytes, oldestAtMs, waiting: _, ...rest } = await stream.status();
      const { bytes: __, oldestAtMs: ___, waiting: ____, ...some } = { ...empty, messages: 2, taken: 1 };
      assert.deepEqual(rest, some);
      assert.ok(
        bytes > 0 && oldestAtMs !== null && oldestAtMs > earliestMs && oldestAtMs <= Date.now() + 1000,
      );
    });

    it("names a consumer that is missing, and each setting that an operator made unsafe", async () => {
      await cluster.withManager((manager) =>
        manager.streams.add({
          name: STREAM,
          subjects: [ACCEPTED_SUBJECT, "postern.events.>"],
          retention: RetentionPolicy.Limits,
          storage: StorageType.Memory,
          discard: DiscardPolicy.Old,
          max_age: nanos(3_600_000),
          max_msgs_per_subject: 7,
        }),
      );
      open(false);
      const unsafe = [
        "retention is limits instead of workqueue",
        "storage is memory instead of file",
        "discard is old instead of new",
        `max_age is ${nanos(3_600_000)} instead of 0`,
        "max_msgs_per_subject is 7 instead of -1",
      ];
      const found = await eventually(() => stream.status().catch(() => null));
      assert.deepEqual([found.consumer, found.taken, found.unsafe], ["missing", null, unsafe]);
      await cluster.withManager((manager) =>
        manager.consumers.add(STREAM, {
          durable_name: CONSUMER,
          ack_policy: AckPolicy.All,
          max_deliver: 3,
          max_ack_pending: 10,
          filter_subject: SUBJECT,
        }),
      );
      const { consumer, taken, unsafe: all } = await stream.status();
      assert.deepEqual([consumer, taken], ["there", 0]);
      assert.deepEqual(all, [
        ...unsafe,
        "the consumer's ack_policy is all instead of explicit",
        "the consumer's max_deliver is 3 instead of -1",
        "the consumer's max_ack_pending is 10 instead of -1",
        `the consumer's filter is ${SUBJECT} instead of none`,
      ]);
    });

    it("is left as an operator made it, and gets its consumer", async () => {
      await cluster.withManager((manager) =>
        manager.streams.add({ name: STREAM, subjects: [ACCEPTED_SUBJECT], max_age: nanos(3_600_000) }),
      );
      await opens();
      const { consumer, unsafe } = await stream.status();
      assert.equal(consumer, "there");
      assert.ok(unsafe.includes(`max_age is ${nanos(3_600_000)} instead of 0`), unsafe.join());
    });
  });

  describe("what it takes", () => {
    it("is there once it is stored", async () => {
      await opens();
      await stream.store(Buffer.from("one"));
      const { subject, bytes, sequence, deliveries } = await takesOne();
      assert.deepEqual(
        [subject, Buffer.from(bytes).toString(), sequence, deliveries],
        [ACCEPTED_SUBJECT, "one", 1, 1],
      );
    });

    it("is no larger than the servers' largest message, or the stream's", async () => {
      await opens();
      await assert.rejects(stream.store(Buffer.alloc(MIB + 1)), MessageTooLargeError);
      await stream.store(Buffer.alloc(MIB));
      await cluster.withManager((manager) => manager.streams.update(STREAM, { max_msg_size: 10 }));
      const refused = await stream.store(Buffer.alloc(11)).catch((error: Error) => error);
      assert.ok(refused instanceof MessageTooLargeError && Object(refused.cause).code === 10_054);
      assert.equal(String(refused), "MessageTooLargeError: message size exceeds maximum allowed");
      assert.equal(kept.lines.length, 1);
      await stream.store(Buffer.alloc(10));
    });

    it("is stored in no other stream of the same subject", async () => {
      await cluster.withManager((manager) =>
        manager.streams.add({ name: "others", subjects: [ACCEPTED_SUBJECT] }),
      );
      open(false);
      const error = await eventually(async () =>
        stream.store(Buffer.from("{}")).catch((found: Error) => /others/.test(found.message) && found),
      );
      assert.ok(error instanceof StreamUnavailableError);
      const message = "postern.accepted goes to the stream others";
      assert.deepEqual(
        [String(error), error.cause],
        [`StreamUnavailableError: ${message}`, new Error(message)],
      );
    });

    it("is told again when it takes nothing after it took something", async () => {
      await opens();
      const full = { max_msgs: 1 };
      await cluster.withManager((manager) => manager.streams.update(STREAM, full));
      await stream.store(Buffer.from("1"));
      for (let n = 0; n < 2; n++)
        await assert.rejects(stream.store(Buffer.from("2")), StreamUnavailableError);
      (await takesOne()).end();
      await eventually(async () => (await stream.status()).messages === 0);
      await stream.store(Buffer.from("3"));
      await assert.rejects(stream.store(Buffer.from("4")), StreamUnavailableError);
      assert.deepEqual(
        kept.lines.map(({ level }) => level),
        [30, 40, 40],
      );
    });
  });

  describe("what it hands out", () => {
    it("is as its producer stored it, with the trace that it continues", async () => {
      await opens();
      const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      const earliestMs = Date.now() - 1000;
      await cluster.withClient(async (client) => {
        for (const value of [traceparent, ""]) {
          const given = headers();
          given.set("traceparent", value);
          await client.publish(SUBJECT, "{}", { headers: given });
        }
      });
      await store(cluster, SUBJECT, { type: "invoice.paid" });
      await storeRaw(cluster, SUBJECT, "NATS/1.0\r\nbroken\r\n\r\n", {});
      const messages = await takes(4);
      assert.deepEqual(
        messages.map((message) => [message.sequence, message.traceparent]),
        [[1, traceparent], ...[2, 3, 4].map((sequence) => [sequence, undefined])],
      );
      const [, , third] = messages;
      assert.equal(third?.subject, SUBJECT);
      assert.equal(Buffer.from(third.bytes).toString(), '{"type":"invoice.paid"}');
      assert.ok(third.storedAtMs > earliestMs && third.storedAtMs < Date.now() + 1000);
    });

    it("leaves it at its end, and comes again when it was put back", async () => {
      await opens();
      for (const text of ["1", "2"]) await stream.store(Buffer.from(text));
      const [first, second] = await takes(2);
      first?.end();
      second?.hold();
      second?.putBack(0);
      const again = await takesOne();
      assert.deepEqual([again.sequence, again.deliveries], [2, 2]);
      again.putBack(3_600_000);
      await stream.store(Buffer.from("3"));
      const [next] = await takes(1);
      assert.deepEqual([next?.sequence, next?.end()], [3, undefined]);
      await eventually(async () => {
        const { messages, taken } = await stream.status();
        return messages === 1 && taken === 1;
      });
    });

    it("is no more than was asked for, and a look leaves nothing at its signal, which is its worker's", async () => {
      await opens();
      for (const text of ["1", "2", "3"]) await stream.store(Buffer.from(text));
      const taken: number[] = [];
      for await (const { sequence } of stream.take(2, NEVER)) taken.push(sequence);
      assert.deepEqual(taken, [1, 2]);
      for await (const _ of stream.take(1, NEVER)) break;
      assert.deepEqual(getEventListeners(NEVER, "abort"), []);
    });

    // Without the signal a look ends after five seconds, so ten take longer than the test may.
    it("is nothing behind the signal, which ends a look at once", { timeout: 30_000 }, async () => {
      await opens();
      for (let look = 0; look < 10; look++) {
        for await (const _ of stream.take(1, AbortSignal.abort())) assert.fail();
      }
      await stream.store(Buffer.from("1"));
      const stopping = new AbortController();
      const taken: number[] = [];
      for await (const { sequence } of stream.take(5, stopping.signal)) {
        taken.push(sequence);
        stopping.abort();
        await stream.store(Buffer.from("2"));
      }
      assert.deepEqual(taken, [1]);
    });

    it("goes on when an operator removed the consumer, or the stream", async () => {
      await opens();
      await stream.store(Buffer.from("1"));
      (await takesOne()).end();
      for (const remove of ["consumer", "stream"]) {
        await cluster.withManager(async (manager) => {
          if (remove === "consumer") await manager.consumers.delete(STREAM, CONSUMER);
          else await manager.streams.delete(STREAM);
        });
        await eventually(async () => {
          try {
            for await (const _ of stream.take(1, AbortSignal.timeout(50))) assert.fail();
          } catch {
            return false;
          }
          return (await stream.status()).consumer === "there";
        });
        await stream.store(Buffer.from("2"));
        (await takesOne()).end();
      }
    });
  });

  describe("a connection", () => {
    it("is closed with the stream, and what is said of a message then is lost without a failure", async () => {
      await opens();
      await stream.store(Buffer.from("1"));
      const message = await takesOne();
      await stream.close();
      message.hold();
      message.end();
      await assert.rejects(stream.store(Buffer.from("2")), /no server of INTAKE_URL is connected/);
      await assert.rejects(stream.status(), StreamUnavailableError);
      await assert.rejects(async () => {
        for await (const _ of stream.take(1, NEVER)) assert.fail();
      }, StreamUnavailableError);
    });

    for (const [kind, login, flags] of [
      ["password", "postern:p%40ss", ["--user", "postern", "--pass", "p@ss"]],
      ["token", "s3%2Fcret", ["--auth", "s3/cret"]],
    ] as const) {
      it(`has the ${kind} of INTAKE_URL`, async () => {
        await cluster.kill("n1");
        cluster.restartWith(flags, "n1");
        open(true, cluster.url.replace("//", `//${login}@`));
        await eventually(async () => isOpen());
      });
    }

    it("is made when a server comes, and its absence is told once", async () => {
      await cluster.kill("n1");
      open();
      await assert.rejects(stream.store(Buffer.from("1")), StreamUnavailableError);
      await eventually(async () => kept.lines.length > 0);
      cluster.restart("n1");
      await eventually(async () => isOpen());
      assert.deepEqual(
        kept.lines.map(({ level }) => level),
        [40, 30],
      );
      await stream.store(Buffer.from("1"));
    });
  });
});
