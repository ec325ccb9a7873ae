import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { makeTestCa } from "../../test/support/certificates.ts";
import { eventually } from "../../test/support/eventually.ts";
import { brief, post, senderFor } from "../../test/support/sender.ts";
import {
  startRawReceiver,
  startReceiver,
  type Answer,
  type ReceiverOptions,
  type TlsReceiver,
} from "../../test/support/tls-receiver.ts";

async function receiverFor(test: TestContext, options: ReceiverOptions = {}): Promise<TlsReceiver> {
  const receiver = await startReceiver(options);
  test.after(() => receiver.close());
  return receiver;
}

/** The body that is recorded of an answer. */
async function recordedBody(test: TestContext, answer: Answer): Promise<string> {
  const receiver = await receiverFor(test, { respond: () => answer });
  const outcome = await post(senderFor(test, receiver.caPem), receiver.url);
  return outcome.kind === "answered" ? outcome.body : brief(outcome);
}

describe("a receiver that answers", () => {
  it("gets the exact bytes, and its status, headers and body are recorded", async (test) => {
    const receiver = await receiverFor(test, {
      respond: () => ({
        status: 202,
        headers: { "X-Answer": "yes", "Set-Cookie": ["a=1", "b=2"] },
        body: "thanks",
      }),
    });
    const sender = senderFor(test, receiver.caPem);
    const outcome = await post(sender, `${receiver.url}/In?q=A%2f1#part`, '{"a":"ä"}');
    equal(outcome.kind, "answered");
    if (outcome.kind !== "answered") return;
    equal(outcome.status, 202);
    equal(outcome.body, "thanks");
    equal(outcome.headers["x-answer"], "yes");
    equal(outcome.headers["set-cookie"], "a=1, b=2");
    ok(Number.isInteger(outcome.latencyMs) && outcome.latencyMs >= 0);
    const [request] = receiver.requests;
    equal(request?.method, "POST");
    equal(request?.path, "/hook/In?q=A%2f1");
    equal(request?.body.toString(), '{"a":"ä"}');
    equal(request?.headers["content-length"], "10");
    equal(request?.serverName, undefined);
  });

  it("is reached by the name localhost, which then is the server name in TLS", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    equal(brief(await post(sender, `https://LOCALHOST.:${receiver.port}/`)), "200");
    equal(receiver.requests[0]?.serverName, "localhost");
    equal(receiver.requests[0]?.headers.host, `localhost:${receiver.port}`);
  });

  for (const status of [200, 204, 301, 302, 303, 307, 308, 304, 400, 410, 429, 500, 503, 599]) {
    it(`has its status ${status} recorded and no redirect followed`, async (test) => {
      const receiver = await receiverFor(test, {
        respond: () => ({ status, headers: { Location: "https://127.0.0.1/elsewhere" } }),
      });
      equal(brief(await post(senderFor(test, receiver.caPem), receiver.url)), String(status));
      equal(receiver.requests.length, 1);
    });
  }

  it("gets an empty body as content-length 0", async (test) => {
    const receiver = await receiverFor(test);
    await post(senderFor(test, receiver.caPem), receiver.url, "");
    equal(receiver.requests[0]?.headers["content-length"], "0");
  });
});

describe("the recorded body", () => {
  it("is empty for an empty answer", async (test) => {
    equal(await recordedBody(test, {}), "");
  });

  it("is the first 1,000 code points, none split", async (test) => {
    equal(await recordedBody(test, { body: `${"a".repeat(999)}😀😀` }), `${"a".repeat(999)}😀`);
    equal(await recordedBody(test, { body: "😀".repeat(5_000) }), "😀".repeat(1_000));
    equal(await recordedBody(test, { body: "b".repeat(1_000) }), "b".repeat(1_000));
  });

  it("has U+FFFD for bytes that are not UTF-8 and for NUL", async (test) => {
    const body = Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x62]);
    equal(await recordedBody(test, { body }), "a\ufffd\ufffd\ufffdb");
  });

  it("is never decompressed", async (test) => {
    const body = gzipSync("x".repeat(2_000));
    const recorded = await recordedBody(test, { headers: { "Content-Encoding": "gzip" }, body });
    equal(recorded, body.toString("utf8").replaceAll("\0", "\ufffd"));
  });
});

describe("the whole body", () => {
  it("is there where it was asked for, up to where reading ends, and costs others nothing", async (test) => {
    const body = Buffer.alloc(70_000, "é");
    const receiver = await receiverFor(test, { respond: () => ({ body }) });
    const sender = senderFor(test, receiver.caPem);
    const request = { url: receiver.url, headers: {}, body: "{}" };
    const asked = await sender.send({ ...request, keepsWholeBody: true });
    ok(asked.kind === "answered" && asked.wholeBody !== undefined);
    equal(asked.body, "é".repeat(1_000));
    deepEqual(asked.wholeBody, body.subarray(0, 65_536));
    const other = await sender.send(request);
    ok(other.kind === "answered" && !("wholeBody" in other));
  });
});

describe("connections", () => {
  it("are used again by requests after one another", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    for (let count = 0; count < 5; count++) equal(brief(await post(sender, receiver.url)), "200");
    equal(receiver.connectionCount(), 1);
    deepEqual(sender.stats(), { openConnections: 1, connectionsOpened: 1, inFlight: 0 });
  });

  it("take no new request when they are two minutes old, so that a receiver can move", async (test) => {
    const now = performance.now.bind(performance);
    let laterMs = 0;
    test.mock.method(performance, "now", () => now() + laterMs);
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    const opened: number[] = [];
    for (laterMs of [0, 119_000, 120_001]) {
      equal(brief(await post(sender, receiver.url)), "200");
      opened.push(sender.stats().connectionsOpened);
    }
    deepEqual(opened, [1, 1, 2]);
  });

  it("count the bytes of each answer alone towards its limit", async (test) => {
    const receiver = await receiverFor(test, { respond: () => ({ body: Buffer.alloc(40_000) }) });
    const sender = senderFor(test, receiver.caPem, { limits: { maxAnswerBytes: 60_000 } });
    for (let count = 0; count < 4; count++) equal(brief(await post(sender, receiver.url)), "200");
    equal(receiver.connectionCount(), 1);
  });

  it("are as many as requests in flight, and no more, over many rounds", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    let left = 200;
    const workers = Array.from({ length: 8 }, async () => {
      while (left-- > 0) equal(brief(await post(sender, receiver.url)), "200");
    });
    await Promise.all(workers);
    equal(receiver.requests.length, 200);
    equal(receiver.connectionCount(), 8);
  });

  it("that more requests at once opened end by themselves, while the last used one goes on", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem, { limits: { keepAliveMaxTimeoutMs: 500 } });
    await Promise.all([1, 2, 3].map(() => post(sender, receiver.url)));
    equal(sender.stats().openConnections, 3);
    await eventually(async () => {
      equal(brief(await post(sender, receiver.url)), "200");
      return sender.stats().openConnections === 1;
    });
  });

  it("that a receiver closed are replaced, and those to another receiver are not touched", async (test) => {
    const ca = await makeTestCa();
    const receiver = await receiverFor(test, { certificate: await ca.issue() });
    const other = await receiverFor(test, { certificate: await ca.issue() });
    const sender = senderFor(test, ca.caPem);
    const postTo = async (...receivers: TlsReceiver[]): Promise<void> => {
      for (const { url } of receivers) equal(brief(await post(sender, url)), "200");
    };
    await postTo(receiver, other, receiver);
    receiver.dropConnections();
    await eventually(async () => sender.stats().openConnections === 1);
    await postTo(other, receiver, other, receiver);
    deepEqual([receiver.connectionCount(), other.connectionCount()], [2, 1]);
    deepEqual(sender.stats(), { openConnections: 2, connectionsOpened: 3, inFlight: 0 });
  });

  it("are bounded for an origin: the rest wait their turn", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem, { limits: { maxConnectionsPerOrigin: 2 } });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => post(sender, receiver.url)));
    deepEqual([...new Set(outcomes.map(brief))], ["200"]);
    equal(receiver.connectionCount(), 2);
  });

  it("are given up where a waiting request runs out of time, without sending it", async (test) => {
    const receiver = await receiverFor(test, {
      respond: (_request, index) => (index === 0 ? {} : undefined),
    });
    const sender = senderFor(test, receiver.caPem, {
      limits: { maxConnectionsPerOrigin: 1, attemptTimeoutMs: 1_000 },
    });
    // Its connection is kept: no handshake takes of the time of the next.
    equal(brief(await post(sender, receiver.url)), "200");
    const outcomes = await Promise.all([post(sender, receiver.url), post(sender, receiver.url)]);
    deepEqual(outcomes.map(brief), ["timeout", "timeout"]);
    equal(receiver.requests.length, 2);
  });

  it("end with close, which waits for what is under way", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    const underWay = post(sender, receiver.url);
    await sender.close();
    equal(brief(await underWay), "200");
    equal(sender.stats().inFlight, 0);
    await rejects(post(sender, receiver.url), /closed/);
  });
});

describe("a sender that closes", () => {
  it("waits for all that is under way, not for the first to end", async (test) => {
    const [arrived, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<Answer>()];
    const receiver = await receiverFor(test, {
      respond(_request, index) {
        arrived.resolve();
        return index === 0 ? slow.promise : {};
      },
    });
    const sender = senderFor(test, receiver.caPem);
    const first = post(sender, receiver.url);
    await arrived.promise;
    const second = post(sender, receiver.url);
    equal(sender.stats().inFlight, 2);
    let closed = false;
    const closing = sender.close().then(() => (closed = true));
    equal(brief(await second), "200");
    await rejects(post(sender, receiver.url), /The sender is closed\./);
    deepEqual([sender.stats().inFlight, closed], [1, false]);
    slow.resolve({ status: 204 });
    equal(brief(await first), "204");
    await closing;
  });

  it("ends its idle connections", async (test) => {
    const ended = Promise.withResolvers<void>();
    const receiver = await startRawReceiver((socket) => {
      socket.on("close", () => ended.resolve());
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    });
    test.after(() => receiver.close());
    const sender = senderFor(test, receiver.caPem, {
      limits: { keepAliveTimeoutMs: 600_000, keepAliveMaxTimeoutMs: 600_000 },
    });
    equal(brief(await post(sender, receiver.url)), "200");
    await sender.close();
    await ended.promise;
  });
});

describe("what is asked before a request is sent", () => {
  it("is awaited, once the target has been found public", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    const steps: string[] = [];
    const onAllowed = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`allowed after ${receiver.requests.length}`);
    };
    const request = { headers: {}, body: "{}", onAllowed };
    equal(brief(await sender.send({ ...request, url: receiver.url })), "200");
    equal(brief(await sender.send({ ...request, url: "https://10.0.0.1/" })), "unsafe:not_public");
    deepEqual(steps, ["allowed after 0"]);
  });

  it("lets nothing be sent where it fails, and leaves nothing in flight", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    const request = { url: receiver.url, headers: {}, body: "" };
    await rejects(
      sender.send({ ...request, onAllowed: () => Promise.reject(new Error("not now")) }),
      /not now/,
    );
    deepEqual([receiver.requests.length, sender.stats().inFlight], [0, 0]);
    await sender.close();
  });
});

describe("a fault of the caller", () => {
  it("rejects, and the sender continues", async (test) => {
    const receiver = await receiverFor(test);
    const sender = senderFor(test, receiver.caPem);
    await rejects(sender.send({ url: receiver.url, headers: { "X-Bad": "a\r\nb" }, body: "" }), /header/);
    equal(brief(await post(sender, receiver.url)), "200");
    equal(receiver.requests.length, 1);
  });
});
