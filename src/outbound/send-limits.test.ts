/** The limits that a sender was given: what comes up to one, and what is over. */
import { equal, rejects } from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { brief, senderFor } from "../../test/support/sender.ts";
import { startRawReceiver } from "../../test/support/tls-receiver.ts";
import type { SenderLimits, SendOutcome } from "./send.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const EMPTY = `${OK}Content-Length: 0\r\n\r\n`;

const hints = (count: number): string => "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(count);
const hintOf = (bytes: number): string => `HTTP/1.1 103 Early Hints\r\nLink: ${"l".repeat(bytes)}\r\n\r\n`;
const headerOf = (bytes: number): string => `${OK}Content-Length: 0\r\nX-Long: ${"h".repeat(bytes)}\r\n\r\n`;
const withBody = (announced: number, sent: number): string =>
  `${OK}Content-Length: ${announced}\r\n\r\n${"b".repeat(sent)}`;

/** What becomes of a request whose receiver says this, and then nothing more. */
async function answeredBy(
  test: TestContext,
  answer: string,
  limits: Partial<SenderLimits>,
): Promise<SendOutcome> {
  const receiver = await startRawReceiver((socket) => socket.once("data", () => socket.write(answer)));
  test.after(() => receiver.close());
  const sender = senderFor(test, receiver.caPem, { limits: { attemptTimeoutMs: 10_000, ...limits } });
  return sender.send({ url: receiver.url, headers: {}, body: "{}", keepsWholeBody: true });
}

const bodyOf = (outcome: SendOutcome): number => (outcome.kind === "answered" ? outcome.body.length : NaN);

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe("a sender's limit", () => {
  it("of 1xx answers lets as many pass, and no more", async (test) => {
    const limits = { maxInformationalAnswers: 2 };
    equal(brief(await answeredBy(test, hints(2) + EMPTY, limits)), "200");
    equal(brief(await answeredBy(test, hints(3) + EMPTY, limits)), "invalid_response");
  });

  it("of headers is that of an answer's headers together", async (test) => {
    const limits = { maxHeaderBytes: 1000 };
    equal(brief(await answeredBy(test, headerOf(900), limits)), "200");
    equal(brief(await answeredBy(test, headerOf(1000), limits)), "response_too_large");
  });

  it("of a body ends the attempt with the byte that is over it", async (test) => {
    const limits = { maxBodyBytes: 1000 };
    equal(bodyOf(await answeredBy(test, withBody(1000, 1000), limits)), 1000);
    equal(bodyOf(await answeredBy(test, withBody(100_000, 1001), limits)), 1000);
  });

  it("of an answer's bytes counts those of 1xx answers too", async (test) => {
    const limits = { maxAnswerBytes: 1000 };
    equal(brief(await answeredBy(test, hintOf(500) + EMPTY, limits)), "200");
    equal(brief(await answeredBy(test, hintOf(1500), limits)), "invalid_response");
  });

  it(
    "of time does not take an answer for late that came while this process stood still",
    { timeout: 20_000 },
    async (test) => {
      const attemptTimeoutMs = 2000;
      const receiver = await startRawReceiver((socket) =>
        // Whoever is suspended in between reads it only when its time is over.
        socket.once("data", () => socket.write(EMPTY, () => standStill(attemptTimeoutMs))),
      );
      test.after(() => receiver.close());
      const sender = senderFor(test, receiver.caPem, { limits: { attemptTimeoutMs } });
      equal(brief(await sender.send({ url: receiver.url, headers: {}, body: "{}" })), "200");
    },
  );

  it("of a connection's age ends it behind the answer, and one that is younger is used again", async (test) => {
    const closed: Promise<unknown>[] = [];
    const receiver = await startRawReceiver((socket) => {
      socket.on("data", () => socket.write(EMPTY));
      closed.push(once(socket, "close"));
    });
    test.after(() => receiver.close());
    const idle = { keepAliveTimeoutMs: 600_000, keepAliveMaxTimeoutMs: 600_000 };
    for (const [maxConnectionAgeMs, opened] of [
      [600_000, 1],
      [-1, 3],
    ] as const) {
      const sender = senderFor(test, receiver.caPem, { limits: { ...idle, maxConnectionAgeMs } });
      for (let n = 0; n < 2; n++)
        equal(brief(await sender.send({ url: receiver.url, headers: {}, body: "{}" })), "200");
      equal(receiver.connectionCount(), opened);
    }
    await Promise.all(closed.slice(1));
  });

  it(
    "of connections has room again after a request that HTTP cannot carry",
    { timeout: 20_000 },
    async (test) => {
      const receiver = await startRawReceiver((socket) => socket.on("data", () => socket.write(EMPTY)));
      test.after(() => receiver.close());
      const sender = senderFor(test, receiver.caPem, { limits: { maxConnectionsPerOrigin: 1 } });
      const send = (headers: Record<string, string>) =>
        sender.send({ url: receiver.url, headers, body: "{}" });
      await rejects(send({ "x-a": "a\nb" }));
      equal(brief(await send({ "x-a": "a" })), "200");
    },
  );

  it(
    "of idle time is that of a connection of which the receiver says nothing",
    { timeout: 20_000 },
    async (test) => {
      const ended = Promise.withResolvers<void>();
      const receiver = await startRawReceiver((socket) => {
        socket.on("data", () => socket.write(EMPTY));
        socket.on("end", () => ended.resolve());
      });
      test.after(() => receiver.close());
      const limits = { keepAliveTimeoutMs: 50, keepAliveMaxTimeoutMs: 600_000 };
      const sender = senderFor(test, receiver.caPem, { limits });
      equal(brief(await sender.send({ url: receiver.url, headers: {}, body: "{}" })), "200");
      await ended.promise;
    },
  );
});
